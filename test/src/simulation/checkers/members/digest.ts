/**
 * Property: at the same zxid all members have the same digest. Source: docs/architecture/core.md,
 * invariant 8; ZOOKEEPER-3114, 3512; the digests that found 3144, 3125.
 *
 * A difference stays in the digest until the differing znode is removed, so every 16th zxid is
 * enough, and every one for a while after a start or a snapshot, because the other members may be
 * close. The last few thousand samples are kept, in a ring buffer; at the end all must be equal.
 */
import type { Zxid } from '@rookery/protocol';
import { type Checker, type NewChecker, PropertyBroken } from '../../contract/checker.js';
import type { Applied, End, Started, Step } from '../../contract/observation.js';
import { broken, formatZxid } from './model/failure.js';

/** Powers of two, because zxids are masked. */
const EVERY = 16;
/** The number of transactions that are all sampled after a start or a snapshot, by any member. */
const DENSE_COUNT = 64;
const SLOTS = 4096;
const MASK = SLOTS / 2 - 1;

class DigestChecker implements Checker {
  readonly property = 'at the same zxid all members have the same digest';
  readonly #zxids = new Float64Array(SLOTS);
  readonly #digests: string[] = new Array<string>(SLOTS).fill('');
  readonly #by = new Uint8Array(SLOTS);
  #denseLeft = 0;

  onStarted(_seen: Started): void {
    this.#denseLeft = DENSE_COUNT;
  }

  onStep(seen: Step): void {
    const { outputs } = seen;
    for (let at = 0; at < outputs.length; at++) {
      if (outputs[at]?.kind === 'installSnapshot') this.#denseLeft = DENSE_COUNT;
    }
  }

  onApplied(seen: Applied): void {
    const { zxid, state } = seen;
    const isRegular = (zxid & (EVERY - 1)) === 0;
    if (!isRegular && this.#denseLeft === 0) return;
    if (this.#denseLeft > 0) this.#denseLeft -= 1;
    const digest = state.digest();
    const slot = isRegular ? (zxid / EVERY) & MASK : SLOTS / 2 + (zxid & MASK);
    const kept = this.#zxids[slot] ?? 0;
    // A member that is far behind finds newer samples in the ring buffer, which stay.
    if (kept < zxid) this.#keep(slot, seen, digest);
    if (kept !== zxid || this.#digests[slot] === digest) return;
    const other = `member ${this.#by[slot]} had ${this.#digests[slot]}`;
    throw broken(this.property, seen, `has ${digest} at ${formatZxid(zxid)}; ${other}`);
  }

  onEnd({ members, order }: End): void {
    const byZxid = new Map<Zxid, { readonly member: number; readonly digest: string }>();
    for (const { member, state, applied } of members) {
      const digest = state.digest();
      const other = byZxid.get(applied) ?? { member, digest };
      byZxid.set(applied, other);
      if (other.digest === digest) continue;
      throw new PropertyBroken(
        this.property,
        `at the end member ${member} has ${digest} at ${formatZxid(applied)}, ` +
          `member ${other.member} ${other.digest} [order ${order}]`,
      );
    }
  }

  #keep(slot: number, { zxid, member }: Applied, digest: string): void {
    this.#zxids[slot] = zxid;
    this.#digests[slot] = digest;
    this.#by[slot] = member;
  }
}

export const newDigest: NewChecker = () => new DigestChecker();
