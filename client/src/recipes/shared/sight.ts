/**
 * A look at one znode that leaves a watch: what stands there, and a promise of the first event
 * after it. Whoever looks and then waits misses nothing: between the reading and the watch there is
 * no gap, and the client carries the watch over lost connections.
 *
 * Whoever looks calls forget(), always; the watcher is then removed. One look, one event: to go on,
 * look again. Used by the recipes that follow a znode.
 */
import { NoNodeError, SessionExpiredError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Node, Stat, WatchEvent, Watcher } from '../../api/values.js';
import { ClientClosedError } from '../../errors.js';
import { bounds, persist, type Within } from './persist.js';
import { unlessAborted } from './wait-scope.js';

export interface Sight<T> {
  /** Null when there was no such znode. */
  readonly seen: T | null;
  /** Of a change, or of the end of the watch; never rejected. */
  readonly changed: Promise<WatchEvent>;
  forget(): void;
}

/** Data and stat; waits for a change of the data, the deletion, or the creation. */
export function lookAt(client: Client, path: string, within: Within): Promise<Sight<Node>> {
  return look(client, path, within, (watcher) => readNode(client, path, within, watcher));
}

/** The same without the data. */
export function lookAtStat(client: Client, path: string, within: Within): Promise<Sight<Stat>> {
  return look(client, path, within, (watcher) =>
    client.exists(path, { ...bounds(within), watcher }),
  );
}

/** The names of its children; waits for one to come or go, or for the znode to be created. */
export function lookAtChildren(
  client: Client,
  path: string,
  within: Within,
): Promise<Sight<readonly string[]>> {
  return look(client, path, within, (watcher) => readNames(client, path, within, watcher));
}

/** Resolves with a change; throws when the watch has ended with the session or the client. */
export async function changeOf(sight: Sight<unknown>, within: Within): Promise<void> {
  const event = await unlessAborted(sight.changed, within.signal);
  if (event.type === 'lost') throw new SessionExpiredError(event.path);
  if (event.type === 'closed') throw new ClientClosedError();
}

async function look<T>(
  client: Client,
  path: string,
  within: Within,
  read: (watcher: Watcher) => Promise<T | null>,
): Promise<Sight<T>> {
  let onEvent: Watcher = () => {};
  const changed = new Promise<WatchEvent>((resolve) => {
    onEvent = resolve;
  });
  const watcher: Watcher = (event) => onEvent(event);
  const forget = () => client.removeWatcher(path, watcher);
  try {
    const seen = await persist(client, within, () => read(watcher));
    return { seen, changed, forget };
  } catch (error) {
    forget();
    throw error;
  }
}

/**
 * On a znode that is not there getData leaves no watch, and exists does. If it was created between
 * the two, the first event may be about what the second getData shows already: one look more.
 */
async function readNode(
  client: Client,
  path: string,
  within: Within,
  watcher: Watcher,
): Promise<Node | null> {
  const options = { ...bounds(within), watcher };
  for (;;) {
    try {
      return await client.getData(path, options);
    } catch (error) {
      if (!(error instanceof NoNodeError)) throw error;
    }
    if ((await client.exists(path, options)) === null) return null;
  }
}

async function readNames(
  client: Client,
  path: string,
  within: Within,
  watcher: Watcher,
): Promise<readonly string[] | null> {
  const options = { ...bounds(within), watcher };
  for (;;) {
    try {
      return (await client.getChildren(path, options)).children;
    } catch (error) {
      if (!(error instanceof NoNodeError)) throw error;
    }
    if ((await client.exists(path, options)) === null) return null;
  }
}
