/**
 * Waiting for a znode to come, to go, or to have certain data; by watches, nothing polls.
 *
 * A wait goes on over lost connections and ends with the session that it began in, with the client,
 * by its signal or its deadline; no watcher and no timer is left behind. What is looked for is
 * looked for again after every event, so a change that was undone before it was seen is not seen.
 */

import {
  NoNodeError,
  OperationTimeoutError,
  SessionExpiredError,
  unreachable,
} from '@rookery/protocol';
import { onAbort } from '../abort-followers.js';
import type { Client } from '../api/client.js';
import type {
  Node,
  OperationOptions,
  Stat,
  WatchEvent,
  WatchedReadOptions,
  Watcher,
} from '../api/values.js';
import { checkCallOptions } from '../call-options.js';
import { ClientClosedError, OperationAbortedError } from '../errors.js';
import { retry } from './retry.js';
import { retryForever } from './retry-policy.js';

/**
 * Resolves with the Stat as soon as there is a znode at the path; at once if there is one.
 * `timeoutMs`, here and below, is of the whole wait, forever by default: OperationTimeoutError.
 */
export function waitForExistence(
  client: Client,
  path: string,
  options: OperationOptions = {},
): Promise<Stat> {
  return waitUntil(client, path, options, async (given) => {
    const stat = await client.exists(path, given);
    return stat === null ? PENDING : { value: stat };
  });
}

/** Resolves as soon as there is no znode at the path; at once if there is none. */
export function waitForDeletion(
  client: Client,
  path: string,
  options: OperationOptions = {},
): Promise<void> {
  return waitUntil(client, path, options, async (given) =>
    (await client.exists(path, given)) === null ? { value: undefined } : PENDING,
  );
}

/**
 * Resolves with what is there (null for no znode) as soon as `accepts` says so; asked first about
 * what is there now, then after each change. Rejects with what it throws.
 */
export function waitForData<N extends Node | null = Node | null>(
  client: Client,
  path: string,
  accepts: ((node: Node | null) => boolean) | ((node: Node | null) => node is N),
  options: OperationOptions = {},
): Promise<N> {
  const isAccepted = (node: Node | null): node is N => accepts(node);
  return waitUntil(client, path, options, async (given) => {
    const node = await readOrMiss(client, path, given);
    return isAccepted(node) ? { value: node } : PENDING;
  });
}

type Look<T> = (options: WatchedReadOptions) => Promise<{ readonly value: T } | null>;

const PENDING = null;
const POLICY = retryForever({ baseMs: 20, maxMs: 1_000 });

/** `look` must leave the watcher that it is given whenever it says PENDING. */
async function waitUntil<T>(
  client: Client,
  path: string,
  options: OperationOptions,
  look: Look<T>,
): Promise<T> {
  const scope = new AbortController();
  const close = limit(client, path, options, scope);
  const { signal } = scope;
  try {
    const session = await sessionOf(client, options, signal);
    for (;;) {
      const { changed, watcher } = newWatcher();
      try {
        const found = await retry(client, POLICY, (_, given) => look({ ...given, watcher }), {
          ...{ signal, session, idempotent: true },
        });
        if (found !== PENDING) return found.value;
        endsWait(path, await unlessAborted(changed, signal));
      } finally {
        client.removeWatcher(path, watcher);
      }
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    close();
  }
}

/** Gives what takes the limits away. */
function limit(
  client: Client,
  path: string,
  options: OperationOptions,
  scope: AbortController,
): () => void {
  checkCallOptions(options);
  const { signal, timeoutMs } = options;
  const end = () => {
    scope.abort(new OperationAbortedError(signal?.reason, { ambiguous: false, path }));
  };
  if (signal?.aborted) end();
  const unfollow = signal === undefined ? () => {} : onAbort(signal, end);
  const cancel =
    timeoutMs === undefined || timeoutMs === 0
      ? () => {}
      : client.surroundings.setTimer(timeoutMs, () => scope.abort(new OperationTimeoutError(path)));
  return () => {
    unfollow();
    cancel();
  };
}

async function sessionOf(
  client: Client,
  options: OperationOptions,
  signal: AbortSignal,
): Promise<bigint> {
  if (options.session !== undefined) return options.session;
  return client.session?.id ?? (await client.connected({ signal, timeoutMs: 0 })).id;
}

async function readOrMiss(
  client: Client,
  path: string,
  options: WatchedReadOptions,
): Promise<Node | null> {
  for (;;) {
    try {
      return await client.getData(path, options);
    } catch (error) {
      if (!(error instanceof NoNodeError)) throw error;
    }
    // Leaves the watch that getData leaves on no missing znode; created in between, it is read.
    if ((await client.exists(path, options)) === null) return null;
  }
}

function newWatcher(): { readonly changed: Promise<WatchEvent>; readonly watcher: Watcher } {
  let watcher: Watcher = () => {};
  const changed = new Promise<WatchEvent>((resolve) => {
    watcher = resolve;
  });
  return { changed, watcher };
}

function endsWait(path: string, event: WatchEvent): void {
  switch (event.type) {
    case 'lost':
      throw new SessionExpiredError(path);
    case 'closed':
      throw new ClientClosedError();
    case 'created':
    case 'deleted':
    case 'dataChanged':
    case 'childrenChanged':
    case 'resync':
    case 'removed':
      return;
    default:
      unreachable(event);
  }
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    promise.then(resolve, reject).finally(onAbort(signal, end));
  });
}
