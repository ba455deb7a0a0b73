/**
 * The scope of one wait, from a call such as acquire() to its answer. It ends early when the
 * caller's signal is aborted, when its time is up, or when something that it depends on is over.
 * The operations of the wait use its `signal`, whose reason is the error for the caller.
 *
 * Each scope must be closed at the end with close(), which removes its timers and listeners. If it
 * ends for several reasons, the first one counts. Used by every recipe that waits.
 */
import { setMaxListeners } from 'node:events';
import { SessionExpiredError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import { ClientClosedError, OperationAbortedError } from '../../api/errors.js';
import type { Session, StateChange } from '../../api/values.js';
import { onAbort } from '../../calls/abort-followers.js';
import { checkCallOptions } from '../../calls/call-options.js';

/** How long a caller is willing to wait. */
export interface WaitOptions {
  /** Aborting it rejects with OperationAbortedError at once; nothing of the attempt remains. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The time limit in milliseconds; 0, the default, means no limit. An invalid value is an
   * OptionError.
   */
  readonly timeoutMs?: number | undefined;
}

export class WaitScope {
  readonly #controller = new AbortController();
  readonly #undo: (() => void)[] = [];

  /** `timeoutError` makes the caller's error when the time is up. Throws OptionError. */
  static open(client: Client, options: WaitOptions, timeoutError: () => Error): WaitScope {
    checkCallOptions(options);
    const scope = new WaitScope();
    const { signal, timeoutMs = 0 } = options;
    if (signal !== undefined) {
      scope.follow(signal, () => new OperationAbortedError(signal.reason, { ambiguous: false }));
    }
    if (timeoutMs > 0) {
      scope.#undo.push(client.surroundings.setTimer(timeoutMs, () => scope.end(timeoutError())));
    }
    return scope;
  }

  private constructor() {
    // Each operation of the wait adds a listener, and there may be many at once.
    setMaxListeners(0, this.#controller.signal);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get ended(): boolean {
    return this.#controller.signal.aborted;
  }

  end(error: unknown): void {
    this.#controller.abort(error);
  }

  /**
   * Ends with another signal, with the reason that `reason` returns, by default the signal's own.
   */
  follow(other: AbortSignal, reason: () => unknown = () => other.reason): void {
    const end = () => this.end(reason());
    if (other.aborted) {
      end();
      return;
    }
    this.#undo.push(onAbort(other, end));
  }

  /** A part of this wait that also ends with the session. */
  within(client: Client, session: Session): WaitScope {
    const part = new WaitScope();
    part.follow(this.signal);
    part.#undo.push(onSessionOver(client, session, (reason) => part.end(reason)));
    return part;
  }

  /** The caller's error for an error of the wait: why the wait ended, if it did. */
  errorOf(error: unknown): unknown {
    return this.ended ? this.signal.reason : error;
  }

  close(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }
}

/**
 * Calls back once when the session is over, with the reason; at once if it already is. It uses the
 * client's states, because a session has many leases and an AbortSignal warns of many listeners.
 */
export function onSessionOver(
  client: Client,
  session: Session,
  callback: (reason: unknown) => void,
): () => void {
  if (session.signal.aborted) {
    callback(session.signal.reason);
    return () => {};
  }
  const undo = client.onState((change) => {
    const isOver = change.state === 'lost' && change.sessionId === session.id;
    if (!session.signal.aborted && !isOver && change.state !== 'closed') return;
    undo();
    callback(session.signal.aborted ? session.signal.reason : reasonOf(change));
  });
  return undo;
}

function reasonOf({ state, error }: StateChange): Error {
  if (state === 'closed') return new ClientClosedError(error === null ? {} : { cause: error });
  return error ?? new SessionExpiredError();
}

/** Settles like the promise, unless the signal is aborted first; then rejects with its reason. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let unfollow = () => {};
  const aborted = new Promise<never>((_, reject) => {
    unfollow = onAbort(signal, () => reject(signal.reason));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    unfollow();
  }
}

/** Resolves after the time; rejects with the signal's reason if it is aborted first. */
export async function pause(client: Client, delayMs: number, signal: AbortSignal): Promise<void> {
  let cancel = () => {};
  const elapsed = new Promise<void>((resolve) => {
    cancel = client.surroundings.setTimer(delayMs, resolve);
  });
  try {
    await unlessAborted(elapsed, signal);
  } finally {
    cancel();
  }
}
