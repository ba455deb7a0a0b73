/** The starts of a directory: how many of them are told apart, and when they are forgotten. */
import { describe, expect, it } from 'vitest';
import { type KeptMeta, StartsRecord } from './meta.js';

const STARTS_KEPT = 16;

/** The record of a directory that a process after the other opens. */
function directory() {
  const start = { incarnation: '', count: 0, instances: [] as string[] };
  const meta = {
    value: { start, seenStarts: [] },
    isKnown: true,
    change: async (change: object) => meta.remember(change),
    remember(change: object) {
      meta.value = { ...meta.value, ...change };
    },
  };
  return (instance: string): StartsRecord =>
    new StartsRecord(meta as unknown as KeptMeta, { instance, newIncarnation: () => 'first' });
}

describe('the starts of a directory', () => {
  it('are counted, and the processes of the last sixteen are kept', async () => {
    const open = directory();
    const names = Array.from({ length: STARTS_KEPT + 4 }, (_, index) => `process-${index}`);
    for (const name of names) await open(name).countStart();
    const { start } = open('reader');
    expect(start).toEqual({
      incarnation: 'first',
      count: names.length,
      instances: names.slice(-STARTS_KEPT),
    });
  });

  it('lose their processes when the member serves, and go on being counted', async () => {
    const open = directory();
    await open('a').countStart();
    await open('b').countStart();
    open('b').forgetEarlierStarts();
    expect(open('b').start).toEqual({ incarnation: 'first', count: 2, instances: [] });
    await open('c').countStart();
    expect(open('c').start).toEqual({ incarnation: 'first', count: 3, instances: ['c'] });
  });
});
