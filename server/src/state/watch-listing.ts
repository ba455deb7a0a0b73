/**
 * Lists the data watches, by path and by watcher, each pair once, for the four-letter words.
 *
 * Everything is lazy, and may continue in later turns while watches come and go: no copy is made,
 * and what changes meanwhile is shown or left out. A listing visits at most as many entries of a
 * table as there were when it reached the table, so it ends although watches are added after that.
 * It changes nothing. Called by the view of the member.
 */
import { atMost } from './at-most.js';
import type { WatchedPaths } from './watched-paths.js';
import type { WatcherId, WatchTable } from './watches.js';

export interface WatchedPath {
  readonly path: string;
  readonly watchers: Iterable<WatcherId>;
}

export interface Watcher {
  readonly watcher: WatcherId;
  readonly paths: Iterable<string>;
}

export function* watchedPaths({ dataTables }: WatchTable): Generator<WatchedPath> {
  for (const [place, table] of dataTables.entries()) {
    const before = dataTables.slice(0, place);
    for (const path of atMost(table.pathCount, table.paths())) {
      if (before.some((other) => other.hasPath(path))) continue;
      yield { path, watchers: watchersOf(dataTables, path) };
    }
  }
}

export function* watchers({ dataTables }: WatchTable): Generator<Watcher> {
  for (const [place, table] of dataTables.entries()) {
    const before = dataTables.slice(0, place);
    for (const watcher of atMost(table.watcherCount, table.watchers())) {
      if (before.some((other) => other.hasWatcher(watcher))) continue;
      yield { watcher, paths: pathsOf(dataTables, watcher) };
    }
  }
}

function* watchersOf(tables: readonly WatchedPaths[], path: string): Generator<WatcherId> {
  for (const [place, table] of tables.entries()) {
    const before = tables.slice(0, place);
    for (const watcher of atMost(table.watcherCount, table.watchersOf(path))) {
      if (!before.some((other) => other.has(path, watcher))) yield watcher;
    }
  }
}

function* pathsOf(tables: readonly WatchedPaths[], watcher: WatcherId): Generator<string> {
  for (const [place, table] of tables.entries()) {
    const before = tables.slice(0, place);
    for (const path of atMost(table.pathCount, table.pathsOf(watcher))) {
      if (!before.some((other) => other.has(path, watcher))) yield path;
    }
  }
}
