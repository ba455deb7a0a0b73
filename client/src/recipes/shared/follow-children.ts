/**
 * Following a directory for ever: who is in it, now and after each change, over lost connections
 * and sessions.
 *
 * One recursive persistent watch says which children have changed; only those are read again, and
 * all of them when changes may have been missed. Events say where to look, never what is there: the
 * reading that follows is at least as new, so order and number of events do not matter, and a slow
 * consumer skips states but not the last one. Grandchildren are not looked at.
 */
import { joinPath, NoNodeError, SessionExpiredError } from '@rookery/protocol';
import type { Client, WatchHandle } from '../../api/client.js';
import type { OperationOptions, WatchEvent } from '../../api/values.js';
import { Changes } from './changes.js';
import { WaitTimeoutError } from './errors.js';
import { bounds, persist, type Within } from './persist.js';
import { WaitScope } from './wait-scope.js';
import { openSession } from './waiting.js';

/** Requests of one reading at a time: a client refuses too many, and others want to get by. */
const IN_FLIGHT_MAX = 1_000;

/** Names and data; null where the data is, or was not asked for. */
export type ChildrenByName = ReadonlyMap<string, Buffer | null>;

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined;
  readonly withData: boolean;
}

/** One reading; empty when there is no such directory. */
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

/** Ends with the signal; throws ClientClosedError, or what the server refuses. */
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

  /** The present state at first, then each that differs from the one given before. */
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
      // Both replies may come together: it is taken away before the handle is here.
      if (!watch.isTakenAway) this.#handle = handle;
      if (this.#isForgotten) this.forget();
    }
  }

  #onEvent({ type, path }: WatchEvent): void {
    // Somebody took the watch away: it is set again before anything is read.
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

  /** What becomes stale during the reading is read at the next one. */
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

/** Undefined when it is gone. */
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
