/**
 * An entry that is held by a lock: nobody else receives it while the lease is held, it is removed
 * when it is done, and it is free again if its holder dies. Each way to end it is one transaction
 * with a check of the lock. A claim that fails leaves no lock behind.
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
import { LeaseLostError, TransactionError } from '../../api/errors.js';
import type { Lease } from '../../api/lease.js';
import type { TransactionOp } from '../../api/transaction.js';
import type { Node } from '../../api/values.js';
import { abandonContender, type Contender, createContender } from '../shared/contender.js';
import { localAddress } from '../shared/curator.js';
import { ensureThere } from '../shared/idempotent.js';
import { LeaseHolder } from '../shared/lease-holder.js';
import { bounds, isAmbiguous, persist, type Within } from '../shared/persist.js';
import { type ClaimPlan, readOrNull } from './claims.js';
import type { Entry } from './entry-source.js';

/** An entry that nobody else receives for as long as its lease is held. */
export class HeldEntry implements AsyncDisposable {
  readonly name: string;
  readonly path: string;
  /** The zxid at which it was put. */
  readonly czxid: bigint;
  readonly lease: Lease;
  readonly #client: Client;
  readonly #entry: Entry;
  readonly #within: Within;
  readonly #plan: ClaimPlan;
  #node: Node;

  /** Resolves with null if another consumer has the entry, or it is gone. */
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
        if (held === null) lease.release().catch(() => {}); // no caller has it yet
      }
    } finally {
      if (held === null) abandonContender(client, contender);
    }
  }

  private constructor(client: Client, { entry, lease, node, within, plan }: Holding) {
    this.#plan = plan;
    this.#node = node;
    this.name = entry.name;
    this.path = entry.path;
    this.czxid = node.stat.czxid;
    this.lease = lease;
    this.#client = client;
    this.#entry = entry;
    this.#within = { session: within.session, signal: lease.signal };
  }

  get data(): Buffer | null {
    return this.#node.data;
  }

  /** Whether it is still held, and neither done nor given back. */
  get held(): boolean {
    return this.lease.held;
  }

  get signal(): AbortSignal {
    return this.lease.signal;
  }

  /**
   * Removes the entry and commits `ops` with it, either all or nothing, so their effects happen
   * once for the entry. Rejects with LeaseLostError if it was lost before, or is lost meanwhile
   * (then `ambiguous`, because it may be done even so); with TransactionError (with the index into
   * `ops`) if one of them failed, and the entry is still held; with LeaseReleasedError once it is
   * over.
   */
  async done(ops: readonly TransactionOp[] = []): Promise<void> {
    await this.#remove(ops);
    await this.lease.release();
  }

  /**
   * Asks the server whether the lock exists, as of everything committed when it was called. False
   * once the entry is over. What must not happen twice must nevertheless use `done(ops)`.
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

  /** Gives the entry back to its position in the queue. Does nothing if it is over. */
  async release(): Promise<void> {
    const isGivenBack = this.held;
    await this.lease.release();
    if (isGivenBack) this.#plan.onGivenBack?.();
  }

  /** Moves it to the end of the queue (of its priority), in one transaction. */
  async requeue(): Promise<void> {
    await this.done([this.#copyIn(parentOf(this.path))]);
  }

  /**
   * Moves it to the end of another queue of the same kind, in one transaction. Creates the
   * directory of that queue's entries if necessary. Rejects with the errors of done().
   */
  async moveTo(queuePath: string): Promise<void> {
    const { acl, entriesIn } = this.#plan;
    const directory = entriesIn === undefined ? queuePath : joinPath(queuePath, entriesIn);
    await withDirectories(
      () => this.done([this.#copyIn(directory)]),
      () => ensureThere(this.#client, directory, acl === undefined ? {} : { acl }, this.#within),
    );
  }

  /**
   * Records that another attempt to process it begins, and resolves with the number of attempts by
   * all consumers, including those that died in it. The version of the entry's znode is the
   * counter; its data is unchanged, or what somebody has written there meanwhile. Rejects with
   * NoNodeError if the entry was deleted by others, and with LeaseLostError.
   */
  async countAttempt(): Promise<number> {
    for (;;) {
      const { data, stat } = this.#node;
      const noted = stat.version + 1;
      const op = { kind: 'setData', path: this.path, data, version: stat.version } as const;
      const { mayBeDone, error } = await this.#commit([op]);
      if (error === null) {
        this.#node = { data, stat: { ...stat, version: noted } };
        return noted;
      }
      if (!(error.error instanceof BadVersionError)) throw error.error;
      this.#node = await this.#read();
      if (mayBeDone && this.#node.stat.version === noted) return noted;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  #copyIn(directory: string): TransactionOp {
    const { acl } = this.#plan;
    const path = joinPath(directory, this.#entry.head);
    const given = acl === undefined ? {} : { acl };
    return { kind: 'create', path, data: this.data, mode: 'persistentSequential', ...given };
  }

  async #read(): Promise<Node> {
    try {
      return await persist(this.#client, this.#within, () =>
        this.#client.getData(this.path, bounds(this.#within)),
      );
    } catch (error) {
      throw this.#lossOr(error, false);
    }
  }

  async #remove(ops: readonly TransactionOp[]): Promise<void> {
    const removal = { kind: 'delete', path: this.path } as const;
    const { mayBeDone, error } = await this.#commit([removal, ...ops]);
    if (error === null) return;
    // An earlier attempt whose reply was lost has removed it, or somebody else has.
    const isGone = error.failedIndex === 0 && error.error instanceof NoNodeError;
    if (isGone && (mayBeDone || ops.length === 0)) return;
    if (error.failedIndex === 0) throw error.error;
    throw withoutFirst(error);
  }

  /**
   * Commits the operations if the lock still exists, otherwise rejects with LeaseLostError. Any
   * other failure is returned, with the index into `ops`, and whether an earlier attempt may have
   * been applied.
   */
  async #commit(ops: readonly TransactionOp[]): Promise<Committed> {
    const { signal, path: lockPath } = this.lease;
    signal.throwIfAborted();
    const all = [{ kind: 'check', path: lockPath } as const, ...ops];
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
      return { mayBeDone, error: null };
    } catch (error) {
      const reason = this.#lossOr(error, mayBeDone);
      if (!(reason instanceof TransactionError)) throw reason;
      if (reason.failedIndex > 0) return { mayBeDone, error: withoutFirst(reason) };
      throw new LeaseLostError('deleted', lockPath, { cause: error, ambiguous: mayBeDone });
    }
  }

  /** The reason why the lease is over, if it is; otherwise the error. */
  #lossOr(error: unknown, mayBeDone: boolean): unknown {
    const { signal, path } = this.lease;
    if (signal.reason instanceof LeaseLostError) {
      const options = { cause: error, ambiguous: mayBeDone };
      return new LeaseLostError(signal.reason.lossCause, path, options);
    }
    return signal.aborted ? signal.reason : error;
  }
}

interface Committed {
  readonly mayBeDone: boolean;
  readonly error: TransactionError | null;
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

/** Beyond this, somebody deletes directories on purpose. */
const ROUNDS_MAX = 10;

/** Commits. If a directory is missing that the operations need, creates it and commits again. */
export async function withDirectories(
  commit: () => Promise<void>,
  make: () => Promise<unknown>,
): Promise<void> {
  for (let round = 1; ; round++) {
    try {
      await commit();
      return;
    } catch (error) {
      const isMissing = error instanceof TransactionError && error.error instanceof NoNodeError;
      if (!isMissing || round === ROUNDS_MAX) throw error;
    }
    await make();
  }
}

/** The same failure, with indexes into the list without its first operation. */
function withoutFirst({ failedIndex, error, results }: TransactionError): TransactionError {
  const errors = results.slice(1).map((result) => (result instanceof Error ? result : null));
  return new TransactionError(failedIndex - 1, error, errors);
}
