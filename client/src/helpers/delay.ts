/**
 * Waiting for time to pass, by the surroundings' timers, unless a signal ends it before.
 * Leaves neither timer nor listener behind. Called by the helpers that back off.
 */
import { onAbort } from '../abort-followers.js';
import type { Surroundings } from '../api/surroundings.js';

/** Resolves after the time; rejects at once with the reason of the first signal aborted. */
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
