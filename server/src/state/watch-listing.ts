/**
 * Lists the data watches, by path and by watcher, each pair once, for the four-letter words.
 *
 * Everything is lazy, and may continue in later turns while watches come and go: no copy is made,
 * and what changes meanwhile is shown or left out. A listing visits at most as many entries of a
 * table as there were when it reached the table, so it ends although watches are added after that.
 * A null stands in place of each element that was listed before: skipping it took time, which a
 * caller that lists a little in each turn counts. It changes nothing. Called by the view of the
 * member.
 */
import { atMost } from './at-most.js';
import type { WatchedPaths } from './watched-paths.js';
import type { WatcherId, WatchTable } from './watches.js';

export interface WatchedPath {
  readonly path: string;
  readonly watchers: Iterable<WatcherId | null>;
}

export interface Watcher {
  readonly watcher: WatcherId;
  readonly paths: Iterable<string | null>;
}

export function* watchedPaths({ dataTables }: WatchTable): Generator<WatchedPath | null> {
  for (const [place, table] of dataTables.entries()) {
    const before = dataTables.slice(0, place);
    for (const path of atMost(table.pathCount, table.paths())) {
      const isListed = before.some((other) => other.hasPath(path));
      yield isListed ? null : { path, watchers: watchersOf(dataTables, path) };
    }
  }
}

export function* watchers({ dataTables }: WatchTable): Generator<Watcher | null> {
  for (const [place, table] of dataTables.entries()) {
    const before = dataTables.slice(0, place);
    for (const watcher of atMost(table.watcherCount, table.watchers())) {
      const isListed = before.some((other) => other.hasWatcher(watcher));
      yield isListed ? null : { watcher, paths: pathsOf(dataTables, watcher) };
    }
  }
}

function* watchersOf(tables: readonly WatchedPaths[], path: string): Generator<WatcherId | null> {
  for (const [place, table] of tables.entries()) {
    const before = tables.slice(0, place);
    for (const watcher of atMost(table.watcherCount, table.watchersOf(path))) {
      yield before.some((other) => other.has(path, watcher)) ? null : watcher;
    }
  }
}

function* pathsOf(tables: readonly WatchedPaths[], watcher: WatcherId): Generator<string | null> {
  for (const [place, table] of tables.entries()) {
    const before = tables.slice(0, place);
    for (const path of atMost(table.pathCount, table.pathsOf(watcher))) {
      yield before.some((other) => other.has(path, watcher)) ? null : path;
    }
  }
}
