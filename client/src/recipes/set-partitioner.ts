/**
 * SetPartitioner: the members of a party divide a set among them, and divide it anew when one comes
 * or goes.
 *
 * **Guarantee.** No item is in two partitions with unaborted signals at a time, whatever members
 * think of who is there, for each item has a lock. When the party has been the same for `settleMs`
 * and partitions of before are released, each item is in one partition, if all use the same
 * function and set.
 *
 * **Znodes.** kazoo's: `<path>/party/<uuid>-<identifier>`, a ShallowParty; `<path>/locks/<item>`, a
 * kazoo Lock for each item. Directories are containers.
 *
 * **States.** As kazoo's: 'allocating'; 'acquired'; 'release' when the party has changed and the
 * partition is to be given back; 'failure'. **Suspended.** Partitions stand ('hold-until-lost') or
 * are lost ('abort'). **Lost.** The partition is lost and the loop joins the party in the next
 * session, or fails with SessionExpiredError (`onSessionLost: 'fail'`).
 */
import { hostname } from 'node:os';
import { joinPath, SessionExpiredError } from '@rookery/protocol';
import { onAbort } from '../abort-followers.js';
import type { Client } from '../api/client.js';
import type { SuspendedPolicy } from '../api/lease.js';
import type { Acl } from '../api/values.js';
import { LeaseLostError, OptionError } from '../errors.js';
import { Lock } from './lock.js';
import { shallowIdentifier } from './party.js';
import { untilAborted } from './shared/changes.js';
import { abandonContender, createContender } from './shared/contender.js';
import { WaitTimeoutError } from './shared/errors.js';
import { type ChildrenByName, followChildren } from './shared/follow-children.js';
import { allOrNone, ItemLocks } from './shared/item-locks.js';
import { Latest } from './shared/latest.js';
import type { Within } from './shared/persist.js';
import { unlessAborted, WaitScope } from './shared/wait-scope.js';
import { openSession } from './shared/waiting.js';
import type { SessionLossOptions } from './shared/waiting-line.js';

/** Which items of the set are the member's; the same for all members, and must not overlap. */
export type PartitionFunction = (
  identifier: string,
  members: readonly string[],
  set: readonly string[],
) => readonly string[];

export interface SetPartitionerOptions extends SessionLossOptions {
  /** Names of items: parts of paths, without a slash. */
  readonly set: readonly string[];
  /** Unique in the party; made of this machine's name, the process and a GUID by default. */
  readonly identifier?: string | undefined;
  /** Every nth item of the sorted set by default. */
  readonly partition?: PartitionFunction | undefined;
  /** How long the party must have been the same before it is divided by; default 30,000. */
  readonly settleMs?: number | undefined;
  readonly acl?: readonly Acl[] | undefined;
  readonly onSuspended?: SuspendedPolicy | undefined;
}

export type PartitionState = 'allocating' | 'acquired' | 'release' | 'failure';

/** A share of the set, this member's until lost or released. */
export interface Partition extends AsyncDisposable {
  readonly items: readonly string[];
  /** By whom the set was divided, sorted. */
  readonly members: readonly string[];
  /** Aborted, like a lease's, when an item may be another's: by loss or release. */
  readonly signal: AbortSignal;
  /** Aborted when the party has changed: finish the work at hand and give the partition back. */
  readonly changed: AbortSignal;
  /** Idempotent; never throws for want of a connection. */
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
    const wrong = options.set.find((item) => item === '' || item.includes('/'));
    if (wrong !== undefined) throw new OptionError('set', `has the item ${JSON.stringify(wrong)}`);
    this.path = path;
    this.#client = client;
    this.#options = options;
    const unique = () => `${hostname()}-${process.pid}-${client.surroundings.uuid()}`;
    this.identifier = options.identifier ?? unique();
  }

  get state(): PartitionState {
    return this.#state;
  }

  /**
   * Takes part for as long as the loop lasts. While the body runs the partition is its own: when
   * `changed` is aborted it should end soon. When the body is done the partition stands until the
   * party changes or it is lost; then it is released and the next one given. When the signal of
   * the options is aborted the partition is released and the party left at once, also while the
   * body runs, which the partition's signal tells; the loop then ends. The same when the loop is
   * left. Throws SessionExpiredError, ClientClosedError, or the server's answer, such as
   * NoAuthError.
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
    const member = await createContender(this.#client, plan, within);
    const party = new Latest((signal) =>
      followChildren(this.#client, directory, { signal, withData: false }),
    );
    let given: Partition | null = null;
    let hasLeft = false;
    const leave = () => {
      // The loop's own release reports it, should the server refuse a deletion.
      given?.release().catch(() => {});
      if (!hasLeft) abandonContender(this.#client, member);
      hasLeft = true;
    };
    const unfollowStop = stop === undefined ? () => {} : onAbort(stop, leave);
    try {
      for (;;) {
        this.#state = 'allocating';
        const names = await this.#settled(party, within.signal);
        if (!names.has(member.name)) throw new LeaseLostError('deleted', member.path);
        const partition = await this.#allocate(names, party, within);
        if (partition === null) continue;
        given = partition;
        const isOver = AbortSignal.any([partition.signal, within.signal]);
        // Told in the turn of the loss: the loop's body, or the wait for a session, may last.
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

  /** Who is in the party, once that has been the same for so long. */
  async #settled(party: Latest<ChildrenByName>, signal: AbortSignal): Promise<ChildrenByName> {
    const { settleMs = SETTLE_MS } = this.#options;
    for (;;) {
      const next = party.changes.next();
      const names = party.value;
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

  /** Null when the party has changed before all the locks were to be had. */
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

/** kazoo's: the sorted set dealt out to the sorted members. */
export function everyNth(
  identifier: string,
  members: readonly string[],
  set: readonly string[],
): string[] {
  const own = [...members].sort().indexOf(identifier);
  return [...set].sort().filter((_, index) => index % members.length === own);
}
