/**
 * setWatches and setWatches2: a client that reconnected gets the event that it missed, or its watch
 * again.
 *
 * A missed change is reported by an event right away, before the reply; that uses the watch up. The
 * zxid of these events is -1, because nobody knows which change it was. A watch of a znode that the
 * client may not read is set again whether the znode has changed or not, because the requests about
 * watches would show the difference. A deletion is reported to everybody: every read shows that
 * there is no znode. Persistent watches are only set again, and what they missed is not reported. A
 * watch for which there is no room would be lost without its client knowing: both functions return
 * false then, and the connection must end. Called by read.
 */
import { EventType, type SetWatches2Request, type SetWatchesRequest } from '@rookery/protocol';
import { NO_NODE } from '../state/tree.js';
import { CATCH_UP_ZXID, writeEvent } from './event.js';
import { mayRead, type ReadScene } from './read-scene.js';

export function catchUp(scene: ReadScene, request: SetWatchesRequest): boolean {
  const { state, watches, watcher } = scene;
  const { tree } = state;
  const seen = request.relativeZxid;
  for (const path of request.dataWatches) {
    const node = tree.find(path);
    if (node === NO_NODE) tell(scene, EventType.deleted, path);
    else if (tree.mzxid(node) > seen && mayRead(scene, node)) {
      tell(scene, EventType.dataChanged, path);
    } else if (!watches.add('data', path, watcher)) return false;
  }
  for (const path of request.existWatches) {
    const node = tree.find(path);
    if (node !== NO_NODE && mayRead(scene, node)) tell(scene, EventType.created, path);
    else if (!watches.add('data', path, watcher)) return false;
  }
  for (const path of request.childWatches) {
    const node = tree.find(path);
    if (node === NO_NODE) tell(scene, EventType.deleted, path);
    else if (tree.pzxid(node) > seen && mayRead(scene, node)) {
      tell(scene, EventType.childrenChanged, path);
    } else if (!watches.add('child', path, watcher)) return false;
  }
  return true;
}

export function catchUpWithPersistent(scene: ReadScene, request: SetWatches2Request): boolean {
  const { watches, watcher } = scene;
  return (
    catchUp(scene, request) &&
    request.persistentWatches.every((path) => watches.add('persistent', path, watcher)) &&
    request.persistentRecursiveWatches.every((path) => watches.add('recursive', path, watcher))
  );
}

function tell(scene: ReadScene, type: EventType, path: string): void {
  const { stats, writer } = scene.channel;
  stats.sentEvent(writeEvent(writer, { zxid: CATCH_UP_ZXID, type, path }));
}
