/**
 * Waits for a znode to exist, to be gone, or to have certain data. It uses watches and never polls.
 *
 * A wait continues after lost connections. It ends with the session in which it began, with the
 * client, by its signal or its deadline, and leaves neither a watcher nor a timer behind. The
 * condition is checked again after every event, so a change that is undone before it was read goes
 * unnoticed.
 */

import {
  NoNodeError,
  OperationTimeoutError,
  SessionExpiredError,
  unreachable,
} from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { ClientClosedError, OperationAbortedError } from '../api/errors.js';
import { retryForever } from '../api/retry-policy.js';
import type {
  Node,
  OperationOptions,
  Stat,
  WatchEvent,
  WatchedReadOptions,
  Watcher,
} from '../api/values.js';
import { onAbort } from '../calls/abort-followers.js';
import { checkCallOptions } from '../calls/call-options.js';
import { retry } from './retry.js';

/**
 * Resolves with the Stat as soon as a znode exists at the path, at once if it does. Here and below,
 * `timeoutMs` limits the whole wait, with OperationTimeoutError; by default there is no limit.
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

/** Resolves as soon as no znode exists at the path, at once if none does. */
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
 * Resolves with the znode (null if there is none) as soon as `accepts` returns true for it.
 * `accepts` is called first with the current state and then after each change. Rejects with what it
 * throws.
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

/** When `look` returns PENDING, it must have left the watcher that it was given. */
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
          signal,
          session,
          idempotent: true,
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

/** Returns a function that removes the limits. */
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
    // getData leaves no watch if the znode is missing, so exists() does. If it was created in
    // between, it is read.
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
