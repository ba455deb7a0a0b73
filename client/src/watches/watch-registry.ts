/**
 * Every watcher of a client and what it waits for. Synchronous and without I/O: the session calls
 * it as frames arrive and states change, in the order of the wire.
 *
 * Paths are the server's, chroot included. Always: a one-shot watcher is called exactly once and is
 * gone before it is called; a persistent one is never called after its removal or its end; what a
 * watcher does or throws, another is told all the same. `rearm` lists exactly what stands.
 *
 * What the server is told to drop errs on one side only: a watch that stands there and not here
 * costs an event that nobody hears, one that stands here and not there is a lost wake-up. So
 * nothing is dropped while a request under way may have set it (`begin`, `end`).
 */
import { EventType, unreachable, type WatcherEvent, WatcherType } from '@rookery/protocol';
import type { WatchEvent, Watcher } from '../api/values.js';
import { PathCounts } from './path-counts.js';
import { PathTable } from './path-table.js';
import { type RearmRequest, rearmRequests } from './rearm.js';

/** `exist`: left by an exists that found nothing. One that found a znode leaves a `data` watch. */
export type WatchKind = 'data' | 'exist' | 'child';
/** What a request under way may set: one by a read, or an addWatch of either mode. */
export type PendingWatch = 'read' | 'persistent' | 'recursive';

/** A registration of its own, so that one function may watch a path twice and be removed once. */
export interface PersistentWatch {
  readonly path: string;
  readonly recursive: boolean;
  readonly watcher: Watcher;
}

/** What the server should be told to drop: the arguments of removeWatches. */
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
  /** Of the longest path ever watched so: bounds the look at ancestors, whatever is sent. */
  #recursiveLengthMax = 0;
  readonly #pending = {
    read: new PathCounts(),
    persistent: new PathCounts(),
    recursive: new PathCounts(),
  };
  /** One-shot watchers taken for the events being told, where removal must still find them. */
  readonly #taken: { readonly path: string; readonly watchers: Set<Watcher> }[] = [];
  readonly #report: (error: unknown) => void;
  /** As of the last event: the next connection may be to a server of another version. */
  #tellsZxids = false;

  /** `report` is given what watchers throw; must not throw itself. */
  constructor(report: (error: unknown) => void = throwUncaught) {
    this.#report = report;
  }

  /** Watchers of all kinds, once per path and kind. */
  get size(): number {
    const { size: persistent } = this.#persistent;
    const { size: recursive } = this.#recursive;
    return this.#data.size + this.#exist.size + this.#child.size + persistent + recursive;
  }

  /** Requests under way that would set a watch, by path; 0 when all is settled. */
  get pendingCount(): number {
    const { read, persistent, recursive } = this.#pending;
    return read.size + persistent.size + recursive.size;
  }

  /** A request that sets a watch has been taken on, sent or not. */
  begin(pending: PendingWatch, path: string): void {
    this.#pending[pending].increment(path);
  }

  /** It is settled, whatever came of it; after `add` or `addPersistent` if it succeeded. */
  end(pending: PendingWatch, path: string): void {
    this.#pending[pending].decrement(path);
  }

  /** The reply to a read that asked for a watch has come and the watch stands on the server. */
  add(kind: WatchKind, path: string, watcher: Watcher): void {
    this.#tableOf(kind).add(path, watcher);
  }

  /** Takes a watcher of reads back, of whatever kinds at this path: it is not called any more. */
  remove(path: string, watcher: Watcher): DroppedWatch[] {
    for (const taken of this.#taken) {
      if (taken.path === path) taken.watchers.delete(watcher);
    }
    const ofData = this.#data.remove(path, watcher);
    const ofExist = this.#exist.remove(path, watcher);
    const ofChild = this.#child.remove(path, watcher);
    // ZooKeeper 3.8 takes the persistent watch of the path away with the one-shot one.
    if (this.persistentModesAt(path).length > 0 || this.#pending.read.has(path)) return [];
    const dropped: DroppedWatch[] = [];
    if ((ofData || ofExist) && !this.#data.hasPath(path) && !this.#exist.hasPath(path)) {
      dropped.push({ path, type: WatcherType.data });
    }
    if (ofChild && !this.#child.hasPath(path)) dropped.push({ path, type: WatcherType.children });
    return dropped;
  }

  /** The reply to addWatch has come. What is given stands for this watch at its removal. */
  addPersistent(path: string, recursive: boolean, watcher: Watcher): PersistentWatch {
    const watch: PersistentWatch = { path, recursive, watcher };
    this.#modeOf(recursive).add(path, watch);
    if (recursive) this.#recursiveLengthMax = Math.max(this.#recursiveLengthMax, path.length);
    return watch;
  }

  /** Idempotent; its watcher is not called any more. */
  removePersistent(watch: PersistentWatch): DroppedWatch[] {
    if (!this.#modeOf(watch.recursive).remove(watch.path, watch)) return [];
    return this.unusedPersistent(watch.path, watch.recursive);
  }

  /** What to drop of a mode at a path where the server may have a watch that nobody needs. */
  unusedPersistent(path: string, recursive: boolean): DroppedWatch[] {
    const mode = recursive ? 'recursive' : 'persistent';
    if (this.#modeOf(recursive).hasPath(path) || this.#pending[mode].has(path)) return [];
    // Servers before 3.9 know no other type for it; it takes all that stands at the path.
    if (!this.#isUsed(path)) return [{ path, type: WatcherType.any }];
    const type = recursive ? WatcherType.persistentRecursive : WatcherType.persistent;
    return [{ path, type }];
  }

  /** The modes, `recursive` or not, of which there is or may soon be a watch at the path. */
  persistentModesAt(path: string): boolean[] {
    return [false, true].filter((recursive) => {
      const mode = recursive ? 'recursive' : 'persistent';
      return this.#modeOf(recursive).hasPath(path) || this.#pending[mode].has(path);
    });
  }

  /** The server has answered removeWatches; those who watched are told 'removed' and are gone. */
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

  /** From the wire; `zxid` of its header, if it tells one. Calls the watchers, never throws. */
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
   * The requests, in order, that a new connection begins with; none when nothing stands. See
   * rearm.ts for the bound.
   */
  rearm(lastZxidSeen: bigint, pathBytesMax: number): RearmRequest[] {
    const standing = {
      data: this.#data.paths(),
      exist: this.#exist.paths(),
      child: this.#child.paths(),
      persistent: this.#persistent.paths(),
      recursive: this.#recursive.paths(),
    };
    return rearmRequests(standing, lastZxidSeen, pathBytesMax);
  }

  /** The session goes on over a new connection and the requests of `rearm` are on their way. */
  onResumed(): void {
    this.#resync('reconnected');
  }

  /** Another session has begun and the requests of `rearm` are on their way. */
  onNewSession(): void {
    this.#resync('new-session');
  }

  /**
   * The recursive watch of a path may have been displaced on the server for a moment. Servers that
   * tell zxids, from 3.9, have all modes side by side.
   */
  onReAdded(path: string): void {
    if (this.#tellsZxids) return;
    for (const watch of this.#recursive.on(path)) {
      this.#tellPersistent(watch, { type: 'resync', path, reason: 're-added' });
    }
  }

  /** One-shot watchers hear 'lost'; persistent ones stay, unless no session follows this one. */
  onSessionLost(renewing = true): void {
    this.#endOneShots('lost');
    if (!renewing) this.#endAllPersistent('lost');
  }

  onClosed(): void {
    this.#endOneShots('closed');
    this.#endAllPersistent('closed');
  }

  /** Those that the server has taken off with this event: of a path, they are in two tables. */
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

/** The rest, a session's state and the removals, are no changes and come from no server. */
const NODE_EVENTS: ReadonlyMap<number, NodeEventType> = new Map([
  [EventType.created, 'created'],
  [EventType.deleted, 'deleted'],
  [EventType.dataChanged, 'dataChanged'],
  [EventType.childrenChanged, 'childrenChanged'],
]);

/** From a fresh stack, so that the process hears of it and the frames behind are read on. */
function throwUncaught(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
