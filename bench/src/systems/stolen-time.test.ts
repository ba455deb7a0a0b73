/** Steal time is a share of what was wanted. The lines have the format of proc(5). */
import { expect, it } from 'vitest';
import { parseProcessorTime, stolenShare } from './stolen-time.js';

const stat = (line: string): string => `${line}\ncpu0 1 0 0 0 0 0 0 0 0 0\nintr 1 2 3\n`;

it('counts used time with interrupts, and separates it from idle and stolen time', () => {
  // The columns are user nice system idle iowait irq softirq steal guest guest_nice; user includes
  // guests.
  const time = parseProcessorTime(stat('cpu  100 20 30 5000 700 4 6 50 9 8'));
  expect(time).toEqual({ used: 160, stolen: 50 });
});

it('gives the share of the wanted time, not of all time', () => {
  const before = { used: 1000, stolen: 10 };
  expect(stolenShare(before, { used: 1090, stolen: 20 })).toBe(0.1);
  expect(stolenShare(before, { used: 1090, stolen: 10 })).toBe(0);
  expect(stolenShare(before, before)).toBe(0);
});

it('is unknown where the kernel does not report it', () => {
  expect(parseProcessorTime('cpu  100 20 30 5000')).toBeNull();
  expect(parseProcessorTime('nothing of the kind')).toBeNull();
  expect(stolenShare(null, { used: 1, stolen: 1 })).toBeNull();
});
