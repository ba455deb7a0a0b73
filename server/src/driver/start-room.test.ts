/**
 * Goal: a start without room on a disk waits, says so, and goes on by itself when there is room.
 * Method: disks that the test fills, and time that passes when the test says so.
 */
import { describe, expect, it } from 'vitest';
import { keptLog } from '../simulated/net/fixtures.js';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { withRoom } from './start-room.js';
import type { Space } from './write-bounds.js';

const MB = 1_000_000;
const full = (code: string) => Object.assign(new Error(`${code}: no space`), { code });

/** A disk of 100 GB, whose reserve is 2 GB; `spaces` may change, and misses what does not exist. */
function start(
  spaces: Record<string, number | 'hangs'>,
  {
    diskReserveBytes = null,
    signal,
  }: { diskReserveBytes?: number | null; signal?: AbortSignal } = {},
) {
  const { logger, lines } = keptLog();
  const timers = new ManualTimers();
  /** Errors of the next attempts to open. */
  const failures: Error[] = [];
  let attempts = 0;
  const open = async () => {
    attempts += 1;
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    return 'open';
  };
  const spaceOf = (directory: string): Promise<Space | null> => {
    const freeBytes = spaces[directory];
    if (freeBytes === 'hangs') return new Promise(() => undefined);
    return Promise.resolve(
      freeBytes === undefined ? null : { freeBytes, totalBytes: 100_000 * MB },
    );
  };
  const directories = { data: '/data/1', log: '/log/1' };
  const parts = { directories, diskReserveBytes, logger, timers, spaceOf };
  // It begins once the test has set what it meets.
  const opened = Promise.resolve().then(() => withRoom(open, parts, signal));
  const events = () => lines.map(({ msg }) => String(msg).split(':')[0]);
  return { opened, failures, attempts: () => attempts, lines, events, timers };
}

describe('the start of a member', () => {
  it('opens at once, without a line, where a tenth of the reserve is free', async () => {
    const { opened, events } = start({ '/data/1': 200 * MB, '/log/1': 200 * MB });
    expect(await opened).toBe('open');
    expect(events()).toEqual([]);
  });

  it.each(['/data/1', '/log/1'])(
    'waits for room in %s, with a line at once and one each minute, and opens when there is some',
    async (directory) => {
      const spaces = { '/data/1': 900 * MB, '/log/1': 900 * MB, [directory]: 199 * MB };
      const { opened, attempts, lines, events, timers } = start(spaces);
      await timers.advance(59_500);
      expect(events()).toEqual(['start.waits_for_room']);
      const found = { directory, freeBytes: 199 * MB, neededBytes: 200 * MB, waitedMs: 0 };
      expect(lines[0]).toMatchObject(found);
      await timers.advance(2_000);
      expect([events().length, attempts()]).toEqual([2, 0]);
      spaces[directory] = 200 * MB;
      await timers.advance(1_000);
      expect(await opened).toBe('open');
      expect(events().at(-1)).toBe('start.has_room');
    },
  );

  it('measures the parent of a directory that does not exist yet', async () => {
    const spaces: Record<string, number> = { '/data': 1 * MB, '/': 900 * MB };
    const { opened, attempts, lines, timers } = start(spaces);
    await timers.advance(500);
    expect(attempts()).toBe(0);
    expect(lines[0]).toMatchObject({ directory: '/data/1', freeBytes: 1 * MB });
    spaces['/data'] = 900 * MB;
    await timers.advance(1_000);
    expect(await opened).toBe('open');
  });

  it('needs some room where the setting reserves nothing', async () => {
    const spaces = { '/data/1': 1 * MB, '/log/1': 900 * MB };
    const { opened, lines, timers } = start(spaces, { diskReserveBytes: 0 });
    await timers.advance(500);
    expect(lines[0]).toMatchObject({ neededBytes: 2 * MB });
    spaces['/data/1'] = 2 * MB;
    await timers.advance(1_000);
    expect(await opened).toBe('open');
  });

  it.each(['ENOSPC', 'EDQUOT'])('tries again while opening fails with %s', async (code) => {
    const { opened, failures, attempts, lines, timers } = start({});
    failures.push(full(code), full(code));
    await timers.advance(500);
    expect(lines[0]).toMatchObject({ reason: `${code}: no space` });
    await timers.advance(2_000);
    expect([await opened, attempts()]).toEqual(['open', 3]);
  });

  it('fails with every other error of opening', async () => {
    const { opened, failures } = start({});
    failures.push(new Error('not mine'));
    await expect(opened).rejects.toThrow('not mine');
  });

  it('is not held up by a disk that does not say what is free', async () => {
    const { opened, timers } = start({ '/data/1': 'hangs' });
    await timers.advance(1_000);
    expect(await opened).toBe('open');
  });

  it.each([0, 'hangs'] as const)('waits no longer than until a stop (%s)', async (space) => {
    const stop = new AbortController();
    const { opened, attempts, timers } = start({ '/data/1': space }, { signal: stop.signal });
    const ended = expect(opened).rejects.toBe('SIGTERM');
    await timers.advance(300);
    stop.abort('SIGTERM');
    await ended;
    expect(attempts()).toBe(0);
  });
});
