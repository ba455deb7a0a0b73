/**
 * The leader's deadlines: until when each session may be silent.
 *
 * A session expires at the last reported touch + its timeout + the slack H (touches are reported
 * by heartbeat, up to H late), in buckets: at most one bucket later, never earlier. A touch only
 * moves a number; the session is looked at again when its old bucket comes up. Pure: the clock is
 * an argument (see LeaseClock), ms.
 */
import type { SessionId } from '../state/txn.js';

export class Leases {
  constructor(_options: { readonly slackMs: number; readonly bucketMs: number }) {
    throw new Error('skeleton');
  }
  get count(): number {
    throw new Error('skeleton');
  }
  /** A session that is alive from now on. */
  add(_session: SessionId, _timeoutMs: number, _nowMs: number): void {
    throw new Error('skeleton');
  }
  /** Unknown sessions are ignored: a touch may arrive after the close. */
  touch(_session: SessionId, _nowMs: number): void {
    throw new Error('skeleton');
  }
  remove(_session: SessionId): void {
    throw new Error('skeleton');
  }
  /** Takes out at most `max` sessions whose deadline has passed. */
  expired(_nowMs: number, _max: number): readonly SessionId[] {
    throw new Error('skeleton');
  }
}
