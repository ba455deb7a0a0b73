/**
 * runAsLeader: work that one of many processes does for as long as it leads.
 *
 * **Guarantee.** The work runs in at most one process at a time, as far as LeaderLatch promises it,
 * and never twice at once in one process: the next run waits until the previous one has settled. A
 * process that is to stop keeps leading until its work has settled, so the next leader begins after
 * it.
 *
 * **Znodes.** Those of LeaderLatch; both may take part on one path.
 *
 * **Suspended.** The same as for LeaderLatch. **Lost.** The signal of the work is aborted. Once the
 * work has settled, this process takes part again in the client's next session.
 */

import type { Client } from '../api/client.js';
import type { Lease } from '../api/lease.js';
import { exponentialBackoff, type RetryPolicy } from '../api/retry-policy.js';
import { onAbort } from '../calls/abort-followers.js';
import { checkCallOptions, checkOptionNames } from '../calls/call-options.js';
import { delay } from '../helpers/delay.js';
import { LeaderLatch, type LeaderLatchOptions } from './leader-latch.js';

/** The argument of the work. */
export interface Leadership {
  /** For client.fenced(), and for its fencing token. */
  readonly lease: Lease;
  /** Aborted when the lease is lost or the runner is to stop; the work should then settle soon. */
  readonly signal: AbortSignal;
}

export interface LeaderRunOptions extends LeaderLatchOptions {
  /** Aborting it ends the run: once the work has settled, this process no longer takes part. */
  readonly signal?: AbortSignal | undefined;
  /**
   * What happens if the work fails while it leads: 'rejoin', the default, hands over to the next in
   * line, logs the error and takes part again after a pause; 'stop' hands over and rejects with the
   * error.
   */
  readonly onError?: 'rejoin' | 'stop' | undefined;
  /**
   * The pauses after runs that failed one after the other; by default random, up to 1 s at first
   * and up to 60 s later. When the policy gives up, the error ends the run as with 'stop'.
   */
  readonly backoff?: RetryPolicy | undefined;
}

const BACKOFF = exponentialBackoff({ baseMs: 1_000, maxMs: 60_000 });
const NAMES = ['acl', 'backoff', 'id', 'onError', 'onSuspended', 'signal'];

/**
 * Takes part until the signal is aborted, and does the work whenever this process leads. When the
 * work returns, the next in line leads, and this process takes part again after it. Resolves when
 * the signal was aborted and the work has settled. Rejects with ClientClosedError, with
 * OptionError, or with an error of the server, such as NoAuthError.
 */
export async function runAsLeader(
  client: Client,
  path: string,
  work: (leadership: Leadership) => unknown,
  options: LeaderRunOptions = {},
): Promise<void> {
  checkOptionNames(options, NAMES);
  const { signal, onError = 'rejoin', backoff = BACKOFF, ...latch } = options;
  checkCallOptions({ signal });
  const { log, surroundings } = client;
  let failures = 0;
  let failingSinceMs = 0;
  while (signal?.aborted !== true) {
    const failure = await leadOnce(new LeaderLatch(client, path, latch), work, signal);
    if (failure === null) {
      failures = 0;
      continue;
    }
    const { error } = failure;
    if (onError === 'stop') throw error;
    log.error('leader.work_failed', 'the work of a leader has failed', { path, err: error });
    if (failures === 0) failingSinceMs = surroundings.nowMs();
    const elapsedMs = surroundings.nowMs() - failingSinceMs;
    const delayMs = backoff(failures, elapsedMs, () => surroundings.random());
    if (delayMs === null) throw error;
    failures += 1;
    await pauseBeforeNext(client, delayMs, signal);
  }
}

/**
 * Resolves with the error of the work, or null if it ended well or because its lease or the runner
 * ended.
 */
async function leadOnce(
  latch: LeaderLatch,
  work: (leadership: Leadership) => unknown,
  stop: AbortSignal | undefined,
): Promise<{ readonly error: unknown } | null> {
  let lease: Lease;
  try {
    lease = await latch.waitForLeadership({ signal: stop });
  } catch (error) {
    await latch.close();
    if (stop?.aborted === true) return null;
    throw error;
  }
  // A latch joins the line again by itself; closing it delays that until the work has settled.
  const unfollow = onAbort(lease.signal, () => void latch.close().catch(() => {}));
  const signal = stop === undefined ? lease.signal : AbortSignal.any([lease.signal, stop]);
  try {
    await work({ lease, signal });
    return null;
  } catch (error) {
    return signal.aborted ? null : { error };
  } finally {
    unfollow();
    await latch.close();
  }
}

/** Resolves early when the runner is to stop or the client is closed; the loop checks both. */
async function pauseBeforeNext(
  client: Client,
  delayMs: number,
  stop: AbortSignal | undefined,
): Promise<void> {
  const closed = new AbortController();
  const check = () => {
    if (client.state === 'closed') closed.abort();
  };
  const unlisten = client.onState(check);
  check();
  try {
    await delay(client.surroundings, delayMs, [stop, closed.signal]);
  } catch (error) {
    if (stop?.aborted !== true && !closed.signal.aborted) throw error;
  } finally {
    unlisten();
  }
}
