import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { followAbort, onAbort, unfollowAbort } from './abort-followers.js';

test('however many follow a signal, it has one listener, and none when all have left', () => {
  const { signal } = new AbortController();
  const undo = Array.from({ length: 20 }, () => onAbort(signal, () => {}));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  for (const step of undo.slice(1)) step();
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  undo[0]?.();
  undo[0]?.();
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('all are told once, in the order they came; who comes after the abort hears nothing', () => {
  const controller = new AbortController();
  const told: string[] = [];
  onAbort(controller.signal, () => told.push('first'));
  onAbort(controller.signal, () => {
    told.push('second');
    onAbort(controller.signal, () => told.push('late'));
  });
  controller.abort();
  onAbort(controller.signal, () => told.push('late'));
  expect(told).toEqual(['first', 'second']);
});

test('one that another takes back while they are told is not told', () => {
  const controller = new AbortController();
  const told: AbortSignal[] = [];
  const other = { onAbort: (signal: AbortSignal) => told.push(signal) };
  onAbort(controller.signal, () => unfollowAbort(controller.signal, other));
  followAbort(controller.signal, other);
  controller.abort();
  expect(told).toEqual([]);
});

test('one that was the last and left can come again', () => {
  const controller = new AbortController();
  let told = 0;
  const follower = { onAbort: () => told++ };
  followAbort(controller.signal, follower);
  unfollowAbort(controller.signal, follower);
  followAbort(controller.signal, follower);
  controller.abort();
  expect(told).toBe(1);
});
