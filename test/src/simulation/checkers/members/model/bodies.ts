/**
 * The body that was proposed at each zxid. The leader's proposals are the origin; every log must
 * contain the same bytes.
 *
 * The newest bodies are kept and compared completely; for all of them there is a hash of some of
 * their bytes, one number each, for members that are far behind: hashing every byte would cost more
 * than everything else.
 */
import { epochOf, type Proposal, type Zxid } from '@rookery/protocol';

interface EpochBodies {
  readonly first: Zxid;
  readonly hashes: number[];
}

const OTHER_BODY = 'with another body than was proposed';
/** A power of two: the slot of a zxid is given by its last bits. */
const KEPT = 1 << 14;
/** The hash uses this many bytes at each end, and every n-th byte between. */
const END_BYTES = 16;
const STRIDE = 13;

export class Bodies {
  /** The newest bodies, each in the slot of its zxid. */
  readonly #kept: (Proposal | null)[] = new Array<Proposal | null>(KEPT).fill(null);
  readonly #epochs = new Map<number, EpochBodies>();
  #newestEpoch = -1;
  #newest: EpochBodies = { first: 0, hashes: [] };

  /** Returns false if something was proposed at this zxid before. */
  propose(proposal: Proposal): boolean {
    const { zxid, body } = proposal;
    const bodies = this.#of(epochOf(zxid)) ?? this.#begin(zxid);
    if (zxid - bodies.first !== bodies.hashes.length) return false;
    bodies.hashes.push(hashOf(body));
    this.#kept[zxid & (KEPT - 1)] = proposal;
    return true;
  }

  /** Returns why this is not what was proposed at its zxid; null if it is. */
  objection({ zxid, body }: Proposal): string | null {
    const kept = this.#kept[zxid & (KEPT - 1)];
    if (kept?.zxid === zxid) return Buffer.compare(kept.body, body) === 0 ? null : OTHER_BODY;
    const bodies = this.#of(epochOf(zxid));
    const hash = bodies?.hashes[zxid - bodies.first];
    if (hash === undefined) return 'which nobody proposed';
    return hash === hashOf(body) ? null : OTHER_BODY;
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

function hashOf(bytes: Uint8Array): number {
  const { length } = bytes;
  let hash = length;
  const beforeEnd = length - END_BYTES;
  for (let at = 0; at < length; at += at < END_BYTES || at >= beforeEnd ? 1 : STRIDE) {
    hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  }
  return hash;
}
