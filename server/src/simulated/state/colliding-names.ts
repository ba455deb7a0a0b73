/**
 * Makes names that collide in the hash of the digest, whatever is before and after them. For tests.
 *
 * That hash is a polynomial of the code units with a known base. Two blocks of one length with the
 * same value are found by trying some hundred thousand; all names that are composed of these two
 * blocks have the same hash. A malicious client can do the same.
 */
import { hashPath } from '../../state/memory/hash.js';

const BLOCK_UNITS = 7;

/** Returns `count` different names of equal length; `count` is a power of two. */
export function collidingNames(count: number): readonly string[] {
  const [zero, one] = equalBlocks();
  const bits = Math.ceil(Math.log2(count));
  return Array.from({ length: count }, (_, number) => {
    let name = '';
    for (let bit = 0; bit < bits; bit++) name += (number >>> bit) & 1 ? one : zero;
    return name;
  });
}

/** Finds them by the birthday paradox, after about 2^16 tries. */
function equalBlocks(): readonly [string, string] {
  const seen = new Map<number, string>();
  // Multiples of one number would be spread too evenly to collide soon.
  for (let state = 1; ; ) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const block = (state >>> 0).toString(36).padStart(BLOCK_UNITS, '0');
    const hash = hashPath(block);
    const other = seen.get(hash);
    if (other !== undefined && other !== block) return [other, block];
    seen.set(hash, block);
  }
}
