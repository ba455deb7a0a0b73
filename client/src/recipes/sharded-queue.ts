/**
 * ShardedQueue: one queue in several directories, for more entries than one directory can hold,
 * like Curator's QueueSharder.
 *
 * **Guarantee.** The same as for Queue, for each entry: exactly once in; at most once out without
 * `lockPath`, at least once with it. Only the entries of one shard are in order, and a put goes
 * into any shard.
 *
 * **Znodes.** `<path>/queue-<uuid>`, persistent, are the shards, each of them a Queue in Curator's
 * format, so that Curator's consumers can share them. `<lockPath>/queue-<uuid>/...` has the locks
 * of each shard. Markers of transactions in progress are in `<path>-in-flight`. `<path>-leader` is
 * a LeaderLatch of the processes that called `maintain()`: every `checkMs` the leader checks
 * whether all shards are full, and if so adds one. This check is the only thing here that depends
 * on time. Shards are never removed.
 *
 * **Suspended, lost.** The same as for Queue; another process becomes the leader.
 */
import { joinPath } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { LeaseLostError, OptionError } from '../api/errors.js';
import type { Lease } from '../api/lease.js';
import { LeaderLatch } from './leader-latch.js';
import { CURATOR_ENTRY } from './queues/entry-names.js';
import { EntryQueue, type QueueOptions } from './queues/entry-queue.js';
import type { RawItem } from './queues/item-format.js';
import { putEntries } from './queues/putting.js';
import { ShardedSource, shardsIn } from './queues/sharded-source.js';
import { withAmbiguity } from './shared/doubt.js';
import { ensureThere } from './shared/idempotent.js';
import { bounds, isTrouble, persist, type Within } from './shared/persist.js';
import { pause, type WaitOptions } from './shared/wait-scope.js';

export interface ShardedQueueOptions<T = Buffer, In = RawItem> extends QueueOptions<T, In> {
  /** A shard with this many entries is full; 10,000 by default. */
  readonly shardEntriesMax?: number | undefined;
  /** The maximum number of shards; 10 by default. */
  readonly shardsMax?: number | undefined;
  /** The interval of the leader's checks, in milliseconds; 30,000 by default. */
  readonly checkMs?: number | undefined;
  /** `<path>-leader` by default. */
  readonly leaderPath?: string | undefined;
}

/**
 * `T` is the type of the items read, `In` of those put, both by the codec; without one, they are
 * bytes.
 */
export class ShardedQueue<T = Buffer, In = RawItem> extends EntryQueue<T, In> {
  readonly #leaderPath: string;
  readonly #shardEntriesMax: number;
  readonly #shardsMax: number;
  readonly #checkMs: number;

  constructor(client: Client, path: string, options: ShardedQueueOptions<T, In> = {}) {
    const source = new ShardedSource(client, { path, locks: options.lockPath ?? null });
    super(client, path, options, { layout: source.layout, source });
    this.#leaderPath = options.leaderPath ?? `${path}-leader`;
    this.#shardEntriesMax = options.shardEntriesMax ?? 10_000;
    this.#shardsMax = options.shardsMax ?? 10;
    this.#checkMs = options.checkMs ?? 30_000;
    if (!(this.#checkMs >= 1)) throw new OptionError('checkMs', 'must be at least 1');
  }

  /**
   * Puts one item into a shard; the first put creates one. Rejects with the errors of Queue.put.
   */
  async put(item: In, options: WaitOptions = {}): Promise<void> {
    await this.putAll([item], options);
  }

  /** Puts several items as one entry. */
  async putAll(items: readonly In[], options: WaitOptions = {}): Promise<void> {
    if (items.length === 0) return;
    const { marks, client } = this;
    const shard = await withAmbiguity(client, this.path, options, async (within) => {
      const shards = await shardsIn(client, this.path, within);
      const picked = shards[Math.floor(client.surroundings.random() * shards.length)];
      return picked ?? (await this.#addShard(within));
    });
    const plan = { directory: joinPath(this.path, shard), marks, acl: this.options.acl };
    await putEntries(client, plan, [{ head: CURATOR_ENTRY, data: this.encode(items) }], options);
  }

  /** The names of the shards. */
  async shards(options: WaitOptions = {}): Promise<readonly string[]> {
    return await this.#asking(options, (within) => shardsIn(this.client, this.path, within));
  }

  /** The number of entries of all shards that are not removed, including locked ones. */
  override async size(options: WaitOptions = {}): Promise<number> {
    return await this.#asking(options, async (within) => {
      const sizes = await this.#sizes(within);
      return sizes.reduce((sum, size) => sum + size, 0);
    });
  }

  /**
   * Takes part in the maintenance of the shards until the signal is aborted. Rejects with what has
   * ended it, such as NoAuthError or ClientClosedError.
   */
  async maintain({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { acl } = this.options;
    const given = acl === undefined ? {} : { acl };
    const latch = new LeaderLatch(this.client, this.#leaderPath, given);
    for await (const term of latch.leadership({ signal })) {
      try {
        await this.#lead(term, signal);
      } catch (error) {
        const isOver = signal.aborted || !term.held || error instanceof LeaseLostError;
        if (!isOver && !isTrouble(error)) throw error;
      }
    }
  }

  async #lead(term: Lease, signal: AbortSignal): Promise<void> {
    const over = AbortSignal.any([term.signal, signal]);
    while (!over.aborted) {
      await this.#asking({ signal: over }, (within) => this.#addIfFull(term, within));
      await pause(this.client, this.#checkMs, over);
    }
  }

  async #addIfFull(term: Lease, within: Within): Promise<void> {
    const sizes = await this.#sizes(within);
    const isRoom = sizes.some((size) => size < this.#shardEntriesMax);
    if (isRoom || sizes.length === 0 || sizes.length >= this.#shardsMax) return;
    const path = joinPath(this.path, this.#newName());
    const { acl } = this.options;
    const given = acl === undefined ? {} : { acl };
    await this.client.fenced(term, [{ kind: 'create', path, ...given }], bounds(within));
  }

  async #sizes(within: Within): Promise<number[]> {
    const shards = await shardsIn(this.client, this.path, within);
    return await persist(this.client, within, () =>
      Promise.all(
        shards.map(async (name) => {
          const stat = await this.client.exists(joinPath(this.path, name), bounds(within));
          return stat?.numChildren ?? 0;
        }),
      ),
    );
  }

  async #addShard(within: Within): Promise<string> {
    const name = this.#newName();
    const { acl } = this.options;
    const given = acl === undefined ? {} : { acl };
    await ensureThere(this.client, this.path, given, within);
    await ensureThere(this.client, joinPath(this.path, name), given, within);
    return name;
  }

  #newName(): string {
    return `${CURATOR_ENTRY}${this.client.surroundings.uuid()}`;
  }

  async #asking<T>(options: WaitOptions, attempt: (within: Within) => Promise<T>): Promise<T> {
    const given = { ...options, onSessionLost: 'rejoin' as const };
    return await withAmbiguity(this.client, this.path, given, attempt);
  }
}
