/**
 * DoubleBarrier: members begin together, when there are enough of them, and end together.
 *
 * **Guarantee.** enter() resolves when `memberCount` members have been inside at one time, or join
 * a group that has begun (more than `memberCount` may enter). leave() resolves when all who were
 * inside when it was called have called leave() or have lost their sessions. No member waits for
 * one that comes later, and a `ready` that a crashed group has left lets nobody in.
 *
 * **Znodes.** Curator's DistributedDoubleBarrier: `<path>` (a container), `<path>/<uuid>` for each
 * member, ephemeral, and `<path>/ready`, persistent, made by the member that completes the group,
 * deleted with the last member's. To enter, a member watches `ready` only. To leave, as in the
 * ZooKeeper documentation: the member of the lowest name waits for the highest to go, every other
 * deletes its own znode and waits for the lowest.
 *
 * **Suspended.** Waiting goes on, and a member stays inside ('hold-until-lost'); or it is out
 * ('abort'). **Lost.** The member is out: its lease's signal is aborted, enter() and leave() fail,
 * and the others do not wait for it any more.
 */
import { joinPath, nameOf, SessionExpiredError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Lease, SuspendedPolicy } from '../api/lease.js';
import type { Acl, Data, Stat } from '../api/values.js';
import { LeaseLostError, OptionError } from '../errors.js';
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
  /** How many begin together, 1 or more. */
  readonly memberCount: number;
  /** Data of the member's znode, for people; this machine's address by default. */
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
   * Waits for the others. The lease stands for the place inside: its signal tells when it is lost,
   * its release() leaves without waiting. WaitTimeoutError, OperationAbortedError,
   * SessionExpiredError, ClientClosedError, LeaseLostError if somebody deleted the member's znode;
   * then the member is outside and nothing of it stays.
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
   * Waits until the others leave as well. However it ends, this member is outside. LeaseLostError
   * when the place had been lost: the others may have left without waiting.
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
   * Enters, runs the function, leaves. If the function fails, without waiting for the others. If it
   * does not, but the others are not left together with, BarrierLeaveError, which has its result.
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

  /** Ends when the member is lost as well, even though `ready` would never tell. */
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
   * The member that came last sees everybody, for its list is no older than its znode; so one of
   * the group always completes it, and the others watch nothing but `ready`.
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

/** Who leaves because of a failure waits for nothing; the znode goes in any case. */
function releaseInBackground(lease: LeaseHolder): void {
  lease.release().catch(() => {
    // Not permitted to delete it: the end of the session does.
  });
}
