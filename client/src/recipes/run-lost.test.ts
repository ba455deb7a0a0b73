/**
 * Whatever recipe runs a function under a lease: when the lease was lost on the way the caller
 * hears of it, unless it wants the result all the same.
 */
import { describe, expect, it } from 'vitest';
import type { Client } from '../api/client.js';
import { LeaseLostError } from '../api/errors.js';
import * as library from '../index.js';
import { newWorld } from '../testing/lock-world.js';
import type { RunOptions } from './shared/run.js';

const PATH = '/a';

type Run = (client: Client, fn: () => string, options: RunOptions) => Promise<string>;

const { Lock } = library;

const RUNS: Record<string, Run> = {
  Election: (client, fn, options) => new library.Election(client, PATH).run(fn, options),
  Lock: (client, fn, options) => new Lock(client, PATH).run(fn, options),
  MultiLock: (client, fn, options) =>
    new library.MultiLock(client, [new Lock(client, PATH), new Lock(client, '/b')]).run(
      fn,
      options,
    ),
  Mutex: (client, fn, options) => new library.Mutex(client, PATH).run(fn, options),
  ReadWriteLock: (client, fn, options) =>
    new library.ReadWriteLock(client, PATH).write.run(fn, options),
  RevocableLock: (client, fn, options) =>
    new library.RevocableLock(client, PATH, { onRevocationRequested: () => 'refuse' as const }).run(
      fn,
      options,
    ),
  Semaphore: (client, fn, options) =>
    new library.Semaphore(client, PATH, { maxLeases: 1 }).run(fn, options),
  SimpleLock: (client, fn, options) => new library.SimpleLock(client, PATH).run(fn, options),
};

describe.each(Object.entries(RUNS))('run() of %s', (_, run) => {
  it('rejects when the lease was lost while the function ran', async () => {
    const { one } = newWorld();
    const work = () => {
      one.expire();
      return 'done';
    };
    await expect(run(one, work, {})).rejects.toThrow(LeaseLostError);
    expect(await run(one, work, { onLost: 'ignore' })).toBe('done');
    expect(await run(one, () => 'held', {})).toBe('held');
  });
});
