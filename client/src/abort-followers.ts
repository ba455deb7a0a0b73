/**
 * Following the AbortSignals of others: one listener of ours on each signal, however many of ours
 * wait for it.
 *
 * Node warns at the eleventh listener of a signal and looks through all of them for each further
 * one, so a signal that is shared by thousands of operations would cost minutes. Always: a signal
 * that nobody follows any more has no listener of ours. Used wherever a signal was given to us.
 */

/** What follows a signal; by its identity, so that no function is made for each. */
export interface AbortFollower {
  /** Called once, in the turn of the abort; not if unfollowed before, even by another follower. */
  onAbort(signal: AbortSignal): void;
}

interface Following {
  readonly followers: Set<AbortFollower>;
  readonly listener: () => void;
}

const followings = new WeakMap<AbortSignal, Following>();

/** As with a listener, of a signal that is aborted already nothing is heard. */
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

/** Idempotent. */
export function unfollowAbort(signal: AbortSignal, follower: AbortFollower): void {
  const present = followings.get(signal);
  if (present === undefined || !present.followers.delete(follower)) return;
  if (present.followers.size > 0) return;
  followings.delete(signal);
  signal.removeEventListener('abort', present.listener);
}

/** The same for a function; gives what undoes it. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const follower = { onAbort: callback };
  followAbort(signal, follower);
  return () => unfollowAbort(signal, follower);
}

function tell(signal: AbortSignal, followers: Set<AbortFollower>): void {
  // Those that one of them takes back meanwhile are not visited.
  for (const follower of followers) follower.onAbort(signal);
  followings.delete(signal);
}
