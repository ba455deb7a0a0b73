/**
 * Batches of proposals as they come from a disk: checked, and joined to larger ones.
 *
 * Each synced write has a record of its own (or several), which may hold a single proposal. Whoever
 * reads many records wants fewer and larger batches. Owns no file; `log-reader.ts`,
 * `log-recovery.ts` and `former-segment.ts` read.
 */
import { MarshallingError, ProposalBatch } from '@rookery/protocol';
import { DamagedError } from './errors.js';

/** Parses a record; `at` says where it is. Throws DamagedError. */
export function storedBatch(at: string, bytes: Uint8Array): ProposalBatch {
  try {
    return ProposalBatch.parse(bytes);
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    throw new DamagedError(`${at} is not understood: ${error.message}`, { cause: error });
  }
}

/** Joins consecutive batches until they have about `bytesMax`. */
export class BatchJoiner {
  readonly #bytesMax: number;
  #parts: ProposalBatch[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The joined batch once it is large enough; otherwise null. */
  add(part: ProposalBatch): ProposalBatch | null {
    this.#parts.push(part);
    this.#bytes += part.bytes.length;
    return this.#bytes >= this.#bytesMax ? this.take() : null;
  }

  /** The rest; null if there is none. */
  take(): ProposalBatch | null {
    if (this.#parts.length === 0) return null;
    const batch = ProposalBatch.join(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    return batch;
  }
}
