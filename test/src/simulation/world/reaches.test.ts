// What a member had sent while only its way out was cut counts as contact until it stood still.
import { expect, it } from 'vitest';
import type { Recorder } from '../run/recorder.js';
import { Reaches } from './reaches.js';

function world() {
  const events: unknown[] = [];
  const cuts = new Set<string>();
  const still = new Set<number>();
  const at = { nowMs: 0 };
  const recorder = { reach: (seen: unknown) => void events.push(seen) } as unknown as Recorder;
  const reaches = new Reaches(recorder, {
    ids: () => [1, 2],
    nowMs: () => at.nowMs,
    isUp: () => true,
    standsStill: (id) => still.has(id),
    isCut: (from, to) => cuts.has(`${from} ${to}`),
  });
  reaches.record();
  const step = (nowMs: number, change: () => void) => {
    at.nowMs = nowMs;
    change();
    reaches.record();
    return events.splice(0);
  };
  return { events, cuts, still, reaches, step };
}

it('a checker is told of answers that arrive although their sender stands still by then', () => {
  const { events, cuts, still, reaches, step } = world();
  expect(events.splice(0)).toEqual([
    { member: 1, reaches: [2] },
    { member: 2, reaches: [1] },
  ]);
  step(100, () => cuts.add('2 1'));
  step(250, () => still.add(2));
  step(300, () => cuts.delete('2 1'));
  reaches.recordLateArrival(2, 1);
  expect(events).toEqual([{ member: 1, reaches: [], late: { from: 2, heardMs: 250 } }]);
});

it('a sender answers no longer than it has received', () => {
  const { events, cuts, still, reaches, step } = world();
  step(100, () => cuts.add('2 1').add('1 2'));
  step(250, () => still.add(2));
  step(300, () => cuts.delete('2 1'));
  reaches.recordLateArrival(2, 1);
  expect(events).toEqual([{ member: 1, reaches: [], late: { from: 2, heardMs: 100 } }]);
});

it('a checker is told of nothing late where the sender is reached again', () => {
  const { events, cuts, reaches, step } = world();
  step(100, () => cuts.add('2 1'));
  step(300, () => cuts.delete('2 1'));
  reaches.recordLateArrival(2, 1);
  expect(events).toEqual([]);
});
