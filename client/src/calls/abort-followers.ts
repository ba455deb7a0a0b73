/**
 * Lets any number of internal listeners share one listener on an AbortSignal that the caller owns.
 *
 * Node warns when a signal has eleven listeners, and scans all of them each time one is added, so a
 * signal shared by thousands of operations would cost minutes. A signal that nobody follows any
 * more has no listener of ours. Every part of the client that was given a signal uses this module.
 */

/**
 * A listener of a signal. It is told apart by its identity, so no closure is created for each one.
 */
export interface AbortFollower {
  /**
   * Called once, synchronously with the abort, unless it was removed before, even by another
   * follower.
   */
  onAbort(signal: AbortSignal): void;
}

interface Following {
  readonly followers: Set<AbortFollower>;
  readonly listener: () => void;
}

const followings = new WeakMap<AbortSignal, Following>();

/**
 * Begins to follow a signal. A signal that is already aborted calls nobody, as with any listener.
 */
export function followAbort(signal: AbortSignal, follower: AbortFollower): void {
  if (signal.aborted) return;
  const present = followings.get(signal);
  if (present !== undefined) {
    present.followers.add(follower);
    return;
  }
  const followers = new Set([follower]);
  const listener = () => tell(signal, followers);
  followings.set(signal, { followers, listener });
  signal.addEventListener('abort', listener, { once: true });
}

/** Stops following. Calling it again has no effect. */
export function unfollowAbort(signal: AbortSignal, follower: AbortFollower): void {
  const present = followings.get(signal);
  if (present === undefined || !present.followers.delete(follower)) return;
  if (present.followers.size > 0) return;
  followings.delete(signal);
  signal.removeEventListener('abort', present.listener);
}

/** Follows a signal with a function, and returns a function that stops following. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const follower = { onAbort: callback };
  followAbort(signal, follower);
  return () => unfollowAbort(signal, follower);
}

function tell(signal: AbortSignal, followers: Set<AbortFollower>): void {
  // A follower that is removed by another one during this loop is not called.
  for (const follower of followers) follower.onAbort(signal);
  followings.delete(signal);
}
