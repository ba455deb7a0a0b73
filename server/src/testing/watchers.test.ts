import { describe, expect, it } from 'vitest';
import { EnsembleError } from './ensemble-error.js';
import { Watchers } from './watchers.js';

describe('a watcher', () => {
  it('has its answer at once, or when somebody looks', async () => {
    const watchers = new Watchers(30_000);
    let answer: string | null = 'now';
    expect(await watchers.until('it', () => answer)).toBe('now');
    answer = null;
    const later = watchers.until('it', () => answer);
    watchers.look();
    answer = 'later';
    watchers.look();
    expect(await later).toBe('later');
  });

  it('gives up after its time, and says what for', async () => {
    const waiting = new Watchers(5).until('rain', () => null);
    await expect(waiting).rejects.toMatchObject({
      code: 'timedOut',
      message: expect.stringContaining('5 ms for rain'),
    });
  });

  it('ends with an error of its probe alone, and with a failure like all others', async () => {
    const watchers = new Watchers(30_000);
    const failure = new EnsembleError('memberFailed', 'one failed');
    const throwing = watchers.until('it', () => {
      throw new EnsembleError('notRunning', 'it does not run');
    });
    const waiting = watchers.until('it', () => null);
    await expect(throwing).rejects.toMatchObject({ code: 'notRunning' });
    watchers.fail(failure);
    watchers.fail(new EnsembleError('stopped', 'later'));
    await expect(waiting).rejects.toBe(failure);
    await expect(watchers.until('it', () => 'now')).rejects.toBe(failure);
  });
});
