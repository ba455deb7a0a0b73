/** Goal: steal time is a share of what was wanted. Method: lines as proc(5) has them. */
import { expect, it } from 'vitest';
import { parseProcessorTime, stolenShare } from './stolen-time.js';

const stat = (line: string): string => `${line}\ncpu0 1 0 0 0 0 0 0 0 0 0\nintr 1 2 3\n`;

it('counts what ran, interrupts included, apart from what was idle and what was stolen', () => {
  // user nice system idle iowait irq softirq steal guest guest_nice; guests are part of user.
  const time = parseProcessorTime(stat('cpu  100 20 30 5000 700 4 6 50 9 8'));
  expect(time).toEqual({ used: 160, stolen: 50 });
});

it('has the share of what was wanted, not of what there was', () => {
  const before = { used: 1000, stolen: 10 };
  expect(stolenShare(before, { used: 1090, stolen: 20 })).toBe(0.1);
  expect(stolenShare(before, { used: 1090, stolen: 10 })).toBe(0);
  expect(stolenShare(before, before)).toBe(0);
});

it('is unknown where the kernel does not say it', () => {
  expect(parseProcessorTime('cpu  100 20 30 5000')).toBeNull();
  expect(parseProcessorTime('nothing of the kind')).toBeNull();
  expect(stolenShare(null, { used: 1, stolen: 1 })).toBeNull();
});
