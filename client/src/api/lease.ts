/**
 * The lease: what a recipe gives to whom it lets in. Types only.
 */

/** What may end a lease before its holder does. */
export type LeaseLossCause =
  /** The connection is gone; the lock may be lost soon. Only where `onSuspended` is 'abort'. */
  | 'suspended'
  /** The session is over, or so near its end that nobody can tell. */
  | 'expired'
  /**
   * Somebody deleted the lease's znode: it may be the server, which ends a session so and tells of
   * the deletion before it tells of the end.
   */
  | 'deleted'
  /** The client was closed. */
  | 'closed'
  /** Somebody asked for it and the holder's recipe consented. */
  | 'revoked';

/**
 * The right to act, until released or lost. While `signal` is not aborted nobody else holds it, as
 * far as clocks that run at nearly the same rate can promise; what must be safe even from a
 * stopped process is written through `client.fenced`, or carries `fencingToken` to a resource that
 * refuses lower ones.
 */
export interface Lease extends AsyncDisposable {
  /** The lease's own znode, as the client that took it sees paths. */
  readonly path: string;
  readonly sessionId: bigint;
  /**
   * The czxid of the lease's znode. Strictly grows from holder to holder of an exclusive lock,
   * is unique among holders of a shared one.
   */
  readonly fencingToken: bigint;
  /**
   * What a fenced transaction checks. By default: that a znode stands at `path`, as the client or
   * view that is asked sees it, which suffices only where that name never comes back, as with a
   * GUID in it. A lease on a fixed name must give guards that fail once the lease is over, whoever
   * holds the next one; best all leases do, for guards mean the same in every namespace.
   */
  readonly guards?: readonly LeaseGuard[];
  /**
   * Aborted with a LeaseLostError when the lease is lost, with LeaseReleasedError when released.
   */
  readonly signal: AbortSignal;
  /** True until released or lost. */
  readonly held: boolean;
  /** Idempotent; never throws for want of a connection: the znode is deleted in the background. */
  release(): Promise<void>;
}

/** A znode that must exist, with the version that its data must have, -1 for any. */
export interface LeaseGuard {
  /** As the server sees it: `client.prefix` and the path. */
  readonly path: string;
  readonly version: number;
}

/**
 * When a lease counts as lost: 'abort' at the first loss of the connection, 'hold-until-lost' (the
 * default) only when the session may be over. Both are safe; the first gives up more easily.
 */
export type SuspendedPolicy = 'abort' | 'hold-until-lost';
