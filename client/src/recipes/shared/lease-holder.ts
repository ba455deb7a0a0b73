/**
 * The lease on one ephemeral znode. It is held from the moment at which the caller knows that it
 * may be, until it is released or lost, and at that moment its signal is aborted.
 *
 * It is lost when the session is lost (which a process that runs notices before the server can
 * expire it), when the client is closed, when somebody deletes the znode (observed by a watch),
 * when the holder agrees to a revocation and, with the policy 'abort', when the connection is lost.
 * The znode is always deleted, and only after the signal is aborted: in the background, across lost
 * connections, until it is done or the session has ended (CURATOR-678). Used by every recipe that
 * grants leases.
 */
import { setMaxListeners } from 'node:events';
import { NoNodeError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import { ClientClosedError, LeaseLostError, LeaseReleasedError } from '../../api/errors.js';
import type { Lease, LeaseGuard, LeaseLossCause, SuspendedPolicy } from '../../api/lease.js';
import type { Node, WatchEvent } from '../../api/values.js';
import { type Contender, deleteContender } from './contender.js';
import { bounds, persist, type Within } from './persist.js';
import { onSessionOver } from './wait-scope.js';

export interface LeaseTerms {
  /** 'hold-until-lost' by default. */
  readonly onSuspended?: SuspendedPolicy | undefined;
  /** Called with the znode's data, first and at each change. It must not throw. */
  readonly onData?: ((data: Buffer | null, lease: LeaseHolder) => void) | undefined;
}

export class LeaseHolder implements Lease {
  readonly path: string;
  readonly sessionId: bigint;
  readonly fencingToken: bigint;
  readonly guards: readonly LeaseGuard[];
  readonly #client: Client;
  readonly #contender: Contender;
  readonly #terms: LeaseTerms;
  readonly #controller = new AbortController();
  readonly #undo: (() => void)[] = [];
  readonly #watcher = (event: WatchEvent) => this.#onEvent(event);
  #isWatched = false;
  #isFollowing = false;
  #deletion: Promise<void> | null = null;

  /**
   * The lease of a contender that is first in line; null if its znode does not exist any more. It
   * begins in the same turn in which the server has confirmed that the znode exists.
   */
  static async begin(
    client: Client,
    contender: Contender,
    within: Within,
    terms: LeaseTerms,
  ): Promise<LeaseHolder | null> {
    const lease = new LeaseHolder(client, contender, terms);
    try {
      const node = await lease.#confirm(within);
      if (node === null) return null;
      lease.#follow(node.data);
      return lease;
    } finally {
      if (!lease.#isFollowing) lease.#stopWatching();
    }
  }

  private constructor(client: Client, contender: Contender, terms: LeaseTerms) {
    this.path = contender.path;
    this.sessionId = contender.session.id;
    this.fencingToken = contender.czxid;
    // A request for revocation changes the data, so the version is not checked.
    this.guards = [{ path: `${client.prefix}${contender.path}`, version: -1 }];
    this.#client = client;
    this.#contender = contender;
    this.#terms = terms;
    setMaxListeners(0, this.#controller.signal);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get held(): boolean {
    return !this.#controller.signal.aborted;
  }

  /**
   * Resolves when the znode is deleted, or at once while there is no connection, and it is then
   * deleted in the background. Rejects only if the server refuses the deletion (NoAuthError).
   */
  async release(): Promise<void> {
    if (this.held) this.#end(new LeaseReleasedError(this.path), true);
    if (this.#deletion === null || this.#client.state !== 'connected') return;
    let onDisconnected = () => {};
    const disconnected = new Promise<void>((resolve) => {
      onDisconnected = this.#client.onState(({ state }) => {
        if (state !== 'connected') resolve();
      });
    });
    try {
      await Promise.race([this.#deletion, disconnected]);
    } finally {
      onDisconnected();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /** The holder gives it up because it was asked to; the znode is deleted at once. */
  revoke(): void {
    this.#lose('revoked');
  }

  /** Reads the znode and leaves a watch, at a moment when the lease may begin. */
  async #confirm(within: Within): Promise<Node | null> {
    for (;;) {
      const node = await persist(this.#client, within, () => this.#readIfThere(within));
      within.signal.throwIfAborted();
      if (node === null || !this.held || node.stat.czxid !== this.fencingToken) return null;
      const isConnected = this.#terms.onSuspended !== 'abort' || this.#client.state === 'connected';
      if (isConnected && this.#isWatched) return node;
    }
  }

  #follow(data: Buffer | null): void {
    this.#isFollowing = true;
    this.#undo.push(
      onSessionOver(this.#client, this.#contender.session, (reason) =>
        this.#lose(reason instanceof ClientClosedError ? 'closed' : 'expired'),
      ),
    );
    if (this.#terms.onSuspended === 'abort') {
      this.#undo.push(
        this.#client.onState(({ state }) => {
          if (state === 'suspended') this.#lose('suspended');
        }),
      );
    }
    this.#terms.onData?.(data, this);
  }

  async #readIfThere(within: Within): Promise<Node | null> {
    try {
      const watcher = this.#watcher;
      const node = await this.#client.getData(this.path, { ...bounds(within), watcher });
      this.#isWatched = true;
      return node;
    } catch (error) {
      if (error instanceof NoNodeError) return null;
      throw error;
    }
  }

  #onEvent(event: WatchEvent): void {
    this.#isWatched = false;
    switch (event.type) {
      case 'deleted':
        this.#lose('deleted');
        return;
      case 'lost':
        this.#lose('expired');
        return;
      case 'closed':
        this.#lose('closed');
        return;
      default:
        // The data was changed or somebody removed the watch, so a new watch is needed.
        if (this.held && this.#isFollowing) this.#readAgain().catch(() => this.#lose('deleted'));
    }
  }

  /** If it cannot be determined whether the znode still exists, the lease counts as lost. */
  async #readAgain(): Promise<void> {
    const within = { session: this.#contender.session, signal: this.signal };
    const node = await persist(this.#client, within, () => this.#readIfThere(within));
    if (!this.held) this.#stopWatching();
    else if (node?.stat.czxid !== this.fencingToken) this.#lose('deleted');
    else this.#terms.onData?.(node.data, this);
  }

  #lose(cause: LeaseLossCause): void {
    if (!this.held) return;
    const isNodeLeft = cause === 'suspended' || cause === 'revoked';
    this.#end(new LeaseLostError(cause, this.path), isNodeLeft);
  }

  /** The signal comes first: nobody else can get the lock before the znode is deleted. */
  #end(reason: Error, isNodeLeft: boolean): void {
    for (const undo of this.#undo.splice(0)) undo();
    this.#controller.abort(reason);
    this.#stopWatching();
    if (!isNodeLeft) return;
    this.#deletion = deleteContender(this.#client, this.#contender);
    // A caller of release() receives the error; otherwise nobody needs it.
    this.#deletion.catch(() => {});
  }

  #stopWatching(): void {
    if (!this.#isWatched) return;
    this.#isWatched = false;
    this.#client.removeWatcher(this.path, this.#watcher);
  }
}
