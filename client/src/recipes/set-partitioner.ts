/**
 * SetPartitioner: the members of a party divide a set among them, and divide it again when the
 * party changes.
 *
 * **Guarantee.** No item is in two partitions with unaborted signals at a time, even if members
 * disagree on who belongs to the party, because each item has a lock. When the party has been the
 * same for `settleMs` and earlier partitions were released, each item is in one partition, if all
 * members use the same function and set.
 *
 * **Znodes.** The same as for kazoo: `<path>/party/<uuid>-<identifier>`, a ShallowParty, and
 * `<path>/locks/<item>`, a kazoo Lock for each item. Directories are containers. It needs recursive
 * watches, so ZooKeeper 3.6 or Rookery.
 *
 * **States.** The same as for kazoo: 'allocating'; 'acquired'; 'release' when the party has changed
 * and the partition should be released; 'failure'. **Suspended.** Partitions are kept
 * ('hold-until-lost') or lost ('abort'). **Lost.** The partition is lost, and the loop joins the
 * party in the next session, or fails with SessionExpiredError (`onSessionLost: 'fail'`). A znode
 * of the party that another client deletes is created again.
 */
import { hostname } from 'node:os';
import { joinPath, SessionExpiredError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { SuspendedPolicy } from '../api/lease.js';
import type { Acl } from '../api/values.js';
import { onAbort } from '../calls/abort-followers.js';
import { Lock } from './lock.js';
import { shallowIdentifier } from './party.js';
import { untilAborted } from './shared/changes.js';
import { abandonContender, createContender } from './shared/contender.js';
import { WaitTimeoutError } from './shared/errors.js';
import { type ChildrenByName, followChildren } from './shared/follow-children.js';
import { allOrNone, ItemLocks } from './shared/item-locks.js';
import { Latest } from './shared/latest.js';
import { checkName } from './shared/name-check.js';
import type { Within } from './shared/persist.js';
import { unlessAborted, WaitScope } from './shared/wait-scope.js';
import { openSession } from './shared/waiting.js';
import type { SessionLossOptions } from './shared/waiting-line.js';

/**
 * Selects the member's items of the set. All members must use the same function, and its results
 * must not overlap.
 */
export type PartitionFunction = (
  identifier: string,
  members: readonly string[],
  set: readonly string[],
) => readonly string[];

export interface SetPartitionerOptions extends SessionLossOptions {
  /** The names of the items, which are parts of paths without slashes. */
  readonly set: readonly string[];
  /**
   * Must be unique in the party; by default made of this machine's name, the process id and a GUID.
   */
  readonly identifier?: string | undefined;
  /** Every nth item of the sorted set by default. */
  readonly partition?: PartitionFunction | undefined;
  /**
   * How long the party must be unchanged before the set is divided, in milliseconds; default
   * 30,000.
   */
  readonly settleMs?: number | undefined;
  readonly acl?: readonly Acl[] | undefined;
  readonly onSuspended?: SuspendedPolicy | undefined;
}

export type PartitionState = 'allocating' | 'acquired' | 'release' | 'failure';

/** A share of the set, which this member owns until it is lost or released. */
export interface Partition extends AsyncDisposable {
  readonly items: readonly string[];
  /** The members among which the set was divided, sorted. */
  readonly members: readonly string[];
  /**
   * Aborted, like that of a lease, when an item may belong to another member, after a loss or a
   * release.
   */
  readonly signal: AbortSignal;
  /** Aborted when the party has changed; then finish the current work and release the partition. */
  readonly changed: AbortSignal;
  /**
   * Releases the partition. Never rejects because of a lost connection. Calling it again has no
   * effect.
   */
  release(): Promise<void>;
}

const SETTLE_MS = 30_000;

export class SetPartitioner {
  readonly path: string;
  readonly identifier: string;
  readonly #client: Client;
  readonly #options: SetPartitionerOptions;
  #state: PartitionState = 'allocating';

  constructor(client: Client, path: string, options: SetPartitionerOptions) {
    for (const item of options.set) checkName('set', item);
    this.path = path;
    this.#client = client;
    this.#options = options;
    const unique = () => `${hostname()}-${process.pid}-${client.surroundings.uuid()}`;
    this.identifier = options.identifier ?? unique();
    checkName('identifier', `-${this.identifier}`);
  }

  get state(): PartitionState {
    return this.#state;
  }

  /**
   * Takes part for as long as the loop lasts. The member owns the partition while the body runs,
   * which should end soon after `changed` is aborted. When the body has finished, the partition is
   * kept until the party changes or it is lost; then it is released and the next one is yielded.
   * Aborting the signal of the options releases the partition and leaves the party at once, even
   * while the body runs, which the partition's signal informs; the loop then ends. Leaving the loop
   * does the same. Throws SessionExpiredError, ClientClosedError, or an error of the server, such
   * as NoAuthError.
   */
  async *partitions(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<Partition, void> {
    const { signal } = options;
    const { onSessionLost = 'rejoin' } = this.#options;
    const scope = WaitScope.open(this.#client, options, () => new WaitTimeoutError(this.path, 0));
    try {
      for (;;) {
        const session = await openSession(this.#client, scope, { onSessionLost });
        const part = scope.within(this.#client, session);
        try {
          yield* this.#partitionsIn({ session, signal: part.signal }, signal);
          return;
        } catch (error) {
          const reason = part.errorOf(error);
          const mayRejoin = onSessionLost === 'rejoin' && !scope.ended;
          if (!mayRejoin || !(reason instanceof SessionExpiredError)) throw reason;
        } finally {
          part.close();
        }
      }
    } catch (error) {
      if (signal?.aborted !== true) throw error;
    } finally {
      this.#state = 'failure';
      scope.close();
    }
  }

  /** Returns only by an error. */
  async *#partitionsIn(
    within: Within,
    stop: AbortSignal | undefined,
  ): AsyncGenerator<Partition, void> {
    const directory = joinPath(this.path, 'party');
    const uuid = this.#client.surroundings.uuid().replaceAll('-', '');
    const prefix = `${uuid}-${this.identifier}`;
    const { acl } = this.#options;
    const plan = { parent: directory, prefix, mode: 'ephemeral' as const, data: '0', acl };
    let member = await createContender(this.#client, plan, within);
    const follow = (signal: AbortSignal) =>
      followChildren(this.#client, directory, { signal, withData: false });
    let party = new Latest(follow);
    let given: Partition | null = null;
    let hasLeft = false;
    const leave = () => {
      // If the server refuses a deletion, the release at the end of the loop reports it.
      given?.release().catch(() => {});
      if (!hasLeft) abandonContender(this.#client, member);
      hasLeft = true;
    };
    const unfollowStop = stop === undefined ? () => {} : onAbort(stop, leave);
    try {
      for (;;) {
        this.#state = 'allocating';
        const names = await this.#settled(party, member.name, within.signal);
        if (names === null) {
          // Another client has deleted the znode: the others divide the set among themselves then.
          member = await createContender(this.#client, plan, within);
          // What is read from now on has it.
          await party.stop();
          party = new Latest(follow);
          continue;
        }
        const partition = await this.#allocate(names, party, within);
        if (partition === null) continue;
        given = partition;
        const isOver = AbortSignal.any([partition.signal, within.signal]);
        // Called synchronously with the loss, because the loop's body, or the wait for a session,
        // may take long.
        const unfollow = onAbort(isOver, () => {
          this.#state = 'allocating';
        });
        try {
          within.signal.throwIfAborted();
          const isChanged = partition.changed.aborted;
          if (!isOver.aborted) this.#state = isChanged ? 'release' : 'acquired';
          yield partition;
          await untilAborted(partition.changed, isOver);
        } finally {
          unfollow();
          await partition.release();
        }
        within.signal.throwIfAborted();
      }
    } finally {
      unfollowStop();
      leave();
      await party.stop();
    }
  }

  /**
   * Resolves with the members of the party once they have been the same for the required time; null
   * at once where this one's znode is not among them.
   */
  async #settled(
    party: Latest<ChildrenByName>,
    own: string,
    signal: AbortSignal,
  ): Promise<ChildrenByName | null> {
    const { settleMs = SETTLE_MS } = this.#options;
    for (;;) {
      const next = party.changes.next();
      const names = party.value;
      if (names !== null && !names.has(own)) {
        next.forget();
        return null;
      }
      let cancel = () => {};
      const isQuiet = new Promise<boolean>((resolve) => {
        if (names === null) return;
        cancel = this.#client.surroundings.setTimer(settleMs, () => resolve(true));
      });
      try {
        const hasChanged = next.happens.then(() => false);
        if ((await unlessAborted(Promise.race([isQuiet, hasChanged]), signal)) && names !== null) {
          return names;
        }
      } finally {
        cancel();
        next.forget();
      }
    }
  }

  /** Resolves with null if the party has changed before all locks could be acquired. */
  async #allocate(
    names: ChildrenByName,
    party: Latest<ChildrenByName>,
    within: Within,
  ): Promise<Partition | null> {
    const { set, partition = everyNth } = this.#options;
    if (party.value !== names) return null;
    const next = party.changes.next();
    const members = [...names.keys()].map(shallowIdentifier).filter((name) => name !== null);
    members.sort();
    const items = [...partition(this.identifier, members, set)];
    const changed = new AbortController();
    void next.happens.then(() => {
      if (this.#state === 'acquired') this.#state = 'release';
      changed.abort();
    });
    const wait = { signal: AbortSignal.any([within.signal, changed.signal]) };
    try {
      const leases = await allOrNone(items.map((item) => this.#lockOf(item).acquire(wait)));
      const locks = new ItemLocks(this.path, leases);
      const { signal } = locks;
      const release = () => locks.release();
      const given = { items, members, signal, changed: changed.signal };
      return { ...given, release, [Symbol.asyncDispose]: release };
    } catch (error) {
      within.signal.throwIfAborted();
      if (changed.signal.aborted) return null;
      throw error;
    }
  }

  #lockOf(item: string): Lock {
    const { acl, onSuspended } = this.#options;
    const policy = onSuspended === undefined ? {} : { onSuspended };
    const given = acl === undefined ? policy : { ...policy, acl };
    const options = { naming: 'kazoo', data: this.identifier, ...given } as const;
    return new Lock(this.#client, joinPath(joinPath(this.path, 'locks'), item), options);
  }
}

/** kazoo's function: deals the sorted set out to the sorted members. */
export function everyNth(
  identifier: string,
  members: readonly string[],
  set: readonly string[],
): string[] {
  const own = [...members].sort().indexOf(identifier);
  return [...set].sort().filter((_, index) => index % members.length === own);
}
