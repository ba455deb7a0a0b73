import { expect, it } from 'vitest';
import { EVENTS_MAX, EventStore } from './event-store.js';
import type { MemberEvent } from './member-event.js';

const at = (number: number, member: number, second: number): MemberEvent => ({
  number,
  member,
  start: '1',
  level: 'info',
  event: 'a.b',
  facts: {},
  time: new Date(1_700_000_000_000 + 1000 * second).toISOString(),
});

it('joins the events of members by their times, each once', () => {
  const store = new EventStore();
  expect(store.add([at(1, 1, 5), at(2, 1, 9)])).toBe(true);
  expect(store.add([at(1, 2, 7), at(1, 1, 5)])).toBe(true);
  expect(store.events.map(({ member, number }) => [member, number])).toEqual([
    ...[
      [1, 1],
      [2, 1],
      [1, 2],
    ],
  ]);
  expect(store.add([at(1, 2, 7)])).toBe(false);
});

it('keeps the newest, and takes none again that it has let go', () => {
  const store = new EventStore();
  store.add(Array.from({ length: EVENTS_MAX + 2 }, (_, index) => at(index + 1, 1, index)));
  expect(store.events).toHaveLength(EVENTS_MAX);
  expect(store.events[0]?.number).toBe(3);
});
