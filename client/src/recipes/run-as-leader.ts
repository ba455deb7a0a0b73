/**
 * runAsLeader: work that one of many processes does, for as long as it leads.
 *
 * **Guarantee.** The work runs in at most one process at a time, as far as LeaderLatch promises it;
 * and in one process never twice at once: the next run waits until the one before has settled. A
 * process that is stopped keeps its place until its work has settled, so the next leader begins
 * after it, not beside it.
 *
 * **Znodes.** LeaderLatch's; both may take part on one path.
 *
 * **Suspended.** As for LeaderLatch. **Lost.** The signal of the work tells; once the work has
 * settled, this process takes part again, in the client's next session.
 */
import { onAbort } from '../abort-followers.js';
import type { Client } from '../api/client.js';
import type { Lease } from '../api/lease.js';
import { checkCallOptions, checkOptionNames } from '../call-options.js';
import { delay } from '../helpers/delay.js';
import { exponentialBackoff, type RetryPolicy } from '../helpers/retry-policy.js';
import { LeaderLatch, type LeaderLatchOptions } from './leader-latch.js';

/** What the work is given. */
export interface Leadership {
  /** For client.fenced(), and its fencing token for other resources. */
  readonly lease: Lease;
  /** Aborted when the lease is lost, or when the runner is to stop: settle soon then. */
  readonly signal: AbortSignal;
}

export interface LeaderRunOptions extends LeaderLatchOptions {
  /** Ends it: takes part no more, once the work has settled. */
  readonly signal?: AbortSignal | undefined;
  /**
   * What becomes of an error of the work, while it led: 'rejoin', the default, hands over to the
   * next in line, says so in the log and takes part again after a pause; 'stop' hands over and
   * rejects with it.
   */
  readonly onError?: 'rejoin' | 'stop' | undefined;
  /**
   * Pauses after runs that have failed one after the other; from 0 to 1 s at first and to 60 s
   * later by default. When it gives up, the error ends it as with 'stop'.
   */
  readonly backoff?: RetryPolicy | undefined;
}

const BACKOFF = exponentialBackoff({ baseMs: 1_000, maxMs: 60_000 });
const NAMES = ['acl', 'backoff', 'id', 'onError', 'onSuspended', 'signal'];

/**
 * Takes part until the signal is aborted, and does the work whenever this process leads. Work that
 * returns hands over to the next in line, and takes part again behind it. Resolves when the signal
 * was aborted and the work has settled. Rejects with ClientClosedError, with OptionError, or with
 * the server's answer, such as NoAuthError.
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

/** The error of the work, null when it ended well, or because its lease or the runner ended. */
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
  // A latch takes a new place by itself; here that waits for the work.
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

/** Resolves early when the runner is to stop or the client is closed; the loop looks for both. */
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
