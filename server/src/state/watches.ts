/**
 * Who watches what at this member: the data table and the child table. Not replicated.
 */
export type WatchKind = 'data' | 'child';
/** The member's number of a connection. */
export type WatcherId = number;

export interface WatchChange {
  readonly kind: 'created' | 'deleted' | 'dataChanged';
  readonly path: string;
}

/** `eventType` is a value of protocol's EventType. */
export type EmitWatchEvent = (watcher: WatcherId, eventType: number, path: string) => void;

export class WatchTable {
  /** Pairs of a watcher and a path, over both tables. */
  get watchCount(): number {
    throw new Error('skeleton');
  }
  /** Paths with a watch, counted once per table. */
  get pathCount(): number {
    throw new Error('skeleton');
  }
  /** Watchers with at least one watch. */
  get watcherCount(): number {
    throw new Error('skeleton');
  }
  counts(_kind: WatchKind): { readonly watches: number; readonly paths: number } {
    throw new Error('skeleton');
  }
  add(_kind: WatchKind, _path: string, _watcher: WatcherId): void {
    throw new Error('skeleton');
  }
  has(_kind: WatchKind, _path: string, _watcher: WatcherId): boolean {
    throw new Error('skeleton');
  }
  /** True when there was one. */
  remove(_kind: WatchKind, _path: string, _watcher: WatcherId): boolean {
    throw new Error('skeleton');
  }
  /** All watches of a connection that is gone. */
  removeWatcher(_watcher: WatcherId): void {
    throw new Error('skeleton');
  }
  /** Takes the one-shot watches of the change off the tables and emits their events, in order. */
  trigger(_change: WatchChange, _emit: EmitWatchEvent): void {
    throw new Error('skeleton');
  }
}
