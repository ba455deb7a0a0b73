/**
 * Looks after the small records that a member knows by itself: the marks of its directories, and
 * its identity and epochs.
 *
 * What is damaged is written again at once, and no quorum is asked: every change of it comes from
 * memory, too. On a full disk it waits for room, because a write that fails is fatal. Called by the
 * scrub at the beginning of each round.
 */
import { DamagedError } from '../storage/errors.js';
import type { KnownRecord } from '../storage/known-record.js';
import type { DriverParts } from './parts.js';

export class KnownRecords {
  readonly #parts: DriverParts;
  /** What was reported and is not repaired yet. */
  readonly #damaged = new Set<KnownRecord>();

  constructor(parts: DriverParts) {
    this.#parts = parts;
  }

  /** Rejects with faults of the disk only. */
  async scrub(): Promise<void> {
    for (const record of this.#parts.storage.known) {
      const damage = await damageOf(record);
      if (damage !== null) await this.#repair(record, damage.message);
    }
  }

  async #repair(record: KnownRecord, reason: string): Promise<void> {
    const { counters, diskSpace, logger } = this.#parts;
    const { name } = record;
    if (!this.#damaged.has(record)) {
      this.#damaged.add(record);
      counters.damagesFound += 1;
      logger.error({ reason, name }, 'disk.damaged: it is written again from memory');
    }
    if (diskSpace.shortage !== null) return;
    await record.writeAnew();
    this.#damaged.delete(record);
    counters.damagesRepaired += 1;
    logger.error({ reason, name, from: 'memory' }, 'disk.repaired: it is whole');
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
