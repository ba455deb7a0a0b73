/**
 * Deletes a znode and everything below it, children first, with many deletions in one multi.
 *
 * This is not atomic, and readers see the tree shrink. Others may create and delete there
 * meanwhile: missing znodes are ignored and new ones are deleted too, until a round finds no
 * children. A directory of any size is listed in pages if the server supports that. Deleting is
 * idempotent, so each batch is retried after a lost reply, within one session. Memory grows with
 * the depth of the tree, but not with its breadth.
 */
import { BadArgumentsError, joinPath, NoNodeError, NotEmptyError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { TransactionError } from '../api/errors.js';
import { exponentialBackoff, type RetryPolicy } from '../api/retry-policy.js';
import type { OperationOptions } from '../api/values.js';
import { operationOptions } from './options.js';
import { retry } from './retry.js';

export interface DeleteRecursiveOptions extends OperationOptions {
  /** The number of deletions in one multi, 1 to 1,000; default 250. */
  readonly batchSize?: number | undefined;
  /**
   * Whether to delete the znode itself; default true. If false, children created meanwhile may
   * remain.
   */
  readonly deleteSelf?: boolean | undefined;
  /** The retries of each batch; by default 10 with growing delays of up to 2 seconds. */
  readonly policy?: RetryPolicy | undefined;
}

const BATCH_SIZE_DEFAULT = 250;
const BATCH_SIZE_MAX = 1_000;
/** Larger requests would come close to the server's limit for a frame. */
const BATCH_PATH_BYTES_MAX = 256 * 1024;
/** If others create faster than we delete for so many rounds, they do it on purpose. */
const ROUNDS_MAX = 1_000;
const POLICY = exponentialBackoff({ baseMs: 50, maxMs: 2_000, attemptsMax: 10 });

/**
 * Resolves with whether there was anything to delete. Rejects with NotEmptyError if others keep
 * creating children, and with NoAuthError and the like at the first znode that may not be deleted.
 * `timeoutMs` applies to each operation, and the signal to the whole call.
 */
export async function deleteRecursive(
  client: Client,
  path: string,
  options: DeleteRecursiveOptions = {},
): Promise<boolean> {
  const { deleteSelf = true, batchSize = BATCH_SIZE_DEFAULT, policy = POLICY } = options;
  if (!Number.isInteger(batchSize) || batchSize < 1 || batchSize > BATCH_SIZE_MAX) {
    throw new BadArgumentsError(path);
  }
  if (path === '/' && client.prefix === '' && deleteSelf) throw new BadArgumentsError(path);
  const session = options.session ?? (await client.connected(options)).id;
  const operation = { ...operationOptions(options), session };
  const deleter = new Deleter(client, { operation, batchSize, policy });
  return await (deleteSelf ? deleter.deleteTree(path) : deleter.deleteBelow(path));
}

interface Settings {
  readonly operation: OperationOptions & { readonly session: bigint };
  readonly batchSize: number;
  readonly policy: RetryPolicy;
}

class Deleter {
  readonly #client: Client;
  readonly #settings: Settings;

  constructor(client: Client, settings: Settings) {
    this.#client = client;
    this.#settings = settings;
  }

  /**
   * Tries the znode as a leaf first, because only NotEmptyError can reliably tell that it has
   * children.
   */
  async deleteTree(path: string): Promise<boolean> {
    for (let round = 1; ; round++) {
      try {
        await this.#withRetries((options) => this.#client.delete(path, options));
        return true;
      } catch (error) {
        if (error instanceof NoNodeError) return round > 1;
        if (!(error instanceof NotEmptyError) || round === ROUNDS_MAX) throw error;
      }
      await this.deleteBelow(path);
    }
  }

  /** Makes one round over the children; false if there were none. */
  async deleteBelow(path: string): Promise<boolean> {
    let found = false;
    let batch: string[] = [];
    let bytes = 0;
    try {
      for await (const name of this.#client.listChildren(path, this.#settings.operation)) {
        // The server does not let any client delete what it keeps there.
        if (path === '/' && name === 'zookeeper' && this.#client.prefix === '') continue;
        found = true;
        const child = joinPath(path, name);
        batch.push(child);
        bytes += Buffer.byteLength(child);
        if (batch.length < this.#settings.batchSize && bytes < BATCH_PATH_BYTES_MAX) continue;
        await this.#deleteBatch(batch);
        batch = [];
        bytes = 0;
      }
    } catch (error) {
      if (!(error instanceof NoNodeError)) throw error;
    }
    await this.#deleteBatch(batch);
    return found;
  }

  async #deleteBatch(paths: readonly string[]): Promise<void> {
    const leaves: string[] = [];
    const trees: string[] = [];
    const counts = await Promise.all(paths.map((path) => this.#childCount(path)));
    for (const [index, path] of paths.entries()) {
      const count = counts[index] ?? null;
      if (count === 0) leaves.push(path);
      else if (count !== null) trees.push(path);
    }
    if (!(await this.#deleteAtOnce(leaves))) await this.#deleteEach(leaves);
    for (const path of trees) await this.deleteTree(path);
  }

  /** Sends all deletions at once. If any fails, rejects after all have settled. */
  async #deleteEach(paths: readonly string[]): Promise<void> {
    const settled = await Promise.allSettled(paths.map((path) => this.deleteTree(path)));
    for (const outcome of settled) {
      if (outcome.status === 'rejected') throw outcome.reason;
    }
  }

  /** Null if the znode does not exist. */
  async #childCount(path: string): Promise<number | null> {
    const stat = await this.#withRetries((options) => this.#client.exists(path, options));
    return stat === null ? null : stat.numChildren;
  }

  /** False if one of them was gone or had children; then nothing is deleted. */
  async #deleteAtOnce(paths: readonly string[]): Promise<boolean> {
    if (paths.length === 0) return true;
    const ops = paths.map((path) => ({ kind: 'delete', path }) as const);
    try {
      await this.#withRetries((options) => this.#client.multi(ops, options));
      return true;
    } catch (error) {
      const reason = error instanceof TransactionError ? error.error : null;
      if (reason instanceof NoNodeError || reason instanceof NotEmptyError) return false;
      throw reason ?? error;
    }
  }

  #withRetries<T>(operation: (options: OperationOptions) => Promise<T>): Promise<T> {
    const { operation: given, policy } = this.#settings;
    const { signal, session } = given;
    return retry(this.#client, policy, () => operation(given), {
      ...(signal === undefined ? {} : { signal }),
      session,
      idempotent: true,
    });
  }
}
