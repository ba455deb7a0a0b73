/**
 * DoubleBarrier: members begin together, when there are enough of them, and end together.
 *
 * **Guarantee.** enter() resolves when `memberCount` members were inside at the same time, or joins
 * a group that has already begun, so more than `memberCount` may enter. leave() resolves when all
 * members that were inside when it was called have called leave() or lost their sessions. No member
 * waits for one that arrives later, and a `ready` znode that a crashed group has left behind lets
 * nobody in.
 *
 * **Znodes.** The same as for Curator's DistributedDoubleBarrier: `<path>` (a container),
 * `<path>/<uuid>` for each member, ephemeral, and `<path>/ready`, persistent. The member that
 * completes the group creates `ready`, and it is deleted with the last member's znode. To enter, a
 * member watches only `ready`. Leaving follows the ZooKeeper documentation: the member with the
 * lowest name waits for the highest one to go, and every other member deletes its own znode and
 * waits for the lowest one.
 *
 * **Suspended.** Waits continue, and a member either stays inside ('hold-until-lost') or is outside
 * ('abort'). **Lost.** The member is outside: its lease's signal is aborted, enter() and leave()
 * fail, and the others no longer wait for it.
 */
import { joinPath, nameOf, SessionExpiredError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { LeaseLostError, OptionError } from '../api/errors.js';
import type { Lease, SuspendedPolicy } from '../api/lease.js';
import type { Acl, Data, Stat } from '../api/values.js';
import { abandonContender, createContender } from './shared/contender.js';
import { localAddress } from './shared/curator.js';
import { BarrierLeaveError, RecipeStateError, WaitTimeoutError } from './shared/errors.js';
import { Gathering } from './shared/gathering.js';
import { LeaseHolder } from './shared/lease-holder.js';
import { bounds, persist, type Within } from './shared/persist.js';
import { waitUntilGone } from './shared/predecessor.js';
import { runWithLease } from './shared/run.js';
import { changeOf, lookAtStat } from './shared/sight.js';
import { type WaitOptions, WaitScope } from './shared/wait-scope.js';
import { inSession } from './shared/waiting.js';

export interface DoubleBarrierOptions {
  /** How many members begin together, at least 1. */
  readonly memberCount: number;
  /** The data of the member's znode, for people; this machine's address by default. */
  readonly data?: Data | undefined;
  readonly acl?: readonly Acl[] | undefined;
  readonly onSuspended?: SuspendedPolicy | undefined;
}

export class DoubleBarrier {
  readonly path: string;
  readonly #client: Client;
  readonly #options: DoubleBarrierOptions;
  readonly #gathering: Gathering;
  #state: 'outside' | 'entering' | 'leaving' | { readonly inside: LeaseHolder } = 'outside';

  constructor(client: Client, path: string, options: DoubleBarrierOptions) {
    const { memberCount } = options;
    if (!Number.isSafeInteger(memberCount) || memberCount < 1) {
      throw new OptionError('memberCount', `must be an integer of at least 1, is ${memberCount}`);
    }
    this.path = path;
    this.#client = client;
    this.#options = options;
    this.#gathering = new Gathering(client, path, options.acl);
  }

  /**
   * Waits for the others. The lease represents the membership: its signal tells when that is lost,
   * and its release() leaves without waiting. Rejects with WaitTimeoutError, OperationAbortedError,
   * SessionExpiredError, ClientClosedError, or LeaseLostError if somebody deleted the member's
   * znode. In these cases the member is outside and leaves no znode behind.
   */
  async enter(options: WaitOptions = {}): Promise<Lease> {
    this.#expectOutside();
    this.#state = 'entering';
    try {
      const wait = { ...options, timeoutError: this.#timeoutError(options) };
      const lease = await inSession(this.#client, wait, (within) => this.#enter(within));
      this.#state = { inside: lease };
      return lease;
    } catch (error) {
      this.#state = 'outside';
      throw error;
    }
  }

  /**
   * Waits until the others leave too. However it ends, this member is outside. Rejects with
   * LeaseLostError if the membership had been lost, because the others may have left without
   * waiting.
   */
  async leave(options: WaitOptions = {}): Promise<void> {
    if (typeof this.#state === 'string') throw new RecipeStateError(this.path, 'not inside');
    const { inside: lease } = this.#state;
    this.#state = 'leaving';
    const scope = WaitScope.open(this.#client, options, this.#timeoutError(options));
    try {
      await this.#leave(lease, scope);
    } catch (error) {
      throw scope.errorOf(error);
    } finally {
      scope.close();
      releaseInBackground(lease);
      this.#state = 'outside';
    }
  }

  /**
   * Enters, runs the function and leaves. `timeoutMs` limits the wait to enter, and then again the
   * wait to leave. If the function fails, the member leaves without waiting for the others. If the
   * function succeeds but leaving together fails, rejects with BarrierLeaveError, which contains
   * the result.
   */
  async run<T>(fn: (lease: Lease) => T | PromiseLike<T>, options: WaitOptions = {}): Promise<T> {
    const lease = await this.enter(options);
    return await runWithLease(
      lease,
      async () => {
        const result = await fn(lease);
        try {
          await this.leave(options);
        } catch (cause) {
          throw new BarrierLeaveError(this.path, result, { cause });
        }
        return result;
      },
      { onLost: 'ignore' },
    );
  }

  async #enter(within: Within): Promise<LeaseHolder> {
    const { acl, onSuspended, data = localAddress() } = this.#options;
    const prefix = this.#client.surroundings.uuid();
    const plan = { parent: this.path, prefix, mode: 'ephemeral' as const, data, acl };
    const contender = await createContender(this.#client, plan, within);
    let lease: LeaseHolder | null = null;
    let isInside = false;
    try {
      lease = await LeaseHolder.begin(this.#client, contender, within, { onSuspended });
      if (lease === null) throw new LeaseLostError('deleted', contender.path);
      await this.#waitForGroup(lease, within);
      isInside = true;
      return lease;
    } finally {
      if (lease === null) abandonContender(this.#client, contender);
      else if (!isInside) releaseInBackground(lease);
    }
  }

  /** Ends if the membership is lost too, because `ready` would never show that. */
  async #waitForGroup(lease: LeaseHolder, within: Within): Promise<void> {
    const scope = WaitScope.open(this.#client, {}, this.#timeoutError({}));
    scope.follow(within.signal);
    scope.follow(lease.signal);
    const inside = { session: within.session, signal: scope.signal };
    try {
      while (!(await this.#isReady(lease.fencingToken, inside)));
      lease.signal.throwIfAborted();
    } catch (error) {
      throw scope.errorOf(error);
    } finally {
      scope.close();
    }
  }

  async #isReady(own: bigint, within: Within): Promise<boolean> {
    const sight = await lookAtStat(this.#client, this.#gathering.readyPath, within);
    try {
      if (await this.#letsIn(sight.seen, own, within)) return true;
      await changeOf(sight, within);
      return false;
    } finally {
      sight.forget();
    }
  }

  /**
   * The member that arrived last sees all members, because its list is no older than its znode. So
   * one member always completes the group, and the others need to watch only `ready`.
   */
  async #letsIn(ready: Stat | null, own: bigint, within: Within): Promise<boolean> {
    if (ready !== null && ready.mzxid > own) return true;
    const members = await this.#gathering.members(within);
    if (members.length >= this.#options.memberCount) {
      await this.#gathering.announce(within);
      return true;
    }
    return ready !== null && (await this.#gathering.hasMemberBefore(ready.mzxid, members, within));
  }

  async #leave(lease: LeaseHolder, scope: WaitScope): Promise<void> {
    lease.signal.throwIfAborted();
    const { session } = this.#client;
    if (session?.id !== lease.sessionId) throw new SessionExpiredError(lease.path);
    const part = scope.within(this.#client, session);
    const within = { session, signal: part.signal };
    try {
      await this.#leaveWithin(lease, within);
    } catch (error) {
      throw part.errorOf(error);
    } finally {
      part.close();
    }
  }

  async #leaveWithin(lease: LeaseHolder, within: Within): Promise<void> {
    const client = this.#client;
    const own = nameOf(lease.path);
    await persist(client, within, () => client.sync(this.path, bounds(within)));
    const ready = await this.#gathering.ready(within);
    const group = new Set(await this.#gathering.members(within));
    for (let isOut = false; ; ) {
      const members = await this.#gathering.members(within);
      if (!isOut) lease.signal.throwIfAborted();
      if (!isOut && !members.includes(own)) throw new LeaseLostError('deleted', lease.path);
      const others = members.filter((name) => name !== own && group.has(name)).sort();
      const [lowest] = others;
      const highest = others.at(-1);
      if (lowest === undefined || highest === undefined) break;
      const isLowest: boolean = !isOut && own < lowest;
      if (!isLowest) await lease.release();
      isOut = !isLowest;
      await waitUntilGone(client, joinPath(this.path, isLowest ? highest : lowest), within);
    }
    await this.#gathering.disperse(lease, ready, within);
  }

  #expectOutside(): void {
    if (this.#state === 'outside') return;
    const isLeft = typeof this.#state === 'object' && !this.#state.inside.held;
    if (!isLeft) throw new RecipeStateError(this.path, 'not outside');
    this.#state = 'outside';
  }

  #timeoutError(options: WaitOptions): () => Error {
    return () => new WaitTimeoutError(this.path, options.timeoutMs ?? 0);
  }
}

/** A member that leaves because of a failure does not wait; its znode is deleted in any case. */
function releaseInBackground(lease: LeaseHolder): void {
  lease.release().catch(() => {
    // If the server refuses the deletion, the end of the session deletes the znode.
  });
}
