/**
 * The lease, which a recipe returns to whoever has acquired it. Types only.
 */

/** The reasons for which a lease may end before its holder releases it. */
export type LeaseLossCause =
  /**
   * The connection was lost, so the lock may soon be lost too. Only if `onSuspended` is 'abort'.
   */
  | 'suspended'
  /**
   * The session is over, or so close to its expiry that the client cannot tell: whatever the
   * `lossCause` of the session is, whose values are others (SessionLossCause).
   */
  | 'expired'
  /**
   * The znode of the lease was deleted. It may have been deleted by the server, which reports the
   * deletions of an expired session before it reports the expiry.
   */
  | 'deleted'
  /** The client was closed. */
  | 'closed'
  /** Another process requested a revocation and the holder's recipe agreed. */
  | 'revoked';

/**
 * The right to act until it is released or lost. While `signal` is not aborted, nobody else holds
 * the lease, provided that this process does not stand still and that the clocks run at nearly the
 * same rate. Where even a process that stood still must do no harm, write through `client.fenced`,
 * or pass `fencingToken` to a resource that rejects lower tokens.
 */
export interface Lease extends AsyncDisposable {
  /** The path of the lease's own znode, as the client that acquired it sees paths. */
  readonly path: string;
  readonly sessionId: bigint;
  /**
   * The czxid of the lease's znode. For an exclusive lock it strictly increases from holder to
   * holder; for a shared one it is unique to each holder.
   */
  readonly fencingToken: bigint;
  /**
   * What a fenced transaction checks. By default it checks that a znode exists at `path`, as seen
   * by the client or view that is used. That is sufficient only if the name is never used again,
   * for instance because it contains a GUID. A lease on a fixed name must supply guards that fail
   * once the lease is over, whoever holds the next one. It is best if every lease supplies guards,
   * because they mean the same in every namespace.
   */
  readonly guards?: readonly LeaseGuard[];
  /**
   * Aborted with a LeaseLostError when the lease is lost, or a LeaseReleasedError when it is
   * released.
   */
  readonly signal: AbortSignal;
  /** True until the lease is released or lost. */
  readonly held: boolean;
  /**
   * Releases the lease. Never rejects because of a lost connection: the znode is then deleted in
   * the background. Calling it again has no effect.
   */
  release(): Promise<void>;
}

/** A znode that must exist, and the version that its data must have, -1 for any. */
export interface LeaseGuard {
  /** The path as the server sees it, which is `client.prefix` followed by the path. */
  readonly path: string;
  readonly version: number;
}

/**
 * Determines when a lease counts as lost. With 'abort', the first loss of the connection ends it.
 * With 'hold-until-lost', the default, it ends only when the session may be over. Both are safe,
 * but 'abort' gives up leases that would have survived.
 */
export type SuspendedPolicy = 'abort' | 'hold-until-lost';
