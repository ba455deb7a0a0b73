/**
 * The quorum that is healed first: a majority of sound disks, never all; and the faults of the
 * rest.
 */
import { expect, it } from 'vitest';
import { FakeWorld } from '../faults/fake-world.js';
import { Random } from '../random.js';
import { ailTheRest, drawQuorum } from './quorum.js';

const SEEDS = Array.from({ length: 100 }, (_, at) => at + 1);

it('is a majority of members with sound disks, and excludes at least one member', () => {
  for (const seed of SEEDS) {
    for (const members of [3, 4, 5, 7]) {
      const world = new FakeWorld(members);
      world.struck.add(1);
      const quorum = drawQuorum(world, new Random(seed)) ?? [];
      const sound = quorum.filter((id) => id !== 1);
      expect(sound.length, `seed ${seed}`).toBeGreaterThan(members / 2);
      expect(quorum.length, `seed ${seed}`).toBeLessThan(members);
      expect(new Set(quorum).size).toBe(quorum.length);
    }
  }
});

it('is not used where every majority is all of them, or needs a damaged disk', () => {
  expect(drawQuorum(new FakeWorld(1), new Random(1))).toBeNull();
  expect(drawQuorum(new FakeWorld(2), new Random(1))).toBeNull();
  const world = new FakeWorld(3);
  for (const id of [1, 2]) world.struck.add(id);
  expect(drawQuorum(world, new Random(1))).toBeNull();
});

it('is fully connected, whatever the faults of the rest', () => {
  const seen = new Set<string>();
  for (const seed of SEEDS) {
    const world = new FakeWorld(5);
    const quorum = [2, 4, 5];
    const said = ailTheRest(world, quorum, { random: new Random(seed), forMs: 1 });
    for (const one of said.split(', ')) seen.add(one.slice(2));
    for (const one of quorum) {
      expect(world.up.has(one)).toBe(true);
      for (const other of quorum) expect(world.cuts.has(`${one}>${other}`)).toBe(false);
    }
  }
  expect([...seen].sort()).toEqual(
    ['as it is', 'bridged', 'cut off', 'deaf', 'down', 'frozen', 'mute'].sort(),
  );
});
