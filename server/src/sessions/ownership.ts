/**
 * Which member serves which session, as the leader decides it; in memory only.
 *
 * After a leader change it is empty: every client connection was closed, so each session attaches
 * anew before its next request. Never looks at passwords or leases. Called by Leadership.
 */
import type { PeerId } from '@rookery/protocol';
import type { SessionId } from '../state/txn.js';

export class Ownership {
  get count(): number {
    throw new Error('skeleton');
  }
  ownerOf(_session: SessionId): PeerId | undefined {
    throw new Error('skeleton');
  }
  /** Returns the owner before, when that was another member: its connection must be closed. */
  move(_session: SessionId, _to: PeerId): PeerId | undefined {
    throw new Error('skeleton');
  }
  remove(_session: SessionId): void {
    throw new Error('skeleton');
  }
}
