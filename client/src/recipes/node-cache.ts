/**
 * NodeCache: a local copy of one znode, as Curator's NodeCache.
 *
 * **Guarantee.** The content is the znode as it was at some moment. Its zxid never decreases, and
 * in the end it equals the znode, however connections were lost. Each read leaves a watch, so no
 * change that lasts is missed. Several changes in a row may be reported as one, but a znode that
 * was deleted and created again is reported as deleted and created.
 *
 * **Znodes.** `<path>`, which need not exist, and is only read.
 *
 * **Suspended.** The content becomes outdated; after a reconnect it is read again and 'resynced' is
 * reported. **Lost.** The same happens in the client's next session.
 */
import type { Client } from '../api/client.js';
import type { Node } from '../api/values.js';
import { CacheBase } from './shared/cache-base.js';
import type { CachedNode } from './shared/cache-values.js';
import { Changes } from './shared/changes.js';
import type { DecodingOptions } from './shared/decoder.js';
import type { Within } from './shared/persist.js';
import { lookAt } from './shared/sight.js';
import { unlessAborted } from './shared/wait-scope.js';

export interface NodeCacheOptions<T> extends DecodingOptions<T> {}

/** `T` is the type that the codec reads; without one, it is the data itself. */
export class NodeCache<T = Buffer | null> extends CacheBase<T> {
  readonly #client: Client;
  readonly #returns = new Changes();
  #node: CachedNode | null = null;
  /** How many reconnects were seen, and how many of them were followed by a read. */
  #returnsSeen = 0;
  #returnsRead = 0;
  #stopListening: (() => void) | null = null;

  constructor(client: Client, path: string, options: NodeCacheOptions<T> = {}) {
    super(client, path, options);
    this.#client = client;
  }

  /** Null if there is no such znode, and before the first read. */
  get(): CachedNode | null {
    return this.#node;
  }

  /** Like get(), but decoded; throws the errors of the codec. */
  get value(): T | null {
    return this.#node === null ? null : this.decode(this.#node);
  }

  override snapshot(): Map<string, CachedNode> {
    return new Map(this.#node === null ? [] : [[this.path, this.#node]]);
  }

  override start(): void {
    super.start();
    this.#stopListening ??= this.#listenToReturns();
  }

  protected override async follow(within: Within): Promise<void> {
    for (;;) {
      const next = this.#returns.next();
      try {
        await this.#readAndWait(next.happens, within);
      } finally {
        next.forget();
      }
    }
  }

  async #readAndWait(returned: Promise<void>, within: Within): Promise<void> {
    const returnsSeen = this.#returnsSeen;
    const sight = await lookAt(this.#client, this.path, within);
    try {
      this.#take(sight.seen);
      this.#tellRead(returnsSeen);
      await unlessAborted(Promise.race([sight.changed, returned]), within.signal);
    } finally {
      sight.forget();
    }
  }

  protected override async release(): Promise<void> {
    this.#stopListening?.();
  }

  #listenToReturns(): () => void {
    let isAway = false;
    return this.#client.onState(({ state }) => {
      if (state === 'suspended' || state === 'lost') isAway = true;
      if (state !== 'connected' || !isAway) return;
      isAway = false;
      this.#returnsSeen += 1;
      this.#returns.notify();
    });
  }

  #tellRead(returnsSeen: number): void {
    const isFirst = !this.isInitialized;
    this.tellInitialized();
    if (returnsSeen === this.#returnsRead) return;
    this.#returnsRead = returnsSeen;
    if (!isFirst) this.tell({ type: 'resynced' });
  }

  /** Reads are sequential, and each is at least as new as the one before. */
  #take(seen: Node | null): void {
    const { path } = this;
    const old = this.#node;
    const node = seen === null ? null : { path, ...seen };
    // A znode that was created again also has a higher mzxid.
    if (old !== null && node !== null && node.stat.mzxid <= old.stat.mzxid) return;
    this.#node = node;
    if (old !== null && (node === null || node.stat.czxid !== old.stat.czxid)) {
      this.tell({ type: 'nodeDeleted', path, old, node: null });
      if (node !== null) this.tell({ type: 'nodeCreated', path, old: null, node });
    } else if (old !== null && node !== null) {
      this.tell({ type: 'nodeChanged', path, old, node });
    } else if (node !== null) {
      this.tell({ type: 'nodeCreated', path, old: null, node });
    }
  }
}
