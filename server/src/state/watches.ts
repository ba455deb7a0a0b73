/**
 * Who watches what at this member: the data table and the child table. Not replicated.
 *
 * A watch fires once: `trigger` takes it off the table as it emits. One watcher has at most one
 * watch per table and path, whatever it asked for how often; events go out in the order in which
 * the watches were set. Called by the pipeline, `trigger` right after each applied change.
 */
import { assert, EventType, parentOf } from '@rookery/protocol';
import { WatchedPaths } from './watched-paths.js';

export type WatchKind = 'data' | 'child';
/** The member's number of a connection. */
export type WatcherId = number;

export interface WatchChange {
  readonly kind: 'created' | 'deleted' | 'dataChanged';
  readonly path: string;
}

export type EmitWatchEvent = (watcher: WatcherId, eventType: EventType, path: string) => void;

export class WatchTable {
  readonly #data = new WatchedPaths();
  readonly #child = new WatchedPaths();

  /** Pairs of a watcher and a path, over both tables. */
  get watchCount(): number {
    return this.#data.watchCount + this.#child.watchCount;
  }
  /** Paths with a watch, counted once per table. */
  get pathCount(): number {
    return this.#data.pathCount + this.#child.pathCount;
  }
  /** Watchers with at least one watch. */
  get watcherCount(): number {
    const both = new Set(this.#data.watchers());
    for (const watcher of this.#child.watchers()) {
      both.add(watcher);
    }
    return both.size;
  }
  counts(kind: WatchKind): WatchCounts {
    const { watchCount: watches, pathCount: paths, watcherCount: watchers } = this.#table(kind);
    return { watches, paths, watchers };
  }

  add(kind: WatchKind, path: string, watcher: WatcherId): void {
    this.#table(kind).add(path, watcher);
  }
  has(kind: WatchKind, path: string, watcher: WatcherId): boolean {
    return this.#table(kind).has(path, watcher);
  }
  /** True when there was one. */
  remove(kind: WatchKind, path: string, watcher: WatcherId): boolean {
    return this.#table(kind).remove(path, watcher);
  }
  /** All watches of a connection that is gone. */
  removeWatcher(watcher: WatcherId): void {
    this.#data.removeWatcher(watcher);
    this.#child.removeWatcher(watcher);
  }

  /**
   * Takes the watches of the change off the tables and emits their events, in order: the node's
   * data watches; its child watches, when it is deleted, but for watchers that just heard of it;
   * then its parent's child watches. `emit` must not touch the table.
   */
  trigger(change: WatchChange, emit: EmitWatchEvent): void {
    const { kind, path } = change;
    const eventType = EventType[kind];
    const notified = this.#data.takeAll(path);
    for (const watcher of notified) {
      emit(watcher, eventType, path);
    }
    if (kind === 'dataChanged') {
      return;
    }
    if (kind === 'deleted') {
      for (const watcher of this.#child.takeAll(path)) {
        if (!notified.has(watcher)) {
          emit(watcher, eventType, path);
        }
      }
    }
    assert(path !== '/', 'the root is neither created nor deleted');
    const parent = parentOf(path);
    for (const watcher of this.#child.takeAll(parent)) {
      emit(watcher, EventType.childrenChanged, parent);
    }
  }

  #table(kind: WatchKind): WatchedPaths {
    return kind === 'data' ? this.#data : this.#child;
  }
}

export interface WatchCounts {
  readonly watches: number;
  readonly paths: number;
  readonly watchers: number;
}
