/**
 * BoundedQueue: a queue with a limited number of entries. A put into a full queue waits.
 *
 * **Guarantee.** The same as for Queue. In addition there are never more than `entriesMax` entries,
 * including locked ones, as long as all producers use a BoundedQueue (a requeued entry replaces
 * itself). Producers are served in the order of their puts.
 *
 * **Znodes.** The same as for Queue, and consumers may use either class. In addition `<path>-gate`
 * is a Lock: its holder watches the directory until there is room, then puts together with a check
 * of its lock, while other producers wait in its line. So only one client is notified when an entry
 * is consumed.
 *
 * **Suspended.** Waits continue. **Lost.** The same as for Queue. A producer that dies while it
 * holds the gate delays the others until its session has expired.
 */
import { joinPath, NoNodeError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { OptionError, TransactionError } from '../api/errors.js';
import type { Lease } from '../api/lease.js';
import { Lock } from './lock.js';
import { commitOnce } from './queues/commit-once.js';
import { CURATOR_ENTRY, PlainLayout } from './queues/entry-names.js';
import { EntryQueue, type QueueOptions } from './queues/entry-queue.js';
import type { RawItem } from './queues/item-format.js';
import type { Doubt } from './shared/doubt.js';
import { withAmbiguity } from './shared/doubt.js';
import type { Within } from './shared/persist.js';
import { changeOf, lookAtChildren } from './shared/sight.js';
import { type WaitOptions, WaitScope } from './shared/wait-scope.js';

export interface BoundedQueueOptions<T = Buffer, In = RawItem> extends QueueOptions<T, In> {
  /** The limit, at least 1. */
  readonly entriesMax: number;
  /** The path of the producers' lock; `<path>-gate` by default. */
  readonly gatePath?: string | undefined;
}

/**
 * `T` is the type of the items read, `In` of those put, both by the codec; without one, they are
 * bytes.
 */
export class BoundedQueue<T = Buffer, In = RawItem> extends EntryQueue<T, In> {
  readonly entriesMax: number;
  readonly #gate: Lock;

  constructor(client: Client, path: string, options: BoundedQueueOptions<T, In>) {
    const { entriesMax, gatePath = `${path}-gate`, acl } = options;
    if (!(entriesMax >= 1)) throw new OptionError('entriesMax', 'must be at least 1');
    super(client, path, options, { layout: PlainLayout });
    this.entriesMax = entriesMax;
    this.#gate = new Lock(client, gatePath, acl === undefined ? {} : { acl });
  }

  /** Appends one item as soon as there is room. Rejects with the errors of Queue.put. */
  async put(item: In, options: WaitOptions = {}): Promise<void> {
    await this.putAll([item], options);
  }

  /** Appends several items as one entry. */
  async putAll(items: readonly In[], options: WaitOptions = {}): Promise<void> {
    if (items.length === 0) return;
    const data = this.encode(items);
    await withAmbiguity(this.client, this.path, options, async (within, doubt) => {
      while (!(await this.#putThroughGate(data, within, doubt)));
    });
  }

  /** False if the lock was lost before anything was put. */
  async #putThroughGate(data: Buffer, within: Within, doubt: Doubt): Promise<boolean> {
    const gate = await this.#gate.acquire({ signal: within.signal });
    try {
      if (!(await this.#waitForRoom(gate, within))) return false;
      return await this.#putWith(gate, data, { within, doubt });
    } finally {
      // The caller must learn the result of the put; the lease deletes its own znode in any case.
      await gate.release().catch(() => {});
    }
  }

  /** False if the gate was lost meanwhile. */
  async #waitForRoom(gate: Lease, within: Within): Promise<boolean> {
    const scope = WaitScope.open(this.client, {}, () => new Error('there is no time limit'));
    scope.follow(within.signal);
    scope.follow(gate.signal);
    const inside = { session: within.session, signal: scope.signal };
    try {
      while (!(await this.#hasRoomAfterChange(inside)));
      return true;
    } catch (error) {
      within.signal.throwIfAborted();
      if (gate.held) throw error;
      return false;
    } finally {
      scope.close();
    }
  }

  async #hasRoomAfterChange(within: Within): Promise<boolean> {
    const sight = await lookAtChildren(this.client, this.path, within);
    try {
      const names = sight.seen ?? [];
      const count = names.filter((name) => PlainLayout.parse(name) !== null).length;
      if (count < this.entriesMax) return true;
      await changeOf(sight, within);
      return false;
    } finally {
      sight.forget();
    }
  }

  async #putWith(
    gate: Lease,
    data: Buffer,
    { within, doubt }: { readonly within: Within; readonly doubt: Doubt },
  ): Promise<boolean> {
    const { acl } = this.options;
    const given = acl === undefined ? {} : { acl };
    const path = joinPath(this.path, CURATOR_ENTRY);
    const ops = [
      { kind: 'check', path: gate.path } as const,
      { kind: 'create', path, data, mode: 'persistentSequential', ...given } as const,
    ];
    try {
      await commitOnce(this.client, { ops, marks: this.marks, acl }, within, doubt);
      return true;
    } catch (error) {
      if (!(error instanceof TransactionError)) throw error;
      if (error.failedIndex === 0 && error.error instanceof NoNodeError) return false;
      throw error.error;
    }
  }
}
