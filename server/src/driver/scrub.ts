/**
 * Reads all of a member's disk in the background, again and again, so that damage is found while a
 * quorum can still confirm what was there.
 *
 * Its pace is bounded in bytes per second, which bounds its share of the processor, too: with a
 * million znodes of 100 bytes it takes about 1 %. It rests between two rounds, and while damage is
 * being repaired or the member has no tree of its own. Owned by the driver.
 */
import { formatZxid } from '@rookery/protocol';
import type { Timer } from '../net/timers.js';
import { RecordDigest } from '../state/record-digest.js';
import type { KnownRecord } from '../storage/contract.js';
import { DamagedError, HistoryGoneError } from '../storage/errors.js';
import type { DamageRepair } from './damage-repair.js';
import type { DriverActions, DriverParts } from './parts.js';

/**
 * Small znodes take the most time for each byte: about 0.7 us for one of 150 bytes. At this pace
 * these are 14,000 of them in a second, 1 % of a processor; 1 TB takes less than a week.
 */
export const SCRUB_BYTES_PER_SECOND = 2 << 20;
/** The time between two rounds, and before the first. A small tree is not read without end. */
export const SCRUB_REST_MS = 60_000;

export class Scrub {
  readonly #parts: DriverParts;
  readonly #driver: DriverActions;
  readonly #repair: DamageRepair;
  readonly #known: KnownRecords;
  #isStopped = false;
  #timer: Timer | null = null;
  /** Ends the pause that the current round makes. */
  #wake: (() => void) | null = null;
  #round: Promise<void> = Promise.resolve();

  constructor(parts: DriverParts, driver: DriverActions, repair: DamageRepair) {
    this.#parts = parts;
    this.#driver = driver;
    this.#repair = repair;
    this.#known = new KnownRecords(parts);
  }

  start(): void {
    this.#rest();
  }

  /** Resolves when nothing is being read. Nothing is reported from now on. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#wake?.();
    await this.#round;
  }

  /** Whether there is a sound tree that nothing is repairing. */
  get #mayScrub(): boolean {
    return this.#parts.zab.replica.sound && !this.#repair.isPending;
  }

  #rest(): void {
    if (this.#isStopped) return;
    const { scrubRestMs } = this.#parts.options;
    this.#timer = this.#parts.timers.after(scrubRestMs, () => {
      this.#round = this.#runRound();
    });
  }

  /** Never rejects. */
  async #runRound(): Promise<void> {
    const { counters, storage, timers } = this.#parts;
    try {
      if (this.#mayScrub) {
        await this.#known.scrub();
        const { generation } = storage;
        for await (const bytes of storage.scrub(new RecordDigest())) {
          counters.scrubbedBytes += bytes;
          await this.#pause(bytes);
          // A snapshot or a repair has replaced what is being read.
          if (this.#isStopped || generation !== storage.generation) return;
          if (!this.#mayScrub) return;
        }
        counters.scrubs += 1;
        counters.scrubbedWallMs = timers.wallMs();
      }
    } catch (error) {
      if (!this.#isStopped) this.#onError(error);
    } finally {
      this.#rest();
    }
  }

  #onError(error: unknown): void {
    if (error instanceof DamagedError) return this.#repair.onDamage(error);
    if (!(error instanceof HistoryGoneError)) return this.#driver.fail(error);
    // Without a cause it was only purged in the meantime.
    if (error.cause === undefined) return;
    const { logger, storage } = this.#parts;
    const facts = { base: formatZxid(storage.base), reason: error.message };
    logger.error(facts, 'log.unreadable');
    // Only learners could need that part of the log.
    this.#driver.step({ kind: 'purged', base: storage.base });
  }

  #pause(bytes: number): Promise<void> {
    const { options, timers } = this.#parts;
    return new Promise((resolve) => {
      const timer = timers.after((bytes / options.scrubBytesPerSecond) * 1000, resolve);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}

/**
 * Checks and repairs the small records whose content is in memory: the marks of the directories,
 * and the member's identity and epochs.
 *
 * A damaged record is rewritten at once, without asking a quorum, because every change of it also
 * comes from memory. On a full disk the repair waits for room, since a failed write is fatal; an
 * ordinary change of the record may repair it first. Called by the scrub at the beginning of each
 * round.
 */
class KnownRecords {
  readonly #parts: DriverParts;
  /** Reported and not yet repaired, with the reason. */
  readonly #damaged = new Map<KnownRecord, string>();

  constructor(parts: DriverParts) {
    this.#parts = parts;
  }

  /** Rejects only with disk faults. */
  async scrub(): Promise<void> {
    for (const record of this.#parts.storage.known) {
      const damage = await damageOf(record);
      if (damage !== null) await this.#repair(record, damage.message);
      else this.#maybeRepaired(record);
    }
  }

  async #repair(record: KnownRecord, reason: string): Promise<void> {
    const { counters, diskSpace, logger } = this.#parts;
    if (!this.#damaged.has(record)) {
      this.#damaged.set(record, reason);
      counters.damagesFound += 1;
      const { name } = record;
      logger.error({ reason, name }, 'disk.damaged: it is written again from memory');
    }
    if (diskSpace.shortage !== null) return;
    await record.writeAnew();
    this.#maybeRepaired(record);
  }

  /** The record is whole. */
  #maybeRepaired(record: KnownRecord): void {
    const reason = this.#damaged.get(record);
    if (reason === undefined) return;
    const { counters, logger } = this.#parts;
    this.#damaged.delete(record);
    counters.damagesRepaired += 1;
    const facts = { reason, name: record.name, from: 'memory' };
    logger.error(facts, 'disk.repaired: it is whole');
  }
}

async function damageOf(record: KnownRecord): Promise<DamagedError | null> {
  try {
    await record.check();
    return null;
  } catch (error) {
    if (error instanceof DamagedError) return error;
    throw error;
  }
}
