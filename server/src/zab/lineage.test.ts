/** Which leaderships a history consists of: what is kept of them, and where two histories part. */
import { makeZxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { LEADERSHIPS_MAX, Lineage } from './lineage.js';

const leadership = (epoch: number, identity: number) => ({ epoch, identity });

describe('a lineage', () => {
  it('tells of the newest leaderships only, and of none that no log holds any more', () => {
    const count = LEADERSHIPS_MAX + 10;
    const lineage = new Lineage([]);
    for (let epoch = 1; epoch <= count; epoch++) lineage.set(epoch, 1000 + epoch);
    const all = lineage.from(0);
    expect(all).toHaveLength(LEADERSHIPS_MAX);
    expect([all[0], all.at(-1)]).toEqual([leadership(11, 1011), leadership(count, 1000 + count)]);
    expect(lineage.from(makeZxid(count - 1, 5))).toEqual([
      leadership(count - 1, 999 + count),
      leadership(count, 1000 + count),
    ]);
  });

  it('parts from another at the first epoch whose leaderships are known and differ', () => {
    const lineage = new Lineage([leadership(1, 11), leadership(3, 13), leadership(4, 14)]);
    expect(lineage.firstConflict([leadership(1, 11), leadership(2, 99)])).toBe(
      Number.POSITIVE_INFINITY,
    );
    expect(lineage.firstConflict([leadership(4, 99), leadership(3, 98)])).toBe(3);
    expect(lineage.firstConflict([leadership(3, 0), leadership(4, 99)]), 'not known').toBe(4);
  });

  it('behind a point becomes what the leader says, and keeps what is before it', () => {
    const lineage = new Lineage([leadership(1, 11), leadership(2, 12), leadership(3, 13)]);
    const changed = lineage.follow([leadership(1, 99), leadership(3, 23)], makeZxid(2, 7));
    expect(changed).toBe(3);
    expect([1, 2, 3].map((epoch) => lineage.of(epoch))).toEqual([11, 12, 23]);
    expect(lineage.follow([leadership(3, 23)], makeZxid(3, 1))).toBe(Number.POSITIVE_INFINITY);
  });
});
