/**
 * Knows who watches what at this member, in four modes. Watches are not replicated.
 *
 * A `data` or `child` watch fires once: `trigger` removes it as it emits the event. It stays if its
 * watcher may not hear of the change, because its absence would show that there was one. A
 * `persistent` watch on a path hears what both of these would, and a `recursive` one every change
 * of the path itself and of everything below, but no childrenChanged. Modes coexist; a watcher has
 * at most one watch of each mode on a path, and hears of one change at one path once, whatever
 * modes it has there.
 *
 * Without recursive watches nothing looks at ancestors; with them, the search goes from znode to
 * parent. The cost of the watches of one watcher, and of all together, is bounded, as is what one
 * turn removes for watchers that are gone. Where all together have too many, the largest holder
 * gives way to a small one (`givingWay`). Called by the pipeline; `trigger` right after each
 * applied change.
 */
import { assert, EventType, parentOf } from '@rookery/protocol';
import { Summary } from '../measures/summary.js';
import { WatchedNodes, WatchedPaths, type WatchedTree, WatchOverlap } from './watched-paths.js';

/** The kinds that fire once. */
export type WatchKind = 'data' | 'child';
export type WatchMode = WatchKind | 'persistent' | 'recursive';
/** The member's number of a connection. */
export type WatcherId = number;

export interface WatchChange {
  readonly kind: 'created' | 'deleted' | 'dataChanged';
  readonly path: string;
}

/** In bytes, by the estimate of `WatchedPaths`. */
export interface WatchLimits {
  /** The bound for all watchers. */
  readonly bytesMax: number;
  /** The bound for one watcher. */
  readonly watcherBytesMax: number;
}

/** Whom watchers belong to, by the groups of watches.ts; at least one. */
export type WatchGroupsOf = (watcher: WatcherId) => readonly string[];

/** Returns false if the watcher may not hear of it, and has not heard. */
export type EmitWatchEvent = (watcher: WatcherId, eventType: EventType, path: string) => boolean;

/** The watches of gone watchers that one turn removes: about four ms of processor time. */
const RELEASED_PER_TURN = 5_000;
/**
 * The part of the bound that is free once watchers have given way, so that the search for them is
 * rare, and the part beyond the bound that newcomers use until their watches are removed.
 */
const SPARE_PART = 1 / 8;
/** The searches of one turn: each looks at all watchers. */
const SEARCHES_PER_TURN = 8;
const WATCHES_EXCEEDED = 'all watches of this member take too much memory, it holds most of them';
const NOBODY: ReadonlySet<WatcherId> = new Set();

export class WatchTable {
  readonly fanOut = new WatchFanOut();
  readonly #limits: WatchLimits;
  readonly #overlap = new WatchOverlap();
  /** The znodes of the paths that are watched recursively. */
  readonly #nodes = new WatchedNodes();
  #tree: WatchedTree;
  readonly #modes: Readonly<Record<WatchMode, WatchedPaths>> = {
    data: new WatchedPaths(this.#overlap),
    child: new WatchedPaths(),
    persistent: new WatchedPaths(this.#overlap),
    recursive: new WatchedPaths(this.#overlap, this.#nodes),
  };

  /** The number of watches that this turn may still remove. */
  #releasable = RELEASED_PER_TURN;
  #hasLeaving = false;
  readonly #groupsOf: WatchGroupsOf;
  /** Watchers that have given way, with the reason, until they are removed. */
  readonly #yielded = new Map<WatcherId, string>();
  #searchesLeft = SEARCHES_PER_TURN;

  constructor(limits: WatchLimits, tree: WatchedTree, groupsOf: WatchGroupsOf = ownGroup) {
    this.#limits = limits;
    this.#tree = tree;
    this.#groupsOf = groupsOf;
  }

  /**
   * The watchers that have given way and are still there, with the reason. They have lost all
   * watches, so their connections have to be closed.
   */
  get yielded(): ReadonlyMap<WatcherId, string> {
    return this.#yielded;
  }

  /** The watcher loses all watches now, for this reason, and gets no further one. */
  giveWay(watcher: WatcherId, reason: string): void {
    this.#yielded.set(watcher, reason);
    this.#dismiss(watcher);
  }

  /** Sets the state that replaces the former one; there must be no watcher. */
  set tree(tree: WatchedTree) {
    this.#tree = tree;
    this.#nodes.clear();
  }

  /** Whether there are no watches. */
  get isEmpty(): boolean {
    const { data, child, persistent, recursive } = this.#modes;
    return data.pathCount + child.pathCount + persistent.pathCount + recursive.pathCount === 0;
  }
  /** The number of triples of a watcher, a path and a mode. */
  get watchCount(): number {
    return this.#all().reduce((sum, table) => sum + table.watchCount, 0);
  }
  /** The number of paths with a watch, counted once for each mode. */
  get pathCount(): number {
    return this.#all().reduce((sum, table) => sum + table.pathCount, 0);
  }
  /** The number of watchers with at least one watch. */
  get watcherCount(): number {
    return union(this.#all().map((table) => table.watchers())).size;
  }
  counts(mode: WatchMode): WatchCounts {
    const { watchCount: watches, pathCount: paths, watcherCount: watchers } = this.#modes[mode];
    return { watches, paths, watchers };
  }
  /**
   * Counts the watches that hear of a node's data: one-shot, persistent and recursive ones. A pair
   * of a watcher and a path counts once, whatever modes it has. The counts are maintained as
   * watches come and go; a path that only closed watchers had counts until it is released.
   */
  get dataCounts(): WatchCounts {
    const { data, persistent, recursive } = this.#modes;
    const { pairs, paths, watchers } = this.#overlap;
    return {
      watches: data.liveWatchCount + persistent.liveWatchCount + recursive.liveWatchCount - pairs,
      paths: data.pathCount + persistent.pathCount + recursive.pathCount - paths,
      watchers: data.watcherCount + persistent.watcherCount + recursive.watcherCount - watchers,
    };
  }
  /** In the order of precedence of the listings, which show what is in several tables once. */
  get dataTables(): readonly WatchedPaths[] {
    return [this.#modes.data, this.#modes.persistent, this.#modes.recursive];
  }

  /** Returns false if there is no room for one more; nothing has changed then. */
  add(mode: WatchMode, path: string, watcher: WatcherId): boolean {
    const table = this.#modes[mode];
    if (!this.#hasRoom(table.costOf(path), watcher) && !table.has(path, watcher)) {
      return false;
    }
    table.add(path, watcher);
    if (mode === 'recursive') this.#nodes.put(path, this.#tree.find(path));
    return true;
  }
  /** The watchers of the path in this mode; valid until the next change. */
  watchersOf(mode: WatchMode, path: string): Iterable<WatcherId> {
    return this.#modes[mode].watchersOf(path);
  }
  /** The paths that the watcher watches in this mode; lazy. */
  pathsOf(mode: WatchMode, watcher: WatcherId): Iterable<string> {
    return this.#modes[mode].pathsOf(watcher);
  }
  /** The paths that are watched in this mode; lazy. */
  paths(mode: WatchMode): Iterable<string> {
    return this.#modes[mode].paths();
  }
  has(mode: WatchMode, path: string, watcher: WatcherId): boolean {
    return this.#modes[mode].has(path, watcher);
  }
  /** Returns true if there was one. */
  remove(mode: WatchMode, path: string, watcher: WatcherId): boolean {
    return this.#modes[mode].remove(path, watcher);
  }
  /**
   * The connection is gone: it is notified of nothing more. Its watches are removed at once as far
   * as the turn allows, and the rest by `release`; they count until then.
   */
  removeWatcher(watcher: WatcherId): void {
    this.#yielded.delete(watcher);
    this.#dismiss(watcher);
  }

  #dismiss(watcher: WatcherId): void {
    for (const table of this.#all()) {
      table.dismiss(watcher);
    }
    this.#releaseSome();
  }

  /**
   * Called once a turn: continues with the watches of connections that are gone. Returns true if
   * some are left.
   */
  release(): boolean {
    this.#releasable = RELEASED_PER_TURN;
    this.#searchesLeft = SEARCHES_PER_TURN;
    if (this.#hasLeaving) this.#releaseSome();
    return this.#hasLeaving;
  }

  /**
   * Removes the one-shot watches of the change from the tables and emits the events, in order: at
   * the node, to each watcher once; when the node is deleted, to its child watchers that have not
   * just heard of it; then childrenChanged at its parent. Watches whose watchers have not heard
   * stay. `emit` must not touch the table.
   */
  trigger(change: WatchChange, emit: EmitWatchEvent): void {
    const { kind, path } = change;
    const eventType = EventType[kind];
    const { data, child } = this.#modes;
    const taken = data.takeAll(path);
    const concerned = this.#withStanding(taken, change);
    const unheard = emitToEach(concerned, emit, eventType, path);
    setAgain(data, path, taken, unheard);
    if (kind === 'dataChanged') {
      return;
    }
    if (kind === 'deleted') {
      for (const watcher of child.takeAll(path)) {
        const hasHeard = concerned.has(watcher)
          ? !unheard.has(watcher)
          : emit(watcher, eventType, path);
        if (!hasHeard) child.add(path, watcher);
      }
    }
    assert(path !== '/', 'the root is neither created nor deleted');
    if (child.pathCount === 0 && this.#modes.persistent.pathCount === 0) {
      return;
    }
    const parent = parentOf(path);
    const above = child.takeAll(parent);
    const all = this.#withPersistent(above, parent);
    setAgain(child, parent, above, emitToEach(all, emit, EventType.childrenChanged, parent));
  }

  /** Adds the watchers that watch the path permanently, or it or an ancestor recursively. */
  #withStanding(once: ReadonlySet<WatcherId>, { kind, path }: WatchChange): ReadonlySet<WatcherId> {
    const watchers = this.#withPersistent(once, path);
    const { recursive } = this.#modes;
    if (recursive.pathCount === 0) {
      return watchers;
    }
    const all = addAll(new Set(watchers), recursive.watchersOf(path));
    const isGone = kind === 'deleted';
    if (isGone) this.#nodes.forget(path);
    // A deleted node still has a parent.
    const node = this.#tree.find(isGone ? parentOf(path) : path);
    if (kind === 'created' && recursive.hasPath(path)) this.#nodes.put(path, node);
    for (const watched of this.#nodes.pathsFrom(node, this.#tree)) {
      addAll(all, recursive.watchersOf(watched));
    }
    return all;
  }

  #withPersistent(once: ReadonlySet<WatcherId>, path: string): ReadonlySet<WatcherId> {
    const { persistent } = this.#modes;
    if (persistent.pathCount === 0) {
      return once;
    }
    return addAll(new Set(once), persistent.watchersOf(path));
  }

  #releaseSome(): void {
    this.#hasLeaving = false;
    for (const table of this.#all()) {
      if (table.hasLeaving && this.#releasable > 0) {
        this.#releasable -= table.release(this.#releasable);
      }
      this.#hasLeaving ||= table.hasLeaving;
    }
  }

  #hasRoom(bytes: number, watcher: WatcherId): boolean {
    if (this.#yielded.has(watcher)) return false;
    const { bytesMax, watcherBytesMax } = this.#limits;
    const { data, child, persistent, recursive } = this.#modes;
    const own = this.#bytesOf(watcher) + bytes;
    if (own > watcherBytesMax) return false;
    const all = data.bytes + child.bytes + persistent.bytes + recursive.bytes + bytes;
    if (all <= bytesMax) return true;
    if (this.#liveBytes() + bytes > bytesMax) this.#makeRoom(watcher, own);
    if (this.#liveBytes() + bytes > bytesMax) return false;
    // The watches of those that gave way take memory until they are removed.
    const left = data.bytes + child.bytes + persistent.bytes + recursive.bytes + bytes;
    return left <= bytesMax * (1 + SPARE_PART);
  }

  #bytesOf(watcher: WatcherId): number {
    const { data, child, persistent, recursive } = this.#modes;
    return (
      data.bytesOf(watcher) +
      child.bytesOf(watcher) +
      persistent.bytesOf(watcher) +
      recursive.bytesOf(watcher)
    );
  }

  #liveBytes(): number {
    const { data, child, persistent, recursive } = this.#modes;
    return data.liveBytes + child.liveBytes + persistent.liveBytes + recursive.liveBytes;
  }

  /** `own` is what the newcomer would have. */
  #makeRoom(newcomer: WatcherId, own: number): void {
    if (this.#searchesLeft === 0) return;
    this.#searchesLeft -= 1;
    const holders: WatchHolder[] = [];
    for (const watcher of union(this.#all().map((table) => table.watchers()))) {
      if (watcher === newcomer) continue;
      holders.push({ watcher, bytes: this.#bytesOf(watcher), groups: this.#groupsOf(watcher) });
    }
    const asking = { watcher: newcomer, bytes: own, groups: this.#groupsOf(newcomer) };
    const wanted = this.#limits.bytesMax * SPARE_PART;
    for (const watcher of givingWay(holders, asking, wanted)) {
      this.giveWay(watcher, WATCHES_EXCEEDED);
    }
  }

  #all(): readonly WatchedPaths[] {
    return Object.values(this.#modes);
  }
}

function ownGroup(watcher: WatcherId): readonly string[] {
  return [`watcher ${watcher}`];
}

interface WatchCounts {
  readonly watches: number;
  readonly paths: number;
  readonly watchers: number;
}

/** Returns those that may not hear of it. */
function emitToEach(
  watchers: ReadonlySet<WatcherId>,
  emit: EmitWatchEvent,
  type: EventType,
  path: string,
): ReadonlySet<WatcherId> {
  let unheard: Set<WatcherId> | null = null;
  for (const watcher of watchers) {
    if (emit(watcher, type, path)) continue;
    unheard ??= new Set();
    unheard.add(watcher);
  }
  return unheard ?? NOBODY;
}

/** Gives those of `unheard` that are among `taken` their watch back. */
function setAgain(
  table: WatchedPaths,
  path: string,
  taken: ReadonlySet<WatcherId>,
  unheard: ReadonlySet<WatcherId>,
): void {
  for (const watcher of unheard) {
    if (taken.has(watcher)) table.add(path, watcher);
  }
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

/**
 * How many watchers each change had, by kind of event, since the process started.
 *
 * Only changes with a watch are counted, as ZooKeeper does. Written as events come out of the watch
 * table, never read to decide anything.
 */
export class WatchFanOut {
  readonly created = new Summary();
  readonly deleted = new Summary();
  readonly dataChanged = new Summary();
  readonly childrenChanged = new Summary();
  /** The change that is being told. */
  #type: EventType = EventType.none;
  #path = '';
  #watchers = 0;

  /** One watcher of a change is told; those of one change come one after the other. */
  told(type: EventType, path: string): void {
    if (type !== this.#type || path !== this.#path) this.end();
    this.#type = type;
    this.#path = path;
    this.#watchers += 1;
  }

  /** All of the changes have been told. */
  end(): void {
    if (this.#watchers === 0) return;
    this.#of(this.#type)?.record(this.#watchers);
    this.#path = '';
    this.#watchers = 0;
  }

  #of(type: EventType): Summary | null {
    if (type === EventType.created) return this.created;
    if (type === EventType.deleted) return this.deleted;
    if (type === EventType.dataChanged) return this.dataChanged;
    return type === EventType.childrenChanged ? this.childrenChanged : null;
  }
}

/** A watcher with watches. */
interface WatchHolder {
  readonly watcher: number;
  readonly bytes: number;
  /** Its address and its users, for instance; at least one. */
  readonly groups: readonly string[];
}

/** How many times larger than a newcomer those are who give way to it. */
const TIMES_LARGER = 2;

/**
 * Chooses which watchers give way when all watches of a member take too much memory.
 *
 * Watchers are counted in groups, such as all connections from one address or of one user. The
 * largest group gives way, its largest watcher first, but only to a newcomer whose own groups have
 * less than half as much; within its own group a newcomer is compared with single watchers.
 * Otherwise clients of about the same size would close each other in turn, so then the newcomer is
 * refused. Returns them, the largest first, until `wantedBytes` are free or there are no more; none
 * if the newcomer is to be refused. The newcomer is no holder, and counts with the watch that it
 * wants.
 */
function givingWay(
  holders: readonly WatchHolder[],
  newcomer: WatchHolder,
  wantedBytes: number,
): readonly number[] {
  const sums = sumsOf([...holders, newcomer]);
  let largest = '';
  for (const [group, bytes] of sums) if (bytes > (sums.get(largest) ?? 0)) largest = group;
  const isOwn = newcomer.groups.includes(largest);
  const ownBytes = Math.max(...newcomer.groups.map((group) => sums.get(group) ?? 0));
  if (!isOwn && (sums.get(largest) ?? 0) <= TIMES_LARGER * ownBytes) return [];
  const reach = holders.filter(
    ({ groups, bytes }) =>
      groups.includes(largest) && (!isOwn || bytes > TIMES_LARGER * newcomer.bytes),
  );
  reach.sort((one, other) => other.bytes - one.bytes);
  let free = 0;
  const left = reach.findIndex(({ bytes }) => {
    if (free >= wantedBytes) return true;
    free += bytes;
    return false;
  });
  return reach.slice(0, left < 0 ? reach.length : left).map(({ watcher }) => watcher);
}

function sumsOf(holders: readonly WatchHolder[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { groups, bytes } of holders) {
    for (const group of groups) sums.set(group, (sums.get(group) ?? 0) + bytes);
  }
  return sums;
}
