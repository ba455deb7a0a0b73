/**
 * A read of one znode that leaves a watch: its result, and a promise of the first event after it. A
 * caller that reads and then waits misses nothing, because there is no gap between the read and the
 * watch, and the client keeps the watch across lost connections.
 *
 * The caller must call forget(), which removes the watcher. Each read yields one event; to
 * continue, read again. Used by the recipes that follow a znode.
 */
import { NoNodeError, SessionExpiredError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import { ClientClosedError } from '../../api/errors.js';
import type { Node, Stat, WatchEvent, Watcher } from '../../api/values.js';
import { bounds, persist, type Within } from './persist.js';
import { unlessAborted } from './wait-scope.js';

export interface Sight<T> {
  /** Null if there was no such znode. */
  readonly seen: T | null;
  /** The event of a change, or of the end of the watch; never rejected. */
  readonly changed: Promise<WatchEvent>;
  forget(): void;
}

/** Reads data and stat, and waits for a change of the data, the deletion, or the creation. */
export function lookAt(client: Client, path: string, within: Within): Promise<Sight<Node>> {
  return look(client, path, within, (watcher) => readNode(client, path, within, watcher));
}

/** The same without the data. */
export function lookAtStat(client: Client, path: string, within: Within): Promise<Sight<Stat>> {
  return look(client, path, within, (watcher) =>
    client.exists(path, { ...bounds(within), watcher }),
  );
}

/**
 * Reads the names of the children, and waits for a child to be created or deleted, or for the znode
 * to be created.
 */
export function lookAtChildren(
  client: Client,
  path: string,
  within: Within,
): Promise<Sight<readonly string[]>> {
  return look(client, path, within, (watcher) => readNames(client, path, within, watcher));
}

/** Resolves with a change; throws if the watch has ended with the session or the client. */
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
 * If the znode is missing, getData leaves no watch, but exists does. If the znode was created
 * between the two, the first event may describe what the second getData already shows, which costs
 * one more read.
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
