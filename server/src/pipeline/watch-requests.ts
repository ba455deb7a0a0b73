/**
 * Requests about a connection's own watches: setWatches and setWatches2 (`catchUp`), addWatch,
 * checkWatches and removeWatches. Called by read and Requests.
 */
import {
  AddWatchMode,
  type AddWatchRequest,
  ErrorCode,
  EventType,
  JuteReader,
  JuteWriter,
  MarshallingError,
  OpCode,
  type SetWatches2Request,
  type SetWatchesRequest,
  WatcherType,
  type WatchesRequest,
} from '@rookery/protocol';
import { NO_NODE } from '../state/tree.js';
import type { WatchMode } from '../state/watches.js';
import { isTooLong } from './path-bound.js';
import { mayRead, type ReadScene } from './read-scene.js';
import { CATCH_UP_ZXID, writeEvent } from './reply.js';

/**
 * The bytes of the paths of one part. Some 750 paths of usual length take about 0.5 ms once their
 * code has been optimized, and three times as long before; clients send 128 KB at a time.
 */
const PART_BYTES = 8 << 10;
const SEEN_BYTES = 8;
const LISTS: ReadonlyMap<number, number> = new Map([
  [OpCode.setWatches, 3],
  [OpCode.setWatches2, 5],
]);

/** Whether the request is so large that it is divided. */
export function isDivided(opcode: number, bodyBytes: number): boolean {
  return bodyBytes > PART_BYTES && LISTS.has(opcode);
}

/** The bodies of the parts, at least one. A malformed request is not divided. */
export function partsOf(opcode: number, body: Uint8Array): Uint8Array[] {
  const lists = LISTS.get(opcode) ?? 0;
  const parts: Uint8Array[] = [];
  const reader = new JuteReader(body);
  try {
    reader.skip(SEEN_BYTES);
    for (let list = 0; list < lists; list++) {
      for (let left = Math.max(0, reader.count()); left > 0; ) {
        const start = reader.position;
        const count = skipSome(reader, left);
        const paths = body.subarray(start, reader.position);
        parts.push(partOf(body.subarray(0, SEEN_BYTES), { lists, list, count, paths }));
        left -= count;
      }
    }
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    return [body];
  }
  return parts.length === 0 ? [body] : parts;
}

/** Skips as many of the paths as a part has, and returns their number. */
function skipSome(reader: JuteReader, countMax: number): number {
  const start = reader.position;
  let count = 0;
  while (count < countMax && reader.position - start < PART_BYTES) {
    if (reader.skipBuffer() === -1) throw new MarshallingError('a path is null');
    count += 1;
  }
  return count;
}

interface PartOfList {
  readonly lists: number;
  readonly list: number;
  readonly count: number;
  readonly paths: Uint8Array;
}

function partOf(seen: Uint8Array, { lists, list, count, paths }: PartOfList): Uint8Array {
  const writer = new JuteWriter();
  writer.raw(seen);
  for (let index = 0; index < lists; index++) {
    writer.int(index === list ? count : 0);
    if (index === list) writer.raw(paths);
  }
  return writer.take();
}

/**
 * setWatches: a client that reconnected gets each event that it missed, or its watch again.
 *
 * A missed change is reported by an event right away, before the reply; that uses the watch up. The
 * zxid of these events is -1, because it is not known which change it was. A watch of a znode that
 * the client may not read is set again whether the znode has changed or not, because the requests
 * about watches would show the difference. A deletion is reported to every client: every read shows
 * that there is no znode. Persistent watches are only set again, and what they missed is not
 * reported. A watch for which there is no room would be lost without its client knowing: both
 * functions return false then, and the connection must end.
 *
 * A request may name more paths than one turn has time for, so a large one is divided into parts
 * (`partsOf`), which are run one after the other and may be run in different turns: each is a whole
 * request, and the answer follows behind the last. A change between two of them is reported once:
 * by its event where the watch is set already, or else as one that was missed.
 */
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
    else if (!isVoid(scene, path) && !watches.add('data', path, watcher)) return false;
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
  const { persistentWatches, persistentRecursiveWatches } = request;
  return (
    catchUp(scene, request) &&
    persistentWatches.every((path) => addAgain(scene, 'persistent', path)) &&
    persistentRecursiveWatches.every((path) => addAgain(scene, 'recursive', path))
  );
}

function addAgain(scene: ReadScene, mode: WatchMode, path: string): boolean {
  return isVoid(scene, path) || scene.watches.add(mode, path, scene.watcher);
}

/** No znode is there and none can be created, so there is nothing to wait for. */
function isVoid({ state }: ReadScene, path: string): boolean {
  return isTooLong(path) && state.tree.find(path) === NO_NODE;
}

function tell(scene: ReadScene, type: EventType, path: string): void {
  const { stats, writer } = scene.channel;
  stats.sentEvent(writeEvent(writer, { zxid: CATCH_UP_ZXID, type, path }));
}

/**
 * Types 1 and 2 mean one-shot watches only, 4 and 5 the persistent ones (ZOOKEEPER-4472), and 3 all
 * of them. An unknown type is answered like a malformed request, as in ZooKeeper.
 */
const MODES_BY_TYPE: ReadonlyMap<number, readonly WatchMode[]> = new Map([
  [WatcherType.children, ['child']],
  [WatcherType.data, ['data']],
  [WatcherType.any, ['data', 'child', 'persistent', 'recursive']],
  [WatcherType.persistent, ['persistent']],
  [WatcherType.persistentRecursive, ['recursive']],
] as const);

/**
 * Whether there is a node at the path does not matter, unless the path is too long for one to be
 * created there. An unknown mode is answered like a malformed request, as in ZooKeeper.
 */
export function addWatch(scene: ReadScene, request: AddWatchRequest): ErrorCode {
  const { watches, watcher } = scene;
  if (isVoid(scene, request.path)) return ErrorCode.badArguments;
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
