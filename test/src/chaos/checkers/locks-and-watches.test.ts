/**
 * The checks of locks and watches accept what may happen and refuse each way to break the promise.
 * The histories are short and written by hand.
 */
import { describe, expect, it } from 'vitest';
import { checkLocks } from './locks.js';
import { Told } from './told.js';
import { checkWatches } from './watches.js';

function problemsOf(check: typeof checkLocks, told: Told): string {
  const { valid, problems } = check(told.entries);
  expect(valid).toBe(problems.length === 0);
  return problems.join('\n');
}

describe('locks', () => {
  const grant = (told: Told, client: number, token: number, others: number[] = []) =>
    told.ok(client, 'acquire', null, [token, others]);
  const write = (told: Told, client: number, token: number, count: number, version = count) =>
    told.ok(client, 'fenced-write', [token, count], [token, count, version]);
  const end = (told: Told, token: number, count: number, version = count) =>
    problemsOf(checkLocks, told.ok(9, 'read', null, [token, count, version]));
  const base = () => write(grant(write(grant(new Told(), 0, 5), 0, 5, 1), 1, 8), 1, 8, 2);

  it('let holders write one after the other', () => {
    expect(end(base(), 8, 2)).toBe('');
    expect(end(base().info(1, 'fenced-write', [8, 3]), 8, 2)).toBe('');
    expect(end(base().info(1, 'fenced-write', [8, 3]), 8, 3)).toBe('');
    expect(end(write(base().info(1, 'fenced-write', [8, 3]), 1, 8, 4), 8, 4)).toBe('');
  });

  it('never let one with an older token write, nor two write over each other', () => {
    expect(end(write(base(), 0, 5, 3), 5, 3)).toContain('after one of 8');
    expect(end(write(base(), 1, 8, 2, 3), 8, 2, 3)).toContain('lost or done twice');
    expect(end(base(), 8, 3)).toContain('writes of nobody');
    expect(end(base().fail(1, 'fenced-write', [8, 3]), 8, 3)).toContain('writes of nobody');
    expect(end(write(base(), 1, 9, 3), 9, 3)).toContain('nobody was given');
    expect(end(base(), 5, 1)).toContain('was called after');
  });

  it('give growing tokens, and no lease while another is held', () => {
    expect(end(grant(base(), 0, 8), 8, 2)).toContain('given twice');
    expect(end(grant(base(), 0, 7), 8, 2)).toContain('was called after');
    expect(end(grant(base(), 0, 9, [8]), 8, 2)).toContain('while 8 was held');
  });
});

describe('watches', () => {
  /** Key 0 is written at zxids 11, 13 and 15, and key 1 at 12 and 14. */
  const base = () => {
    const told = new Told();
    for (const [key, zxid] of [
      [0, 11],
      [1, 12],
      [0, 13],
      [1, 14],
      [0, 15],
    ] as const) {
      told.ok(0, 'write', [key, zxid], [key, zxid, zxid], { zxid });
    }
    return told.ok(1, 'follow', null, null, { zxid: 10 }).ok(0, 'told', null);
  };
  const event = (told: Told, key: number, zxid: number | null, f = 'event') => {
    const value = [key, 'dataChanged', zxid];
    return told.ok(1, f, value);
  };
  const see = (told: Told, f: 'arm' | 'look', key: number, zxid: number) =>
    told.ok(1, f, [key], [key, zxid], { zxid });
  const judge = (told: Told) => problemsOf(checkWatches, told);

  it('of all znodes tell of every change, in order, once', () => {
    expect(judge(event(event(event(base(), 0, 11), 1, 12), 0, 13))).toBe('');
    expect(judge(event(event(base(), 0, 11), 0, 13))).toContain('none of 12');
    expect(judge(event(base(), 1, 12))).toContain('none of 11');
    expect(judge(event(event(base(), 0, 11), 0, 11))).toContain('were told');
    expect(judge(event(event(event(base(), 0, 11), 1, 12), 0, 11))).toContain('were told');
  });

  it('may leave out changes over a resync, and only there', () => {
    const resynced = event(base(), 0, 11).ok(1, 'resync', 'reconnected');
    expect(judge(event(event(resynced, 0, 13), 1, 14))).toBe('');
    const missed = event(base(), 0, 11).ok(1, 'resync', 'reconnected');
    expect(judge(event(event(missed, 0, 13), 0, 15))).toContain('none of 14');
  });

  it('tell of a change before it is shown', () => {
    expect(judge(see(event(base(), 0, 11), 'look', 0, 11))).toBe('');
    expect(judge(see(event(base(), 0, 11), 'look', 0, 13))).toContain('before its event');
  });

  it('of one shot fire once, with the first change, before anything newer is shown', () => {
    const followed = () => event(event(event(base(), 0, 11), 1, 12), 0, 13);
    const armed = () => see(event(base(), 0, 11), 'arm', 0, 11);
    const swapped = event(event(event(armed(), 0, 13, 'fired'), 1, 12), 0, 13);
    expect(judge(swapped)).toContain('an event of 12 after one of 13');
    expect(judge(event(event(event(armed(), 1, 12), 0, 13), 0, 13, 'fired'))).toBe('');
    expect(judge(event(event(event(armed(), 1, 12), 0, 13), 0, null, 'fired'))).toBe('');
    expect(judge(event(armed(), 0, 15, 'fired'))).toContain('not 13');
    const twice = event(event(event(event(armed(), 1, 12), 0, 13), 0, 13, 'fired'), 0, 13, 'fired');
    expect(judge(twice)).toContain('none was set');
    const shown = see(event(event(armed(), 1, 12), 0, 13), 'look', 0, 13);
    expect(judge(shown)).toContain('before the watch set at 11 fired');
    expect(judge(see(followed(), 'arm', 0, 11))).toContain('replaced at');
  });

  it('that did not tell of the last change are refused, and must have been asked', () => {
    expect(judge(base().ok(9, 'untold', 'in vain: watcher 1'))).toContain('in vain');
    expect(checkWatches(new Told().ok(0, 'write', [0, 1], [0, 1, 1]).entries)).toMatchObject({
      valid: 'unknown',
    });
  });
});
