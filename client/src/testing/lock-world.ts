/**
 * The set-up for tests of locks: two clients of one in-memory server, each with a lock on the same
 * path, and functions that wait by turns of the event loop and never by time.
 */
import { WatcherType } from '@rookery/protocol';
import { LeaseLostError } from '../api/errors.js';
import type { Lease } from '../api/lease.js';
import { Lock, type LockOptions } from '../recipes/lock.js';
import { FakeClient } from './fake-client.js';
import { FakeServer } from './fake-server.js';
import { FakeSurroundings } from './fake-surroundings.js';

export const PATH = '/locks/a';

export function newClient(server: FakeServer, surroundings = new FakeSurroundings()): FakeClient {
  return new FakeClient(server, { surroundings });
}

export function newWorld() {
  const server = new FakeServer();
  const surroundings = new FakeSurroundings();
  const one = newClient(server, surroundings);
  const other = newClient(server, surroundings);
  return { server, surroundings, one, other };
}

export function newLocks(options: LockOptions = {}) {
  const world = newWorld();
  const lockOfOne = new Lock(world.one, PATH, options);
  const lockOfOther = new Lock(world.other, PATH, options);
  return { ...world, lockOfOne, lockOfOther };
}

/**
 * The next persistent watch on the path is removed by a reply that arrives together with its own.
 */
export function takeAwayNextWatch(client: FakeClient, path: string): void {
  const add = client.addWatch.bind(client);
  client.addWatch = async (...given) => {
    client.addWatch = add;
    const handle = await add(...given);
    client.watches.removeAll(path, WatcherType.any);
    return handle;
  };
}

/** The names in a directory; none if it does not exist. */
export function namesIn(server: FakeServer, path = PATH): string[] {
  return server.stat(path) === null ? [] : server.children(path);
}

/** Waits, by turns of the event loop, until the condition is true. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000; turn++) {
    if (isSo()) return;
    await new Promise(setImmediate);
  }
  throw new Error(`the condition is still false: ${isSo}`);
}

/** For what must not happen: waits for more turns than any message needs to arrive. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

export function lossCauseOf({ signal }: Lease): string {
  return signal.reason instanceof LeaseLostError ? signal.reason.lossCause : 'none';
}
