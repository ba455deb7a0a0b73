/**
 * Who watches what at this member, in four modes. Not replicated.
 *
 * A `data` or `child` watch fires once: `trigger` takes it off as it emits. A `persistent` watch
 * on a path hears what both of these would, a `recursive` one every change of the path itself and
 * of all below, but no childrenChanged. Modes live side by side; a watcher has at most one watch of
 * each mode on a path, and hears of one change at one path once, whatever modes it has there.
 * Without recursive watches nobody looks at ancestors. What the watches of one watcher, and all
 * together, cost is bounded. Called by the pipeline, `trigger` right after each applied change.
 */
import { assert, EventType, parentOf } from '@rookery/protocol';
import { WatchedPaths, watchBytesOf } from './watched-paths.js';

/** As four-letter words tell: persistent watches are in both tables, recursive ones in data. */
export type WatchKind = 'data' | 'child';
export type WatchMode = WatchKind | 'persistent' | 'recursive';
/** The member's number of a connection. */
export type WatcherId = number;

export interface WatchChange {
  readonly kind: 'created' | 'deleted' | 'dataChanged';
  readonly path: string;
}

/** By `watchBytesOf`. */
export interface WatchLimits {
  /** Of all watchers. */
  readonly bytesMax: number;
  /** Of one watcher. */
  readonly watcherBytesMax: number;
}

export type EmitWatchEvent = (watcher: WatcherId, eventType: EventType, path: string) => void;

export class WatchTable {
  readonly #limits: WatchLimits;
  readonly #modes: Readonly<Record<WatchMode, WatchedPaths>> = {
    data: new WatchedPaths(),
    child: new WatchedPaths(),
    persistent: new WatchedPaths(),
    recursive: new WatchedPaths(),
  };

  constructor(limits: WatchLimits) {
    this.#limits = limits;
  }

  /** Nobody watches anything. */
  get isEmpty(): boolean {
    const { data, child, persistent, recursive } = this.#modes;
    return data.pathCount + child.pathCount + persistent.pathCount + recursive.pathCount === 0;
  }
  /** Triples of a watcher, a path and a mode. */
  get watchCount(): number {
    return this.#all().reduce((sum, table) => sum + table.watchCount, 0);
  }
  /** Paths with a watch, counted once per mode. */
  get pathCount(): number {
    return this.#all().reduce((sum, table) => sum + table.pathCount, 0);
  }
  /** Watchers with at least one watch. */
  get watcherCount(): number {
    return union(this.#all().map((table) => table.watchers())).size;
  }
  counts(mode: WatchMode): WatchCounts {
    const { watchCount: watches, pathCount: paths, watcherCount: watchers } = this.#modes[mode];
    return { watches, paths, watchers };
  }
  /** Each watched path of a table with its watchers, for reports: a copy. */
  dump(kind: WatchKind): ReadonlyMap<string, ReadonlySet<WatcherId>> {
    const { persistent, recursive } = this.#modes;
    const tables = [this.#modes[kind], persistent, ...(kind === 'data' ? [recursive] : [])];
    const paths = union(tables.map((table) => table.paths()));
    return new Map(
      [...paths].map((path) => [path, union(tables.map((table) => table.watchersOf(path)))]),
    );
  }

  /** False when there is no room for one more: nothing has changed then. */
  add(mode: WatchMode, path: string, watcher: WatcherId): boolean {
    const table = this.#modes[mode];
    if (!this.#hasRoom(path, watcher) && !table.has(path, watcher)) {
      return false;
    }
    table.add(path, watcher);
    return true;
  }
  has(mode: WatchMode, path: string, watcher: WatcherId): boolean {
    return this.#modes[mode].has(path, watcher);
  }
  /** True when there was one. */
  remove(mode: WatchMode, path: string, watcher: WatcherId): boolean {
    return this.#modes[mode].remove(path, watcher);
  }
  /** All watches of a connection that is gone. */
  removeWatcher(watcher: WatcherId): void {
    for (const table of this.#all()) {
      table.removeWatcher(watcher);
    }
  }

  /**
   * Takes the one-shot watches of the change off the tables and emits the events, in order: at the
   * node, to each watcher once; when it is deleted, to its child watchers that have not just heard
   * of it; then childrenChanged at its parent. `emit` must not touch the table.
   */
  trigger(change: WatchChange, emit: EmitWatchEvent): void {
    const { kind, path } = change;
    const eventType = EventType[kind];
    const { child } = this.#modes;
    const notified = this.#withStanding(this.#modes.data.takeAll(path), path);
    for (const watcher of notified) {
      emit(watcher, eventType, path);
    }
    if (kind === 'dataChanged') {
      return;
    }
    if (kind === 'deleted') {
      for (const watcher of child.takeAll(path)) {
        if (!notified.has(watcher)) {
          emit(watcher, eventType, path);
        }
      }
    }
    assert(path !== '/', 'the root is neither created nor deleted');
    if (child.pathCount === 0 && this.#modes.persistent.pathCount === 0) {
      return;
    }
    const parent = parentOf(path);
    for (const watcher of this.#withPersistent(child.takeAll(parent), parent)) {
      emit(watcher, EventType.childrenChanged, parent);
    }
  }

  /** And who watches the path for good, or it or an ancestor recursively. */
  #withStanding(once: ReadonlySet<WatcherId>, path: string): ReadonlySet<WatcherId> {
    const watchers = this.#withPersistent(once, path);
    const { recursive } = this.#modes;
    if (recursive.pathCount === 0) {
      return watchers;
    }
    const all = new Set(watchers);
    for (let at = path; ; at = parentOf(at)) {
      addAll(all, recursive.watchersOf(at));
      if (at === '/') {
        return all;
      }
    }
  }

  #withPersistent(once: ReadonlySet<WatcherId>, path: string): ReadonlySet<WatcherId> {
    const { persistent } = this.#modes;
    if (persistent.pathCount === 0) {
      return once;
    }
    return addAll(new Set(once), persistent.watchersOf(path));
  }

  #hasRoom(path: string, watcher: WatcherId): boolean {
    const { data, child, persistent, recursive } = this.#modes;
    const bytes = watchBytesOf(path);
    const all = data.bytes + child.bytes + persistent.bytes + recursive.bytes;
    if (all + bytes > this.#limits.bytesMax) {
      return false;
    }
    const own =
      data.bytesOf(watcher) +
      child.bytesOf(watcher) +
      persistent.bytesOf(watcher) +
      recursive.bytesOf(watcher);
    return own + bytes <= this.#limits.watcherBytesMax;
  }

  #all(): readonly WatchedPaths[] {
    return Object.values(this.#modes);
  }
}

export interface WatchCounts {
  readonly watches: number;
  readonly paths: number;
  readonly watchers: number;
}

function union<T>(lists: readonly Iterable<T>[]): Set<T> {
  return lists.reduce<Set<T>>(addAll, new Set<T>());
}

function addAll<T>(set: Set<T>, more: Iterable<T>): Set<T> {
  for (const one of more) {
    set.add(one);
  }
  return set;
}
