/**
 * How a queue's entry is got: by removing it, at most once, or by locking it, at least once.
 *
 * Both are safe against lost replies: a removal is committed with a mark (commit-once.ts), a lock's
 * znode begins with a GUID and is watched for as long as it is held. Nothing is locked after a
 * claim that fails.
 */
import {
  BadVersionError,
  joinPath,
  NodeExistsError,
  NoNodeError,
  nameOf,
  parentOf,
} from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Lease } from '../../api/lease.js';
import type { TransactionOp } from '../../api/transaction.js';
import type { Acl, Node } from '../../api/values.js';
import { LeaseLostError, TransactionError } from '../../errors.js';
import { abandonContender, type Contender, createContender } from '../shared/contender.js';
import { localAddress } from '../shared/curator.js';
import type { Doubt } from '../shared/doubt.js';
import { LeaseHolder } from '../shared/lease-holder.js';
import { bounds, isAmbiguous, persist, untilOver, type Within } from '../shared/persist.js';
import { commitOnce } from './commit-once.js';
import type { Entry } from './entry-source.js';

export interface ClaimPlan {
  /** Where marks are made. */
  readonly marks: string;
  readonly acl: readonly Acl[] | undefined;
  /** Data of the locks behind the GUID, for people. */
  readonly holderName?: string | undefined;
  /** Told when an entry that was locked has been given back here. */
  readonly onGivenBack?: (() => void) | undefined;
}

/**
 * The data of the entry, which is then removed; null when there is no such entry. The caller's
 * signal ends it until the removal is sent; after that the outcome is waited for as long as the
 * session lives, for an entry that is removed must be given to somebody.
 */
export async function removeEntry(
  client: Client,
  entry: Entry,
  plan: ClaimPlan,
  { within, doubt }: { readonly within: Within; readonly doubt: Doubt },
): Promise<{ readonly data: Buffer | null } | null> {
  for (;;) {
    const node = await readOrNull(client, entry.path, within);
    if (node === null) return null;
    within.signal.throwIfAborted();
    const ops = [{ kind: 'delete', path: entry.path, version: node.stat.version } as const];
    try {
      await commitOnce(client, { ops, ...plan }, untilOver(within.session), doubt);
      return { data: node.data };
    } catch (error) {
      if (!(error instanceof TransactionError)) throw error;
      if (error.error instanceof NoNodeError) return null;
      if (!(error.error instanceof BadVersionError)) throw error.error;
    }
  }
}

/** An entry that nobody else is given for as long as its lease is held. */
export class HeldEntry implements AsyncDisposable {
  readonly name: string;
  readonly path: string;
  readonly data: Buffer | null;
  /** Zxid at which it was put. */
  readonly czxid: bigint;
  readonly lease: Lease;
  readonly #client: Client;
  readonly #entry: Entry;
  readonly #within: Within;
  readonly #acl: readonly Acl[] | undefined;
  readonly #onGivenBack: (() => void) | undefined;

  /** Null when somebody else has it, or it is gone. */
  static async claim(
    client: Client,
    entry: Entry & { readonly lockPath: string },
    plan: ClaimPlan,
    within: Within,
  ): Promise<HeldEntry | null> {
    const contender = await lock(client, entry.lockPath, plan, within);
    if (contender === null) return null;
    let held: HeldEntry | null = null;
    try {
      const lease = await LeaseHolder.begin(client, contender, within, {});
      if (lease === null) return null;
      try {
        const node = await readOrNull(client, entry.path, within);
        within.signal.throwIfAborted();
        if (node !== null) held = new HeldEntry(client, { entry, lease, node, within, plan });
        return held;
      } finally {
        if (held === null) lease.release().catch(() => {}); // nobody has seen it
      }
    } finally {
      if (held === null) abandonContender(client, contender);
    }
  }

  private constructor(client: Client, { entry, lease, node, within, plan }: Holding) {
    this.#acl = plan.acl;
    this.#onGivenBack = plan.onGivenBack;
    this.name = entry.name;
    this.path = entry.path;
    this.data = node.data;
    this.czxid = node.stat.czxid;
    this.lease = lease;
    this.#client = client;
    this.#entry = entry;
    this.#within = { session: within.session, signal: lease.signal };
  }

  /** Whether it is ours still, and neither done nor given back. */
  get held(): boolean {
    return this.lease.held;
  }

  get signal(): AbortSignal {
    return this.lease.signal;
  }

  /**
   * Removes it for good, and `ops` are committed with it, all or nothing: what they do happens
   * once for the entry. LeaseLostError: it was lost before, or is while it may be done all the
   * same (`ambiguous`); TransactionError (with the index into
   * `ops`): one of them failed, and the entry is still held. Once it is over: LeaseReleasedError.
   */
  async done(ops: readonly TransactionOp[] = []): Promise<void> {
    await this.#remove(ops);
    await this.lease.release();
  }

  /**
   * Asks the server whether the lock stands, as of all that was committed when it was called. False
   * for one that is over. What must not happen twice goes through `done(ops)` all the same.
   */
  async holdsLock(): Promise<boolean> {
    if (!this.held) return false;
    const { path, fencingToken } = this.lease;
    try {
      await persist(this.#client, this.#within, () =>
        this.#client.sync(path, bounds(this.#within)),
      );
      const node = await readOrNull(this.#client, path, this.#within);
      return this.held && node?.stat.czxid === fencingToken;
    } catch (error) {
      if (!this.held) return false;
      throw error;
    }
  }

  /** Gives it back: it is the first of the queue again. Does nothing when it is over. */
  async release(): Promise<void> {
    const isGivenBack = this.held;
    await this.lease.release();
    if (isGivenBack) this.#onGivenBack?.();
  }

  /** Puts it to the end of the queue (of those with its priority), in one transaction. */
  async requeue(): Promise<void> {
    const path = joinPath(parentOf(this.path), this.#entry.head);
    const given = this.#acl === undefined ? {} : { acl: this.#acl };
    const mode = 'persistentSequential';
    await this.done([{ kind: 'create', path, data: this.data, mode, ...given }]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  async #remove(ops: readonly TransactionOp[]): Promise<void> {
    const { signal, path: lockPath } = this.lease;
    signal.throwIfAborted();
    const all = [
      { kind: 'check', path: lockPath } as const,
      { kind: 'delete', path: this.path } as const,
      ...ops,
    ];
    let mayBeDone = false;
    try {
      await persist(this.#client, this.#within, async () => {
        try {
          await this.#client.multi(all, bounds(this.#within));
        } catch (error) {
          mayBeDone ||= isAmbiguous(error);
          throw error;
        }
      });
    } catch (error) {
      const options = { cause: error, ambiguous: mayBeDone };
      if (signal.reason instanceof LeaseLostError) {
        throw new LeaseLostError(signal.reason.lossCause, lockPath, options);
      }
      signal.throwIfAborted();
      if (!(error instanceof TransactionError)) throw error;
      const { failedIndex } = error;
      if (failedIndex === 0) throw new LeaseLostError('deleted', lockPath, options);
      // An earlier attempt has removed it, whose reply was lost; or somebody by force.
      const isGone = failedIndex === 1 && error.error instanceof NoNodeError;
      if (isGone && (mayBeDone || ops.length === 0)) return;
      if (failedIndex === 1) throw error.error;
      throw new TransactionError(failedIndex - 2, error.error, errorsOf(error));
    }
  }
}

interface Holding {
  readonly entry: Entry;
  readonly lease: LeaseHolder;
  readonly node: Node;
  readonly within: Within;
  readonly plan: ClaimPlan;
}

async function lock(
  client: Client,
  path: string,
  { acl, holderName }: ClaimPlan,
  within: Within,
): Promise<Contender | null> {
  const token = client.surroundings.uuid();
  const plan = {
    parent: parentOf(path),
    prefix: nameOf(path),
    mode: 'ephemeral' as const,
    token,
    data: `${token}\n${holderName ?? localAddress()}`,
    acl,
  };
  try {
    return await createContender(client, plan, within);
  } catch (error) {
    if (error instanceof NodeExistsError) return null;
    throw error;
  }
}

export async function readOrNull(
  client: Client,
  path: string,
  within: Within,
): Promise<Node | null> {
  try {
    return await persist(client, within, () => client.getData(path, bounds(within)));
  } catch (error) {
    if (error instanceof NoNodeError) return null;
    throw error;
  }
}

function errorsOf({ results }: TransactionError): (Error | null)[] {
  return results.slice(2).map((result) => (result instanceof Error ? result : null));
}
