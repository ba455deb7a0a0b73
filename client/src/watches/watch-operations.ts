/**
 * The client's operations on watches, but for the reads that leave one: addWatch with its handles,
 * and the removals, here and on the server. Owns the handles; the session is behind `WatchChannel`.
 *
 * Paths are the server's. Always: here a watch begins and ends as the frame of its reply is
 * handled, not a promise later, so that what the registry holds is what the server has at that
 * point of the stream. Composed by the session's client.
 */
import {
  AddWatchMode,
  type AddWatchRequest,
  assert,
  type WatcherType,
  type WatchesRequest,
} from '@rookery/protocol';
import type { AddWatchOptions, WatchHandle } from '../api/client.js';
import type { OperationOptions, Watcher } from '../api/values.js';
import type { DroppedWatch, PersistentWatch, WatchRegistry } from './watch-registry.js';

/** The session, as far as watches need it. */
export interface WatchChannel {
  /** Whether requests are being answered; while not, no server has a watch of this session. */
  readonly connected: boolean;
  /**
   * Queues a request, as for every operation. `onDone` is called when its reply says success, as
   * the frame is handled, before any later one; never after the promise was rejected.
   */
  addWatch(request: AddWatchRequest, options: OperationOptions, onDone: () => void): Promise<void>;
  removeWatches(
    request: WatchesRequest,
    options: OperationOptions,
    onDone: () => void,
  ): Promise<void>;
  checkWatches(request: WatchesRequest, options: OperationOptions): Promise<void>;
}

export class WatchOperations {
  readonly #registry: WatchRegistry;
  readonly #channel: WatchChannel;

  constructor(registry: WatchRegistry, channel: WatchChannel) {
    this.#registry = registry;
    this.#channel = channel;
  }

  /** Sent even when the server has the watch already: then its reply says from when it stands. */
  async addWatch(
    path: string,
    watcher: Watcher,
    options: AddWatchOptions = {},
  ): Promise<WatchHandle> {
    const { recursive = false, ...operation } = options;
    let watch: PersistentWatch | undefined;
    const adding = this.#requestWatch(path, recursive, operation, () => {
      watch = this.#registry.addPersistent(path, recursive, watcher);
    });
    if (!recursive) this.#keepRecursive(path);
    await adding;
    assert(watch !== undefined, () => `addWatch at ${path} succeeded without a reply`);
    return this.#handleOf(watch);
  }

  /**
   * To be called right after a read that leaves a watch was queued. Servers before 3.9 have one
   * mode for each path (ZOOKEEPER-4466): that read has made one-shot what was persistent there, so
   * it is asked for again. Newer ones have it still, and lose nothing. A recursive watch has no
   * part in the children, and if asked for again after their read would displace that one's watch.
   * `hasPassed`: whether anything was committed between the read's reply and now, when the watch
   * stands again; a recursive one may then have missed a change below.
   */
  keepPersistent(path: string, read: 'data' | 'child', hasPassed = () => false): void {
    for (const recursive of this.#registry.persistentModesAt(path)) {
      if (recursive && read === 'child') continue;
      // Fails with the connection only, and then all watches are put back on the next one.
      this.#requestWatch(path, recursive, {}, () => {
        if (recursive && hasPassed()) this.#registry.onReAdded(path);
      }).catch(() => undefined);
    }
  }

  /**
   * Servers before 3.9 have just made the recursive watch of this path one that hears nothing from
   * below, for good: it is asked for again. There it then stands in the place of the other, which
   * hears no 'childrenChanged'; and it may have missed what changed between the two requests.
   */
  #keepRecursive(path: string): void {
    if (!this.#registry.persistentModesAt(path).includes(true)) return;
    this.#requestWatch(path, true, {}, () => this.#registry.onReAdded(path)).catch(() => undefined);
  }

  /** Never fails: what matters has happened when it returns. */
  removeWatcher(path: string, watcher: Watcher): void {
    void this.#drop(this.#registry.remove(path, watcher));
  }

  async removeWatches(
    path: string,
    type: WatcherType,
    options: OperationOptions = {},
  ): Promise<void> {
    await this.#channel.removeWatches({ path, type }, options, () => {
      this.#registry.removeAll(path, type);
    });
  }

  async checkWatches(
    path: string,
    type: WatcherType,
    options: OperationOptions = {},
  ): Promise<void> {
    await this.#channel.checkWatches({ path, type }, options);
  }

  async #requestWatch(
    path: string,
    recursive: boolean,
    options: OperationOptions,
    onStands: () => void,
  ): Promise<void> {
    const pending = recursive ? 'recursive' : 'persistent';
    let isPending = true;
    const end = () => {
      if (isPending) this.#registry.end(pending, path);
      isPending = false;
    };
    this.#registry.begin(pending, path);
    try {
      await this.#channel.addWatch({ path, mode: modeOf(recursive) }, options, () => {
        onStands();
        end();
      });
    } finally {
      end();
      // Given up after it was sent, or the last handle removed meanwhile: the server has it for
      // nobody.
      void this.#drop(this.#registry.unusedPersistent(path, recursive));
    }
  }

  #handleOf(watch: PersistentWatch): WatchHandle {
    let removed: Promise<void> | undefined;
    return {
      path: watch.path,
      mode: modeOf(watch.recursive),
      remove: () => {
        removed ??= this.#drop(this.#registry.removePersistent(watch));
        return removed;
      },
    };
  }

  /**
   * Settles when the server has answered; never rejects. What it says changes nothing here: a
   * watch that only the server has is heard by nobody, and ends with the connection.
   */
  async #drop(dropped: readonly DroppedWatch[]): Promise<void> {
    if (!this.#channel.connected) return;
    const removals = dropped.map((request) =>
      this.#channel.removeWatches(request, {}, () => undefined),
    );
    await Promise.allSettled(removals);
  }
}

function modeOf(recursive: boolean): AddWatchMode {
  return recursive ? AddWatchMode.persistentRecursive : AddWatchMode.persistent;
}
