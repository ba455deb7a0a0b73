/**
 * The leader's decision: a request and the state it will meet make a transaction.
 *
 * Owns the next zxid, the time of transactions and the overlay of changes in flight. Whatever is
 * wrong with a request becomes an error transaction, which has a zxid too. Called by Leadership.
 */
import type { ForwardedRequest, PeerId, Zxid } from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { SessionId } from '../state/txn.js';
import type { PreparedTxn } from './leadership.js';

export class Prepare {
  constructor(_state: ReplicatedState) {
    throw new Error('skeleton');
  }
  /** Once, before the first `prepare`; the state is at `lastZxid`. */
  begin(_epoch: number, _lastZxid: Zxid, _firstCounter: number): void {
    throw new Error('skeleton');
  }
  prepare(
    _origin: PeerId,
    _request: ForwardedRequest,
    _wallMs: number,
    _random16: () => Uint8Array,
  ): PreparedTxn {
    throw new Error('skeleton');
  }
  /** The close of a session that nobody asked for; null when it is being closed already. */
  prepareExpiry(_session: SessionId, _wallMs: number): PreparedTxn | null {
    throw new Error('skeleton');
  }
  /** The transaction is in the state now: the overlay forgets it. */
  applied(_zxid: Zxid): void {
    throw new Error('skeleton');
  }
  counterLeft(): number {
    throw new Error('skeleton');
  }
}
