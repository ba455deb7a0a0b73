/** Which starts of a directory are earlier than one that was seen, exactly. */
import type { Hello, StartOf } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { HELLO } from '../simulated/net/peer-member.js';
import { KnownStarts, NO_START, type SeenStart, type StartsStore } from './known-starts.js';

class Store implements StartsStore {
  start = { incarnation: 'own', count: 4, instances: ['two', 'three', 'me'] };
  seenStarts: SeenStart[] = [];
  countStartsAnew(): void {
    this.start = { incarnation: 'new', count: 1, instances: ['me'] };
  }
  forgetEarlierStarts(): void {
    this.start = { ...this.start, instances: [] };
  }
  rememberStart(seen: SeenStart): void {
    this.seenStarts = [...this.seenStarts.filter(({ peer }) => peer !== seen.peer), seen];
  }
}

interface Change {
  readonly start?: StartOf;
  readonly earlierStarts?: readonly string[];
  readonly lastSeen?: StartOf;
}

function hello(change: Change): Hello {
  if (HELLO.offer === null) throw new Error('there is an offer');
  return { ...HELLO, offer: { ...HELLO.offer, ...change } };
}

const start = (count: number, instance: string, incarnation = 'theirs') => ({
  incarnation,
  count,
  instance,
});

describe('a start', () => {
  it.each([
    [start(4, 'me', 'own'), false, 'this one'],
    [start(4, 'b', 'own'), true, 'the same one of another process'],
    [start(5, 'b', 'own'), true, 'later'],
    [start(3, 'three', 'own'), false, 'the one before'],
    [start(3, 'b', 'own'), true, 'one before of another process: a copy was started since'],
    [start(1, 'b', 'own'), false, 'too long ago to know'],
    [start(9, 'b', 'other'), false, 'of a directory that was here before'],
    [NO_START, false, 'none'],
  ])('of this directory, of which another member has seen %j', (lastSeen, isBehind) => {
    expect(new KnownStarts(new Store(), 'me').isBehind(hello({ lastSeen }))).toBe(isBehind);
  });

  it('of another directory is written only once the member serves where it may not be before', () => {
    const store = new Store();
    const known = new KnownStarts(store, 'me');
    known.sawLater(2, hello({ start: start(7, 'a') }), false);
    known.sawLater(2, hello({ start: start(8, 'b') }), false);
    known.sawLater(3, hello({ start: start(1, 'c') }), false);
    expect(store.seenStarts).toEqual([]);
    expect(known.lastSeen(2)).toEqual(start(8, 'b'));
    expect(known.sawLater(2, hello({ start: start(7, 'a') }), false)).toBe(true);
    known.sawLater(3, hello({ start: start(2, 'd') }), true);
    known.onServing();
    expect(store.seenStarts).toEqual([
      { peer: 3, ...start(2, 'd') },
      { peer: 2, ...start(8, 'b') },
    ]);
  });

  it.each([
    [start(6, 'b'), true, 'earlier'],
    [start(7, 'a'), false, 'the one that was seen: a link was lost'],
    [start(7, 'b'), true, 'a second process on a copy'],
    [start(8, 'b'), false, 'the next one'],
    [start(1, 'b', 'emptied'), false, 'of a new directory'],
  ])('of another directory after start 7 of process a: %j', (shown, sawLater) => {
    const store = new Store();
    const known = new KnownStarts(store, 'me');
    expect(known.sawLater(3, hello({ start: start(7, 'a') }))).toBe(false);
    expect(known.sawLater(3, hello({ start: shown }))).toBe(sawLater);
    expect(known.lastSeen(3)).toEqual(sawLater ? start(7, 'a') : shown);
    expect(known.lastSeen(2)).toEqual(NO_START);
  });

  it.each([
    [['a', 'alone'], false, 'of the process that was seen'],
    [['copy', 'alone'], true, 'of a copy that was started as often, and once more'],
    [['alone'], false, 'of one that has served since'],
  ])(
    'of another directory, two after start 7 of process a, after %j',
    (earlierStarts, isBeside) => {
      const known = new KnownStarts(new Store(), 'me');
      known.sawLater(3, hello({ start: start(7, 'a') }));
      const shown = { start: start(9, 'now'), earlierStarts };
      expect(known.sawLater(3, hello(shown))).toBe(isBeside);
    },
  );

  it('that serves forgets the earlier ones for those to come, not for itself', () => {
    const store = new Store();
    const known = new KnownStarts(store, 'me');
    known.onServing();
    expect(store.start.instances).toEqual([]);
    const lastSeen = start(3, 'b', 'own');
    expect(known.isBehind(hello({ lastSeen }))).toBe(true);
    known.countAnew();
    expect([known.isBehind(hello({ lastSeen })), known.earlier]).toEqual([false, []]);
  });
});
