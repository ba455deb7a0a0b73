/**
 * Looks after the small records that a member knows by itself: the marks of its directories, and
 * its identity and epochs.
 *
 * What is damaged is written again at once, and no quorum is asked: every change of it comes from
 * memory, too. On a full disk it waits for room, because a write that fails is fatal; such a change
 * may come first, and repairs it as well. Called by the scrub at the beginning of each round.
 */
import { DamagedError } from '../storage/errors.js';
import type { KnownRecord } from '../storage/known-record.js';
import type { DriverParts } from './parts.js';

export class KnownRecords {
  readonly #parts: DriverParts;
  /** What was reported and is not repaired yet, with the reason. */
  readonly #damaged = new Map<KnownRecord, string>();

  constructor(parts: DriverParts) {
    this.#parts = parts;
  }

  /** Rejects with faults of the disk only. */
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
