/**
 * Which disks may be struck, and when: all the rules that keep the simulator within the design's
 * promises.
 */
import { describe, expect, it } from 'vitest';
import { FakeWorld } from './fake-world.js';
import { minorityOf, StrikeGuard } from './guard.js';

describe('the guard of strikes', () => {
  it('leaves a quorum untouched, whatever the number of members', () => {
    const sizes = [1, 2, 3, 4, 5, 6, 7];
    expect(sizes.map(minorityOf)).toEqual([0, 0, 1, 1, 2, 2, 3]);
  });

  it('refuses every strike at one or two members', () => {
    for (const members of [1, 2]) {
      const guard = new StrikeGuard(new FakeWorld(members));
      expect(guard.refuses([1])).toBe(`of ${members} members 0 may be struck`);
    }
  });

  it('allows strikes on a minority together, and refuses one more', () => {
    const guard = new StrikeGuard(new FakeWorld(5));
    expect(guard.refuses([1, 4])).toBeNull();
    expect(guard.refuses([1, 4, 5])).toBe('of 5 members 2 may be struck');
  });

  it('allows the next strike while all who have not served again are a minority', () => {
    const world = new FakeWorld(5);
    const guard = new StrikeGuard(world);
    world.struck.add(1);
    expect(guard.refuses([2])).toBeNull();
    expect(guard.refuses([1])).toBeNull();
    expect(guard.refuses([1, 2])).toBeNull();
    expect(guard.refuses([2, 3])).toBe('member 1 has not served again');
    world.struck.add(2);
    expect(guard.refuses([3])).toBe('member 1, 2 has not served again');
    expect(guard.refuses([2, 1])).toBeNull();
    world.struck.clear();
    expect(guard.refuses([3, 4])).toBeNull();
  });

  it('refuses a strike at a member whose file names others', () => {
    const world = new FakeWorld(5);
    world.misconfigured.add(2);
    expect(new StrikeGuard(world).refuses([1, 2])).toBe('member 2 has a file of its own');
    expect(new StrikeGuard(world).refuses([1])).toBeNull();
  });

  it('refuses a strike at another member of three until the last victim has served again', () => {
    const world = new FakeWorld(3);
    const guard = new StrikeGuard(world);
    world.struck.add(1);
    expect(guard.refuses([2])).toBe('member 1 has not served again');
    expect(guard.refuses([1])).toBeNull();
  });

  it('refuses all strikes until every member has served once, now or earlier', () => {
    const world = new FakeWorld(3);
    world.serving.clear();
    const guard = new StrikeGuard(world);
    world.serving.add(1).add(2);
    expect(guard.refuses([1])).toBe('not every member has served yet');
    world.serving.clear();
    world.serving.add(3);
    guard.look();
    world.serving.clear();
    expect(guard.refuses([1])).toBeNull();
  });
});
