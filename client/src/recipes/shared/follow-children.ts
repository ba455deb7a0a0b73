/**
 * Follows the children of a directory continuously, across lost connections and sessions.
 *
 * A recursive persistent watch tells which children have changed, and only those are read again;
 * all are read if changes may have been missed. Events only say what to read, never what the result
 * is. The read that follows is at least as new, so the order and the number of events do not
 * matter, and a slow consumer misses states but not the last one. Grandchildren are ignored.
 */
import { joinPath, NoNodeError, SessionExpiredError } from '@rookery/protocol';
import type { Client, WatchHandle } from '../../api/client.js';
import type { OperationOptions, WatchEvent } from '../../api/values.js';
import { Changes } from './changes.js';
import { WaitTimeoutError } from './errors.js';
import { bounds, persist, type Within } from './persist.js';
import { WaitScope } from './wait-scope.js';
import { openSession } from './waiting.js';

/**
 * How many requests of one read are in flight, because a client refuses too many, and other calls
 * have requests too.
 */
const IN_FLIGHT_MAX = 1_000;

/** Names and data. The data is null if the znode has none or it was not requested. */
export type ChildrenByName = ReadonlyMap<string, Buffer | null>;

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined;
  readonly withData: boolean;
}

/** Reads the children once; empty if there is no such directory. */
export async function readChildren(
  client: Client,
  path: string,
  withData: boolean,
  options: OperationOptions,
): Promise<Map<string, Buffer | null>> {
  try {
    const { children } = await client.getChildren(path, options);
    if (!withData) return new Map(children.map((name) => [name, null]));
    const found = new Map<string, Buffer | null>();
    for (let start = 0; start < children.length; start += IN_FLIGHT_MAX) {
      const read = children
        .slice(start, start + IN_FLIGHT_MAX)
        .map(async (name) =>
          toEntry(name, await readChild(client, joinPath(path, name), withData, options)),
        );
      for (const [name, data] of (await Promise.all(read)).flat()) found.set(name, data);
    }
    return found;
  } catch (error) {
    if (error instanceof NoNodeError) return new Map();
    throw error;
  }
}

/** Ends with the signal. Throws ClientClosedError, or an error of the server. */
export async function* followChildren(
  client: Client,
  path: string,
  { withData, ...wait }: FollowOptions,
): AsyncGenerator<ChildrenByName, void> {
  const scope = WaitScope.open(client, wait, () => new WaitTimeoutError(path, 0));
  const directory = new Directory(client, path, withData);
  try {
    for (;;) {
      const session = await openSession(client, scope, { onSessionLost: 'rejoin' });
      const part = scope.within(client, session);
      try {
        const within = { session, signal: part.signal };
        for (;;) yield await directory.next(within);
      } catch (error) {
        const reason = part.errorOf(error);
        if (!(reason instanceof SessionExpiredError)) throw reason;
      } finally {
        part.close();
      }
    }
  } catch (error) {
    if (wait.signal?.aborted !== true) throw error;
  } finally {
    scope.close();
    directory.forget();
  }
}

class Directory {
  readonly #client: Client;
  readonly #path: string;
  readonly #withData: boolean;
  readonly #changes = new Changes();
  #children: Map<string, Buffer | null> | null = null;
  #stale: Set<string> | 'all' = 'all';
  #handle: WatchHandle | null = null;
  #isForgotten = false;

  constructor(client: Client, path: string, withData: boolean) {
    this.#client = client;
    this.#path = path;
    this.#withData = withData;
  }

  /**
   * Resolves with the current state first, then with each one that differs from the previous one.
   */
  async next(within: Within): Promise<ChildrenByName> {
    for (;;) {
      await this.#watch(within);
      if (this.#stale === 'all' || this.#stale.size > 0) {
        const before = this.#children;
        const now = await this.#readStale(within);
        this.#children = now;
        if (before === null || !isSame(before, now)) return new Map(now);
      } else {
        await this.#changes.wait(within.signal);
      }
    }
  }

  forget(): void {
    this.#isForgotten = true;
    this.#handle?.remove().catch(() => {
      // Without a connection there is no watch to remove on a server.
    });
  }

  async #watch(within: Within): Promise<void> {
    const options = { ...bounds(within), recursive: true };
    while (this.#handle === null) {
      const watch = { isTakenAway: false };
      const watcher = (event: WatchEvent) => {
        if (event.type === 'removed') watch.isTakenAway = true;
        this.#onEvent(event);
      };
      const handle = await persist(this.#client, within, () =>
        this.#client.addWatch(this.#path, watcher, options),
      );
      // Both replies may arrive together, so the watch may be removed before its handle is here.
      if (!watch.isTakenAway) this.#handle = handle;
      if (this.#isForgotten) this.forget();
    }
  }

  #onEvent({ type, path }: WatchEvent): void {
    // Another call removed the watch, so it is set again before anything is read.
    if (type === 'removed') this.#handle = null;
    const below = this.#path === '/' ? '/' : `${this.#path}/`;
    const isNodeEvent = type === 'created' || type === 'deleted' || type === 'dataChanged';
    if (!isNodeEvent || path === this.#path) {
      this.#stale = 'all';
    } else {
      const name = path.slice(below.length);
      if (this.#stale === 'all' || name.includes('/')) return;
      this.#stale.add(name);
    }
    this.#changes.notify();
  }

  /** What changes during this read is read the next time. */
  async #readStale(within: Within): Promise<Map<string, Buffer | null>> {
    const stale = this.#stale;
    this.#stale = new Set();
    try {
      if (stale === 'all' || this.#children === null) {
        return await persist(this.#client, within, () =>
          readChildren(this.#client, this.#path, this.#withData, bounds(within)),
        );
      }
      const children = new Map(this.#children);
      for (const name of stale) children.delete(name);
      const read = [...stale].map(async (name) => {
        const path = joinPath(this.#path, name);
        const child = await persist(this.#client, within, () =>
          readChild(this.#client, path, this.#withData, bounds(within)),
        );
        return toEntry(name, child);
      });
      for (const [name, data] of (await Promise.all(read)).flat()) children.set(name, data);
      return children;
    } catch (error) {
      this.#stale = 'all';
      throw error;
    }
  }
}

/** Undefined if it is gone. */
async function readChild(
  client: Client,
  path: string,
  withData: boolean,
  options: OperationOptions,
): Promise<Buffer | null | undefined> {
  try {
    if (withData) return (await client.getData(path, options)).data;
    return (await client.exists(path, options)) === null ? undefined : null;
  } catch (error) {
    if (error instanceof NoNodeError) return undefined;
    throw error;
  }
}

function toEntry(name: string, child: Buffer | null | undefined): [string, Buffer | null][] {
  return child === undefined ? [] : [[name, child]];
}

function isSame(left: ChildrenByName, right: ChildrenByName): boolean {
  if (left.size !== right.size) return false;
  for (const [name, data] of left) {
    const other = right.get(name);
    if (other === undefined) return false;
    if (data === null ? other !== null : other === null || !data.equals(other)) return false;
  }
  return true;
}
