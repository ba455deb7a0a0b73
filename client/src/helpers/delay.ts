/**
 * Waits for a time to pass, with the timers of the surroundings, unless a signal ends the wait. It
 * leaves neither a timer nor a listener behind. Called by the helpers that back off.
 */

import type { Surroundings } from '../api/surroundings.js';
import { onAbort } from '../calls/abort-followers.js';

/** Resolves after the time. Rejects with the reason of the first of the signals to be aborted. */
export function delay(
  surroundings: Surroundings,
  delayMs: number,
  signals: readonly (AbortSignal | undefined)[] = [],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const given = signals.filter((signal) => signal !== undefined);
    const aborted = given.find((signal) => signal.aborted);
    if (aborted !== undefined) {
      reject(aborted.reason);
      return;
    }
    const end = (settle: () => void) => {
      cancel();
      for (const unfollow of unfollows) unfollow();
      settle();
    };
    const cancel = surroundings.setTimer(delayMs, () => end(resolve));
    const unfollows = given.map((signal) =>
      onAbort(signal, () => end(() => reject(signal.reason))),
    );
  });
}
