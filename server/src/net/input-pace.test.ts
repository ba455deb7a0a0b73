/** Goal: no round reads more than its share of unfinished frames, and everybody gets on. */
import { expect, it } from 'vitest';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { InputPace } from './input-pace.js';

const MEGABYTE = 1 << 20;
const READ_BYTES = 64 << 10;

it('lets a client alone send as fast as it can, up to 4 MB in a round', () => {
  const pace = new InputPace(new ManualTimers());
  const reader = { resumeReading: () => {} };
  for (let count = 0; count < 4; count++) expect(pace.mustWait(reader, MEGABYTE)).toBe(false);
  expect(pace.mustWait(reader, 1)).toBe(true);
});

it('reads from hundreds one after the other, in the order in which they were put off', async () => {
  const timers = new ManualTimers();
  const pace = new InputPace(timers);
  const rounds: number[][] = [[]];
  const readers = Array.from({ length: 300 }, (_, index) => ({
    resumeReading: () => void rounds.at(-1)?.push(index),
  }));
  const isPutOff = readers.map((reader) => pace.mustWait(reader, READ_BYTES));
  expect(isPutOff.indexOf(true)).toBe(64);
  pace.forget(readers[70] ?? { resumeReading: () => {} });
  for (let round = 0; round < 4; round++) {
    await timers.advance(0);
    rounds.push([]);
  }
  const order = rounds.flat();
  expect(order).toHaveLength(300 - 64 - 1);
  expect(order).toEqual([...order].sort((one, other) => one - other));
  expect(order).not.toContain(70);
  expect(pace.mustWait({ resumeReading: () => {} }, READ_BYTES)).toBe(false);
});
