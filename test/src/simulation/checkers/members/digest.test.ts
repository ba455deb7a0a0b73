/** DigestChecker compares equal zxids of any members, and the end, and rejects differences. */
import { describe, expect, it } from 'vitest';
import { newDigest } from './digest.js';
import { create, install, stateOf, TICK, Told, zxid } from './testing/observations.js';

const ONE = stateOf({ op: create('/a') });
const OTHER = stateOf({ op: create('/b') });
const REGULAR = zxid(1, 16);

describe('the checker of digests', () => {
  it('accepts equal digests at equal zxids, different ones at different zxids', () => {
    const told = new Told(newDigest).applied(1, REGULAR, {}, ONE).applied(2, REGULAR, {}, ONE);
    told.applied(2, zxid(1, 32), {}, OTHER);
    told.end({ member: 1, state: ONE, applied: 1 }, { member: 2, state: OTHER, applied: 2 });
  });

  it('rejects a difference at every 16th zxid', () => {
    const told = new Told(newDigest).applied(1, REGULAR, {}, ONE);
    expect(() => told.applied(2, REGULAR, {}, OTHER)).toThrow(
      /same digest: member 2 .* at 0x100000010; member 1 had/,
    );
    told.applied(1, zxid(1, 17), {}, ONE).applied(2, zxid(1, 17), {}, OTHER);
  });

  it('rejects a difference at any zxid for a while after a start and a snapshot', () => {
    for (const told of [
      new Told(newDigest).started(2),
      new Told(newDigest).step(2, TICK, install(1, zxid(1, 16))),
    ]) {
      told.applied(1, zxid(1, 17), {}, ONE);
      expect(() => told.applied(2, zxid(1, 17), {}, OTHER)).toThrow(/at 0x100000011/);
    }
  });

  it('keeps newer samples when a member that is far behind applies older zxids', () => {
    const told = new Told(newDigest).applied(1, zxid(1, 16 * 2048), {}, ONE);
    told.applied(2, zxid(0, 16 * 2048), {}, OTHER);
    expect(() => told.applied(2, zxid(1, 16 * 2048), {}, OTHER)).toThrow(/same digest/);
  });

  it('rejects a difference at the end', () => {
    const told = new Told(newDigest);
    const end = () =>
      told.end({ member: 1, state: ONE, applied: 5 }, { member: 2, state: OTHER, applied: 5 });
    expect(end).toThrow(/at the end member 2 .*member 1/);
  });
});
