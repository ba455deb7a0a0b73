/**
 * The client's operations on watches, except for the reads that leave one: addWatch with its
 * handles, and the removals, both here and on the server. It owns the handles and uses the session
 * through `WatchChannel`.
 *
 * Paths are those of the server. A watch begins and ends here while the frame of its reply is
 * handled, and not later in a promise, so that the registry always matches the server at that point
 * of the stream. The session client composes it.
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

/** The part of the session that watches need. */
export interface WatchChannel {
  /** Whether requests are being answered. If not, no server has a watch of this session. */
  readonly connected: boolean;
  /** Of the headers of replies, that of the present one included. */
  readonly lastZxidSeen: bigint;
  /**
   * Queues a request, like any operation. `onDone` is called if the reply reports success, while
   * the frame is handled and before any later frame; never after the promise was rejected.
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

  /**
   * Sent even if the server already has the watch, because the reply tells from when on it is
   * active.
   */
  async addWatch(
    path: string,
    watcher: Watcher,
    options: AddWatchOptions = {},
  ): Promise<WatchHandle> {
    const { recursive = false, ...operation } = options;
    let watch: PersistentWatch | undefined;
    let addedAt: bigint | null = null;
    const adding = this.#requestWatch(path, recursive, operation, () => {
      watch = this.#registry.addPersistent(path, recursive, watcher);
      addedAt = this.#channel.lastZxidSeen;
    });
    if (!recursive) this.#keepRecursive(path, () => this.#channel.lastZxidSeen !== addedAt);
    await adding;
    assert(watch !== undefined, () => `addWatch at ${path} succeeded without a reply`);
    return this.#handleOf(watch);
  }

  /**
   * To be called right after a read that leaves a watch was queued. Servers before 3.9 have only
   * one mode for each path (ZOOKEEPER-4466), so that read replaces a persistent watch by a one-shot
   * one; the persistent watch is therefore requested again. Newer servers still have it and lose
   * nothing by that. A recursive watch is not affected by a read of children, and requesting it
   * again after such a read would replace the watch of that read. `hasPassed` tells whether
   * anything was committed between the reply of the read and now, when the watch is active again; a
   * recursive watch may then have missed a change below.
   */
  keepPersistent(path: string, read: 'data' | 'child', hasPassed = () => false): void {
    for (const recursive of this.#registry.persistentModesAt(path)) {
      if (recursive && read === 'child') continue;
      // It fails only with the connection, and then all watches are registered again on the next
      // one.
      this.#requestWatch(path, recursive, {}, () => {
        if (recursive && hasPassed()) this.#registry.onReAdded(path);
      }).catch(() => undefined);
    }
  }

  /**
   * On servers before 3.9, the request has just turned the recursive watch of this path into one
   * that never receives events from below, so the recursive watch is requested again. On such a
   * server it replaces the other watch, which then receives no 'childrenChanged'. The recursive
   * watch may have missed changes between the two requests, if anything was committed there.
   */
  #keepRecursive(path: string, hasPassed: () => boolean): void {
    if (!this.#registry.persistentModesAt(path).includes(true)) return;
    this.#requestWatch(path, true, {}, () => {
      if (hasPassed()) this.#registry.onReAdded(path);
    }).catch(() => undefined);
  }

  /** Never rejects. The watcher is already removed when this returns. */
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
      // The call was given up after it was sent, or its last handle was removed meanwhile, so
      // nobody needs the server's watch.
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
   * Settles when the server has answered, and never rejects. The answer makes no difference here:
   * nobody receives the events of a watch that only the server has, and it ends with the
   * connection.
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
