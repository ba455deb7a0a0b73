/**
 * What a proposal is: the unit of the replicated log.
 *
 * `body` is the transaction, encoded once by the leader; the same bytes go to every
 * follower and into every log. The core and the log never look inside it.
 *
 * Invariant: `previous` is the zxid of the proposal right before this one in the log, across
 * epochs too (0 for the very first); every path that carries proposals checks the chain.
 */

/** A transaction id: `epoch * 2^32 + counter`, epoch < 2^21, hence a safe integer. */
export type Zxid = number;

/** The `id` of a server in the configuration, 1 to 255. */
export type PeerId = number;

export interface Proposal {
  readonly zxid: Zxid;
  readonly previous: Zxid;
  readonly body: Uint8Array;
}
