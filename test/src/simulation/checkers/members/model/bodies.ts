/**
 * What was proposed at each zxid, as a hash of the body: by epoch, a number each.
 *
 * The leader's proposals are the origin; what any other log holds must be the same bytes.
 */
import { epochOf, type Proposal, type Zxid } from '@rookery/protocol';

interface EpochBodies {
  readonly first: Zxid;
  readonly hashes: number[];
}

export class Bodies {
  readonly #epochs = new Map<number, EpochBodies>();
  #newestEpoch = -1;
  #newest: EpochBodies = { first: 0, hashes: [] };

  /** False: something was proposed at this zxid before. */
  propose({ zxid, body }: Proposal): boolean {
    const bodies = this.#of(epochOf(zxid)) ?? this.#begin(zxid);
    if (zxid - bodies.first !== bodies.hashes.length) return false;
    bodies.hashes.push(hashOf(body));
    return true;
  }

  /** Why this is not what was proposed at its zxid; null when it is. */
  objection({ zxid, body }: Proposal): string | null {
    const bodies = this.#of(epochOf(zxid));
    const hash = bodies?.hashes[zxid - bodies.first];
    if (hash === undefined) return 'which nobody proposed';
    return hash === hashOf(body) ? null : 'with another body than was proposed';
  }

  #of(epoch: number): EpochBodies | undefined {
    if (epoch === this.#newestEpoch) return this.#newest;
    return this.#epochs.get(epoch);
  }

  #begin(first: Zxid): EpochBodies {
    const bodies = { first, hashes: [] };
    this.#newestEpoch = epochOf(first);
    this.#newest = bodies;
    this.#epochs.set(this.#newestEpoch, bodies);
    return bodies;
  }
}

/** Four bytes at a time: this is most of what the checker costs. */
function hashOf(bytes: Uint8Array): number {
  let hash = bytes.length;
  const whole = bytes.length & ~3;
  let at = 0;
  for (; at < whole; at += 4) {
    const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
    const high = ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
    hash = Math.imul(hash ^ low ^ high, 0x01000193);
    hash ^= hash >>> 15;
  }
  for (; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash;
}
