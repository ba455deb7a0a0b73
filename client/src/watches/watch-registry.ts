/**
 * All watchers of a client and what each waits for. It is synchronous and without I/O: the session
 * calls it as frames arrive and states change, in the order of the wire. Paths are the server's,
 * chroot included.
 *
 * A one-shot watcher is called exactly once, after its removal from here. A persistent one is never
 * called after its removal or its end. The actions and exceptions of one watcher do not affect the
 * calls of others. `rearm` lists exactly the watches that are registered.
 *
 * A watch that the server has and this registry does not costs one ignored event. The opposite
 * would lose a notification. So the server is never told to remove a watch that a request in flight
 * may have set (`begin`, `end`).
 */
import { EventType, unreachable, type WatcherEvent, WatcherType } from '@rookery/protocol';
import type { WatchEvent, Watcher } from '../api/values.js';
import { PathCounts } from './path-counts.js';
import { PathTable } from './path-table.js';
import { type RearmRequest, rearmRequests } from './rearm.js';

/**
 * `exist` is left by an exists that found nothing. One that found a znode leaves a `data` watch.
 */
export type WatchKind = 'data' | 'exist' | 'child';
/** The watch that a request in flight may set: by a read, or by an addWatch of either mode. */
export type PendingWatch = 'read' | 'persistent' | 'recursive';

/** One registration, so that a function may watch a path twice and be removed once. */
export interface PersistentWatch {
  readonly path: string;
  readonly recursive: boolean;
  readonly watcher: Watcher;
}

/** The watches that the server should be told to remove, as arguments of removeWatches. */
export interface DroppedWatch {
  readonly path: string;
  readonly type: WatcherType;
}

export class WatchRegistry {
  readonly #data = new PathTable<Watcher>();
  readonly #exist = new PathTable<Watcher>();
  readonly #child = new PathTable<Watcher>();
  readonly #persistent = new PathTable<PersistentWatch>();
  readonly #recursive = new PathTable<PersistentWatch>();
  /**
   * The length of the longest path ever watched recursively. It bounds the search through
   * ancestors.
   */
  #recursiveLengthMax = 0;
  readonly #pending = {
    read: new PathCounts(),
    persistent: new PathCounts(),
    recursive: new PathCounts(),
  };
  /**
   * One-shot watchers of the events that are being reported, so that a removal still finds them.
   */
  readonly #taken: { readonly path: string; readonly watchers: Set<Watcher> }[] = [];
  readonly #report: (error: unknown) => void;
  /** As of the last event, because the next connection may be to a server of another version. */
  #tellsZxids = false;
  /** Since which zxid events may be missing, or null if none is. */
  #missedSince: bigint | null = null;

  /** `report` is called with the exceptions of watchers. It must not throw. */
  constructor(report: (error: unknown) => void = throwUncaught) {
    this.#report = report;
  }

  /** The number of watchers of all kinds, each counted once per path and kind. */
  get size(): number {
    const { size: persistent } = this.#persistent;
    const { size: recursive } = this.#recursive;
    return this.#data.size + this.#exist.size + this.#child.size + persistent + recursive;
  }

  /** The number of requests in flight that may set a watch; 0 when all are settled. */
  get pendingCount(): number {
    const { read, persistent, recursive } = this.#pending;
    return read.size + persistent.size + recursive.size;
  }

  /** Called when a request that sets a watch is accepted, whether or not it was sent. */
  begin(pending: PendingWatch, path: string): void {
    this.#pending[pending].increment(path);
  }

  /**
   * Called when that request is settled, whatever the result; after `add` or `addPersistent` if it
   * succeeded.
   */
  end(pending: PendingWatch, path: string): void {
    this.#pending[pending].decrement(path);
  }

  /** The reply to a read that asked for a watch has arrived, so the server has the watch. */
  add(kind: WatchKind, path: string, watcher: Watcher): void {
    this.#tableOf(kind).add(path, watcher);
  }

  /** Removes a watcher of reads, of whatever kinds at this path. It is not called any more. */
  remove(path: string, watcher: Watcher): DroppedWatch[] {
    for (const taken of this.#taken) {
      if (taken.path === path) taken.watchers.delete(watcher);
    }
    const ofData = this.#data.remove(path, watcher);
    const ofExist = this.#exist.remove(path, watcher);
    const ofChild = this.#child.remove(path, watcher);
    // ZooKeeper 3.8 removes the persistent watch of a path together with the one-shot watch.
    if (this.persistentModesAt(path).length > 0 || this.#pending.read.has(path)) return [];
    const dropped: DroppedWatch[] = [];
    if ((ofData || ofExist) && !this.#data.hasPath(path) && !this.#exist.hasPath(path)) {
      dropped.push({ path, type: WatcherType.data });
    }
    if (ofChild && !this.#child.hasPath(path)) dropped.push({ path, type: WatcherType.children });
    return dropped;
  }

  /** The reply to addWatch has arrived. The result identifies this watch when it is removed. */
  addPersistent(path: string, recursive: boolean, watcher: Watcher): PersistentWatch {
    const watch: PersistentWatch = { path, recursive, watcher };
    this.#modeOf(recursive).add(path, watch);
    if (recursive) this.#recursiveLengthMax = Math.max(this.#recursiveLengthMax, path.length);
    return watch;
  }

  /**
   * Removes a persistent watch. Its watcher is not called any more. Calling it again has no effect.
   */
  removePersistent(watch: PersistentWatch): DroppedWatch[] {
    if (!this.#modeOf(watch.recursive).remove(watch.path, watch)) return [];
    return this.unusedPersistent(watch.path, watch.recursive);
  }

  /**
   * Returns what to remove of a mode at a path where the server may have a watch that nobody needs.
   */
  unusedPersistent(path: string, recursive: boolean): DroppedWatch[] {
    const mode = recursive ? 'recursive' : 'persistent';
    if (this.#modeOf(recursive).hasPath(path) || this.#pending[mode].has(path)) return [];
    // Servers before 3.9 know no narrower type for it, but this type removes all watches of the
    // path.
    if (!this.#isUsed(path)) return [{ path, type: WatcherType.any }];
    const type = recursive ? WatcherType.persistentRecursive : WatcherType.persistent;
    return [{ path, type }];
  }

  /** The modes, as values of `recursive`, for which the path has a watch or may soon have one. */
  persistentModesAt(path: string): boolean[] {
    return [false, true].filter((recursive) => {
      const mode = recursive ? 'recursive' : 'persistent';
      return this.#modeOf(recursive).hasPath(path) || this.#pending[mode].has(path);
    });
  }

  /** The server has answered removeWatches. The watchers are called with 'removed' and are gone. */
  removeAll(path: string, type: WatcherType): void {
    const any = type === WatcherType.any;
    const taken = new Set<Watcher>();
    if (any || type === WatcherType.data) {
      this.#data.takeInto(taken, path);
      this.#exist.takeInto(taken, path);
    }
    if (any || type === WatcherType.children) this.#child.takeInto(taken, path);
    const watches: PersistentWatch[] = [];
    if (any || type === WatcherType.persistent) watches.push(...this.#persistent.on(path));
    if (any || type === WatcherType.persistentRecursive) watches.push(...this.#recursive.on(path));
    this.#tellTaken(taken, { type: 'removed', path });
    for (const watch of watches) this.#endPersistent(watch, 'removed');
  }

  /**
   * An event from the wire, with the zxid of its header if it has one. Calls the watchers; never
   * throws.
   */
  onEvent(event: WatcherEvent, zxid: bigint | null): void {
    const type = NODE_EVENTS.get(event.type);
    if (type === undefined) return;
    const path = event.path === '' ? '/' : event.path;
    const taken = this.#take(path, type);
    const watches = this.#persistentFor(path, type);
    const told: WatchEvent = { type, path, zxid: zxid !== null && zxid > 0n ? zxid : null };
    this.#tellsZxids = told.zxid !== null;
    this.#tellTaken(taken, told);
    for (const watch of watches) this.#tellPersistent(watch, told);
  }

  /**
   * The requests, in order, with which a new connection begins; none if there are no watches. The
   * bound is explained in rearm.ts. `onRearmed` must follow when the last of them is answered.
   *
   * If the connection is lost before that, the answers to the first requests have shown a newer
   * zxid, while what the others would have reported is still missing. The next connection therefore
   * asks for all changes since the same zxid as this one.
   */
  rearm(lastZxidSeen: bigint, pathBytesMax: number): RearmRequest[] {
    const since = this.#missedSince ?? lastZxidSeen;
    const standing = {
      data: this.#data.paths(),
      exist: this.#exist.paths(),
      child: this.#child.paths(),
      persistent: this.#persistent.paths(),
      recursive: this.#recursive.paths(),
    };
    const requests = rearmRequests(standing, since, pathBytesMax);
    this.#missedSince = requests.length === 0 ? null : since;
    return requests;
  }

  /** The last request of `rearm` is answered, so every event that was missed has been reported. */
  onRearmed(): void {
    this.#missedSince = null;
  }

  /** The session was resumed on a new connection, and the requests of `rearm` are on their way. */
  onResumed(): void {
    this.#resync('reconnected');
  }

  /** Another session has begun, and the requests of `rearm` are on their way. */
  onNewSession(): void {
    this.#resync('new-session');
  }

  /**
   * The recursive watch of a path may have been replaced on the server for a moment. Servers that
   * send zxids, from 3.9 on, keep all modes side by side.
   */
  onReAdded(path: string): void {
    if (this.#tellsZxids) return;
    for (const watch of this.#recursive.on(path)) {
      this.#tellPersistent(watch, { type: 'resync', path, reason: 're-added' });
    }
  }

  /**
   * One-shot watchers are called with 'lost'. Persistent watches stay, unless no session follows.
   */
  onSessionLost(renewing = true): void {
    this.#missedSince = null;
    this.#endOneShots('lost');
    if (!renewing) this.#endAllPersistent('lost');
  }

  onClosed(): void {
    this.#endOneShots('closed');
    this.#endAllPersistent('closed');
  }

  /**
   * The watchers whose watches the server has removed with this event. The watches of a path may be
   * in two tables.
   */
  #take(path: string, type: NodeEventType): Set<Watcher> {
    const taken = new Set<Watcher>();
    if (type !== 'childrenChanged') {
      this.#data.takeInto(taken, path);
      this.#exist.takeInto(taken, path);
    }
    if (type === 'childrenChanged' || type === 'deleted') this.#child.takeInto(taken, path);
    return taken;
  }

  #persistentFor(path: string, type: NodeEventType): PersistentWatch[] {
    const watches = this.#persistent.on(path);
    if (type === 'childrenChanged' || this.#recursive.size === 0) return watches;
    watches.push(...this.#recursive.on('/'));
    for (let end = path.indexOf('/', 1); end !== -1; end = path.indexOf('/', end + 1)) {
      if (end > this.#recursiveLengthMax) return watches;
      watches.push(...this.#recursive.on(path.slice(0, end)));
    }
    if (path !== '/') watches.push(...this.#recursive.on(path));
    return watches;
  }

  #tellTaken(watchers: Set<Watcher>, event: WatchEvent): void {
    if (watchers.size === 0) return;
    const taken = { path: event.path, watchers };
    this.#taken.push(taken);
    for (const watcher of watchers) this.#call(watcher, event);
    this.#taken.splice(this.#taken.indexOf(taken), 1);
  }

  #tellPersistent(watch: PersistentWatch, event: WatchEvent): void {
    if (this.#modeOf(watch.recursive).has(watch.path, watch)) this.#call(watch.watcher, event);
  }

  #resync(reason: 'reconnected' | 'new-session'): void {
    for (const watch of this.#allPersistent()) {
      this.#tellPersistent(watch, { type: 'resync', path: watch.path, reason });
    }
  }

  #endOneShots(type: 'lost' | 'closed'): void {
    for (const table of [this.#data, this.#exist, this.#child]) {
      for (const path of [...table.paths()]) {
        this.#tellTaken(this.#take(path, 'deleted'), { type, path });
      }
    }
  }

  #endAllPersistent(type: 'lost' | 'closed'): void {
    for (const watch of this.#allPersistent()) this.#endPersistent(watch, type);
  }

  #endPersistent(watch: PersistentWatch, type: 'lost' | 'closed' | 'removed'): void {
    if (!this.#modeOf(watch.recursive).remove(watch.path, watch)) return;
    this.#call(watch.watcher, { type, path: watch.path });
  }

  #call(watcher: Watcher, event: WatchEvent): void {
    try {
      watcher(event);
    } catch (error) {
      this.#report(error);
    }
  }

  #allPersistent(): PersistentWatch[] {
    return [...this.#persistent.all(), ...this.#recursive.all()];
  }

  #isUsed(path: string): boolean {
    if (this.persistentModesAt(path).length > 0 || this.#pending.read.has(path)) return true;
    return this.#data.hasPath(path) || this.#exist.hasPath(path) || this.#child.hasPath(path);
  }

  #tableOf(kind: WatchKind): PathTable<Watcher> {
    switch (kind) {
      case 'data':
        return this.#data;
      case 'exist':
        return this.#exist;
      case 'child':
        return this.#child;
      default:
        return unreachable(kind);
    }
  }

  #modeOf(recursive: boolean): PathTable<PersistentWatch> {
    return recursive ? this.#recursive : this.#persistent;
  }
}

type NodeEventType = 'created' | 'deleted' | 'dataChanged' | 'childrenChanged';

/** Session states and removals are not changes, and servers do not send them as events. */
const NODE_EVENTS: ReadonlyMap<number, NodeEventType> = new Map([
  [EventType.created, 'created'],
  [EventType.deleted, 'deleted'],
  [EventType.dataChanged, 'dataChanged'],
  [EventType.childrenChanged, 'childrenChanged'],
]);

/** Throws from a new stack, so that the process learns of it and the next frames are still read. */
function throwUncaught(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
