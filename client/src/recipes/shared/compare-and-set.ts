/**
 * One change of a znode's data that is made exactly once or not at all, or else ends with an
 * ambiguous error. It reads the data, asks what to write, writes if nothing has changed since, and
 * repeats otherwise.
 *
 * After a lost reply, the version tells whether the write has taken effect. If it has not changed,
 * the write was not applied. If it has increased by one, either our write or another one with the
 * same expected version was applied, and the data tells which. If it has increased further, it
 * cannot be determined. A run may continue in another session, because the pending write is
 * remembered.
 */
import { BadVersionError, NodeExistsError, NoNodeError, parentOf } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Acl, Data, Node } from '../../api/values.js';
import { saysAmbiguous } from './ambiguous.js';
import { inContainer } from './container-parent.js';
import { bounds, isTrouble, pauseBetween, persist, type Within } from './persist.js';

export interface Change<T> {
  readonly acl?: readonly Acl[] | undefined;
  /** Returns what to write after the data that was read; its errors go to the caller. */
  readonly next: (data: Buffer | null, isMissing: boolean) => { value: T; data: Data };
}

/** A write whose reply was lost. */
interface Pending<T> {
  readonly value: T;
  readonly data: Data;
  /** The znode that was read, null if there was none. */
  readonly before: { readonly czxid: bigint; readonly version: number } | null;
  readonly error: unknown;
}

export class CompareAndSet<T> {
  readonly #client: Client;
  readonly #path: string;
  readonly #change: Change<T>;
  #pending: Pending<T> | null = null;

  constructor(client: Client, path: string, change: Change<T>) {
    this.#client = client;
    this.#path = path;
    this.#change = change;
  }

  /** Whether a write was sent whose outcome is unknown. */
  get isUncertain(): boolean {
    return this.#pending !== null;
  }

  async run(within: Within): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const node = await persist(this.#client, within, () => this.#read(within));
      const pending = this.#pending;
      if (pending !== null && hasTakenEffect(pending, node)) return pending.value;
      this.#pending = null;
      const { value, data } = this.#change.next(node?.data ?? null, node === null);
      const before = node === null ? null : node.stat;
      try {
        await this.#write(data, before?.version ?? null, within);
        return value;
      } catch (error) {
        if (saysAmbiguous(error)) this.#pending = { value, data, before, error };
        within.signal.throwIfAborted();
        if (isTrouble(error)) await pauseBetween(this.#client, attempt, within.signal);
        else if (!isRefusal(error)) throw error;
      }
    }
  }

  /** The sync comes first, because a write with an outdated version would only be refused. */
  async #read(within: Within): Promise<Node | null> {
    try {
      await this.#client.sync(this.#path, bounds(within));
      return await this.#client.getData(this.#path, bounds(within));
    } catch (error) {
      if (error instanceof NoNodeError) return null;
      throw error;
    }
  }

  async #write(data: Data, version: number | null, within: Within): Promise<void> {
    const options = bounds(within);
    if (version !== null) {
      await this.#client.setData(this.#path, data, { ...options, version });
      return;
    }
    const { acl } = this.#change;
    const given = acl === undefined ? options : { ...options, acl };
    await inContainer(this.#client, parentOf(this.#path), { ...options, acl }, () =>
      this.#client.create(this.#path, data, given),
    );
  }
}

/** Throws the error of the write if it cannot be determined. */
function hasTakenEffect<T>({ before, data, error }: Pending<T>, node: Node | null): boolean {
  if (node === null) {
    if (before === null) return false;
    throw error;
  }
  const { stat } = node;
  if (before !== null && stat.czxid !== before.czxid) throw error;
  const steps = before === null ? stat.version + 1 : stat.version - before.version;
  if (steps === 0) return false;
  if (steps === 1) return isSameData(node.data, data);
  throw error;
}

function isSameData(left: Buffer | null, right: Data): boolean {
  const expected = right === null ? null : Buffer.from(right);
  if (left === null || expected === null) return left === expected;
  return left.equals(expected);
}

/** Another client has changed, created or deleted the znode since it was read. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof BadVersionError ||
    error instanceof NodeExistsError ||
    error instanceof NoNodeError
  );
}
