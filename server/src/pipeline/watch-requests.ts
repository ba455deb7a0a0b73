/**
 * addWatch, checkWatches and removeWatches: a connection's requests about its own watches.
 *
 * Types 1 and 2 mean one-shot watches only, 4 and 5 the persistent ones (ZOOKEEPER-4472), and 3 all
 * of them. An unknown mode or type is answered like a malformed request, as in ZooKeeper. Whether
 * there is a node at the path does not matter, unless the path is too long for one to be created
 * there. Called by read.
 */
import {
  AddWatchMode,
  type AddWatchRequest,
  ErrorCode,
  WatcherType,
  type WatchesRequest,
} from '@rookery/protocol';
import { NO_NODE } from '../state/tree.js';
import type { WatchMode } from '../state/watches.js';
import { isTooLong } from './path-bound.js';
import type { ReadScene } from './read-scene.js';

const MODES_BY_TYPE: ReadonlyMap<number, readonly WatchMode[]> = new Map([
  [WatcherType.children, ['child']],
  [WatcherType.data, ['data']],
  [WatcherType.any, ['data', 'child', 'persistent', 'recursive']],
  [WatcherType.persistent, ['persistent']],
  [WatcherType.persistentRecursive, ['recursive']],
] as const);

export function addWatch(scene: ReadScene, request: AddWatchRequest): ErrorCode {
  const { watches, watcher, state } = scene;
  if (isTooLong(request.path) && state.tree.find(request.path) === NO_NODE) {
    return ErrorCode.badArguments;
  }
  switch (request.mode) {
    case AddWatchMode.persistent:
      return codeOf(watches.add('persistent', request.path, watcher));
    case AddWatchMode.persistentRecursive:
      return codeOf(watches.add('recursive', request.path, watcher));
    default:
      return ErrorCode.marshallingError;
  }
}

export function checkWatches(scene: ReadScene, request: WatchesRequest): ErrorCode {
  const { watches, watcher } = scene;
  const modes = MODES_BY_TYPE.get(request.type);
  if (modes === undefined) return ErrorCode.marshallingError;
  const found = modes.some((mode) => watches.has(mode, request.path, watcher));
  return found ? ErrorCode.ok : ErrorCode.noWatcher;
}

export function removeWatches(scene: ReadScene, request: WatchesRequest): ErrorCode {
  const { watches, watcher } = scene;
  const modes = MODES_BY_TYPE.get(request.type);
  if (modes === undefined) return ErrorCode.marshallingError;
  const removed = modes.filter((mode) => watches.remove(mode, request.path, watcher));
  return removed.length > 0 ? ErrorCode.ok : ErrorCode.noWatcher;
}

/** -1, as for every watch for which there is no room. */
function codeOf(isSet: boolean): ErrorCode {
  return isSet ? ErrorCode.ok : ErrorCode.systemError;
}
