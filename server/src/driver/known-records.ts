/**
 * Checks and repairs the small records whose content is in memory: the marks of the directories,
 * and the member's identity and epochs.
 *
 * A damaged record is rewritten at once, without asking a quorum, because every change of it also
 * comes from memory. On a full disk the repair waits for room, since a failed write is fatal; an
 * ordinary change of the record may repair it first. Called by the scrub at the beginning of each
 * round.
 */
import { DamagedError } from '../storage/errors.js';
import type { KnownRecord } from '../storage/known-record.js';
import type { DriverParts } from './parts.js';

export class KnownRecords {
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
