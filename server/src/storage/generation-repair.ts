/**
 * A new generation that a running member writes from its memory, because files of the one in use
 * are damaged.
 *
 * The tree comes record by record, as a leader's snapshot does, and is read back before it counts.
 * The log behind it is copied from the one in use while that grows; what is missing at the end is
 * copied between two outputs of the core, when nothing is appended. Until `Storage.finishRepair`
 * makes the generation the live one, nothing relies on any of it, so it is given up without a loss
 * after any failure, that of a full disk included. Made by Storage.
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

  /** It is whole and about to be live, so it is not abandoned any more. */
  finished(): void {
    this.#isEnded = true;
    this.#isFinished = true;
  }
}
