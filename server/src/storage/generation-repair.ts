/**
 * Writes a new generation from the memory of a running member whose files are damaged.
 *
 * The tree comes record by record, like a leader's snapshot, and is read back before it counts. The
 * log after it is copied from the one in use while that grows; the rest is copied between two
 * outputs of the core, when nothing is appended. Nothing relies on the generation until
 * `Storage.finishRepair` makes it the live one, so any failure, such as a full disk, only ends the
 * repair. Made by Storage.
 */
import type { Zxid } from '@rookery/protocol';
import type { StateLoader, TreeRecord } from './contract.js';
import { RepairOutdatedError, UnreadableHistoryError } from './errors.js';
import type { GenerationSink } from './snapshot-source.js';
import type { TxnLog } from './txn-log.js';

export class GenerationRepair {
  readonly zxid: Zxid;
  readonly sink: GenerationSink;
  /** The log of the new generation. */
  readonly to: TxnLog;
  readonly #from: TxnLog;
  /** How often the log in use had been truncated when the repair began. */
  readonly #truncations: number;
  #isEnded = false;
  #isFinished = false;

  constructor(
    zxid: Zxid,
    parts: { readonly sink: GenerationSink; readonly to: TxnLog; readonly from: TxnLog },
  ) {
    this.zxid = zxid;
    this.sink = parts.sink;
    this.to = parts.to;
    this.#from = parts.from;
    this.#truncations = parts.from.truncations;
  }

  /** Throws RepairOutdatedError once the generation in use is another, or its log was cut. */
  check(live: TxnLog | null = this.#from): void {
    const isCurrent =
      live === this.#from && this.sink.isOpen && this.#from.truncations === this.#truncations;
    if (!isCurrent || this.#isEnded) {
      throw new RepairOutdatedError('the tree or the log was replaced or cut meanwhile');
    }
  }

  /** Durable when resolved. The checkpoint comes first, a trailer last. */
  async write(records: readonly TreeRecord[]): Promise<void> {
    this.check();
    await this.sink.write(records);
  }

  /** Reads the tree back. Throws SnapshotDamagedError where it is not what its digest says. */
  async verify(checker: StateLoader): Promise<void> {
    this.check();
    await this.sink.verify(this.zxid, checker);
  }

  /**
   * Copies what the log in use has by now and returns how many bytes that was. Throws what reading
   * it throws, DamagedError included.
   */
  async catchUp(): Promise<number> {
    this.check();
    const log = this.to;
    const before = log.writtenBytes;
    const through = this.#from.last;
    try {
      for await (const batch of this.#from.read(log.last, through)) {
        this.check();
        await log.append([batch]);
      }
    } catch (error) {
      throw error instanceof UnreadableHistoryError ? error.cause : error;
    }
    return log.writtenBytes - before;
  }

  /** Removes what was written. Does nothing for a generation that is live. */
  async abandon(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    try {
      await this.sink.abandon();
    } finally {
      await this.to.discard();
    }
  }

  /** Whether it is whole, so that only `meta` is left to be written, or has been. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** It is complete and about to be live, so `abandon` does nothing from now on. */
  finished(): void {
    this.#isEnded = true;
    this.#isFinished = true;
  }
}
