/**
 * setWatches: a client that reconnected gets what it missed, or its watch again.
 *
 * A missed change is told by an event right away, before the reply; the watch is used up then. The
 * zxid in these events is -1: nobody knows which change it was. Called by read.
 */
import { EventType, type SetWatchesRequest } from '@rookery/protocol';
import { NO_NODE } from '../state/tree.js';
import { CATCH_UP_ZXID, writeEvent } from './event.js';
import type { ReadScene } from './read-scene.js';

export function catchUp(scene: ReadScene, request: SetWatchesRequest): void {
  const { tree } = scene.state;
  const seen = request.relativeZxid;
  for (const path of request.dataWatches) {
    const node = tree.find(path);
    if (node === NO_NODE) tell(scene, EventType.deleted, path);
    else if (tree.mzxid(node) > seen) tell(scene, EventType.dataChanged, path);
    else scene.watches.add('data', path, scene.watcher);
  }
  for (const path of request.existWatches) {
    if (tree.find(path) !== NO_NODE) tell(scene, EventType.created, path);
    else scene.watches.add('data', path, scene.watcher);
  }
  for (const path of request.childWatches) {
    const node = tree.find(path);
    if (node === NO_NODE) tell(scene, EventType.deleted, path);
    else if (tree.pzxid(node) > seen) tell(scene, EventType.childrenChanged, path);
    else scene.watches.add('child', path, scene.watcher);
  }
}

function tell(scene: ReadScene, type: EventType, path: string): void {
  scene.output.stats.sentPackets(1);
  writeEvent(scene.output.writer, { zxid: CATCH_UP_ZXID, type, path });
}
