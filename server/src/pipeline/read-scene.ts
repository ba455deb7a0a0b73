/**
 * The surroundings of a read (the state and watches of the member, and the connection that asks),
 * and the bounds of its answer.
 */
import { JuteReader, OpCode, Perms } from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import { NO_NODE, type Tree } from '../state/tree.js';
import type { SessionId } from '../state/txn.js';
import type { WatcherId, WatchTable } from '../state/watches.js';
import { entriesToJudge, mayDo, type Requester } from './access.js';
import type { ClientChannel } from './client-channel.js';
import type { Connection } from './connection.js';

export interface ReadScene {
  readonly state: ReplicatedState;
  readonly watches: WatchTable;
  readonly watcher: WatcherId;
  readonly channel: ClientChannel;
  readonly requester: Requester;
  readonly session: SessionId;
  /** The operations of one multiRead. */
  readonly multiOpsMax: number;
}

/** Makes scenes. It keeps the last one, because the next read is mostly of the same connection. */
export class ReadScenes {
  readonly #watches: WatchTable;
  readonly #multiOpsMax: number;
  #last: ReadScene | null = null;

  constructor(watches: WatchTable, multiOpsMax: number) {
    this.#watches = watches;
    this.#multiOpsMax = multiOpsMax;
  }

  of(
    state: ReplicatedState,
    { id: watcher, session, channel }: Connection,
    requester: Requester,
  ): ReadScene {
    const last = this.#last;
    const isSame = last?.watcher === watcher && last.requester === requester;
    if (isSame && last.state === state) return last;
    const [watches, multiOpsMax] = [this.#watches, this.#multiOpsMax];
    const scene = { state, watches, multiOpsMax, watcher, channel, requester, session };
    this.#last = scene;
    return scene;
  }

  /** Keeps nothing of the state and of the connection that were read last. */
  forget(): void {
    this.#last = null;
  }
}

/** Whether the client may read this node; every read of a node asks. */
export function mayRead(scene: ReadScene, node: number): boolean {
  if (scene.state.tree.worldMay(node, Perms.read)) return true;
  return mayDo(scene.requester, scene.state.tree.acl(node), Perms.read);
}

/** The estimate for a header and a Stat: most answers have no more. */
const SMALL_BYTES = 128;
/** The least to assume for a child's name, because children may be added before the answer. */
const NAME_BYTES = 64;
/** What judging an entry of a long ACL for the first time takes. */
const JUDGED_ENTRY_BYTES = 256;
/** The estimate for an entry of an ACL in an answer, without its texts. */
const ACL_ENTRY_BYTES = 64;
const PATH_LENGTH_BYTES = 4;
/** The estimate for answers that may have any size and are requested rarely. */
export const LARGE_BYTES = 1 << 20;

interface WaitingRead {
  readonly opcode: number;
  /** The record after the header. */
  readonly body: Uint8Array;
  /** The largest body of a write of the session since nothing of it was pending. */
  readonly writeBytes: number;
  readonly requester: Requester;
}

/** Whether the answer may be large although neither its request nor one znode's data is. */
export function isListing(opcode: number): boolean {
  switch (opcode) {
    case OpCode.getChildren:
    case OpCode.getChildren2:
    case OpCode.getChildrenPage:
    case OpCode.getEphemerals:
    case OpCode.multiRead:
      return true;
    default:
      return false;
  }
}

/**
 * Estimates how large the answer to a waiting read will be. A read that takes long although it
 * writes little is estimated as an answer that takes as long.
 *
 * The estimate is based on the present state: it does not foresee what other sessions change until
 * the read runs, but does include what its own session writes before it. It never changes or
 * refuses anything: what cannot be read is answered with an error, which is small. Called by
 * Requests for reads that are queued.
 */
export function answerBytesOf(tree: Tree, read: WaitingRead): number {
  const bytes = SMALL_BYTES + read.body.length;
  switch (read.opcode) {
    case OpCode.getData:
    case OpCode.exists:
    case OpCode.getChildren:
    case OpCode.getChildren2:
    case OpCode.getAcl:
      return bytes + ofNode(tree, read);
    case OpCode.getChildrenPage:
    case OpCode.getEphemerals:
    case OpCode.multiRead:
    case OpCode.setWatches:
    case OpCode.setWatches2:
      // The last two name up to thousands of paths, each of which is looked up and may be watched.
      return LARGE_BYTES;
    default:
      return bytes;
  }
}

function ofNode(tree: Tree, read: WaitingRead): number {
  const { opcode, writeBytes } = read;
  const least = opcode === OpCode.getData ? writeBytes : 0;
  const node = nodeOf(tree, read.body);
  if (node === NO_NODE) return least;
  return Math.max(least, contentBytes(tree, opcode, node)) + judgingBytes(tree, node, read);
}

function contentBytes(tree: Tree, opcode: number, node: number): number {
  switch (opcode) {
    case OpCode.getData:
      return Math.max(0, tree.dataLength(node));
    case OpCode.getChildren:
    case OpCode.getChildren2:
      return childrenBytes(tree, node);
    case OpCode.getAcl:
      return aclBytes(tree, node);
    default:
      return 0;
  }
}

function childrenBytes(tree: Tree, node: number): number {
  const bytes = tree.childCount(node) * NAME_BYTES;
  if (bytes >= LIST_BYTES_MAX) return LIST_BYTES_MAX;
  return Math.min(LIST_BYTES_MAX, Math.max(bytes, tree.listedBytes(node)));
}

function aclBytes(tree: Tree, node: number): number {
  let bytes = 0;
  for (const { scheme, id } of tree.acl(node)) {
    bytes += ACL_ENTRY_BYTES + scheme.length + id.length;
    if (bytes >= LARGE_BYTES) break;
  }
  return bytes;
}

function judgingBytes(tree: Tree, node: number, { requester }: WaitingRead): number {
  if (tree.worldMay(node, Perms.read)) return 0;
  return entriesToJudge(requester, tree.acl(node)) * JUDGED_ENTRY_BYTES;
}

function nodeOf(tree: Tree, body: Uint8Array): number {
  const reader = new JuteReader(body);
  if (reader.remaining < PATH_LENGTH_BYTES) return NO_NODE;
  const bytes = reader.int();
  if (bytes < 0 || bytes > reader.remaining) return NO_NODE;
  return tree.findBytes(reader.view, reader.position, reader.position + bytes);
}

/**
 * A million names of 28 characters, and the size of a frame between members. By default clients
 * refuse such a frame: ZooKeeper's from 4 MB on, ours from 16 MB on.
 */
export const LIST_BYTES_MAX = 32 << 20;
/** A name's length field and one character. */
const NAME_BYTES_MIN = 5;

/**
 * Bounds the list of children in an answer to one request.
 *
 * The names of a directory may fill the whole memory of the tree, but a list is made and sent in
 * one turn, and no frame can have 2^31 bytes. The bound is checked before the list is made. Larger
 * directories can be listed in pages. Called by each request that lists a whole directory.
 */
export function isListable(tree: Tree, node: number): boolean {
  // Too many names exceed the bound whatever their lengths.
  if (tree.childCount(node) * NAME_BYTES_MIN > LIST_BYTES_MAX) return false;
  return tree.listedBytes(node) <= LIST_BYTES_MAX;
}
