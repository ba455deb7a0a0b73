/**
 * Estimates how large the answer to a waiting read will be.
 *
 * The estimate is based on the present state: it does not foresee what other sessions change until
 * the read runs, but does include what its own session writes before it. It never changes or
 * refuses anything: what cannot be read is answered with an error, which is small. Called by
 * Requests for reads that are queued.
 */
import { JuteReader, MarshallingError, OpCode } from '@rookery/protocol';
import { NO_NODE, type Tree } from '../state/tree.js';
import { LIST_BYTES_MAX } from './list-bound.js';

/** The estimate for a header and a Stat: most answers have no more. */
const SMALL_BYTES = 128;
/** The least to assume for a child's name, because children may be added before the answer. */
const NAME_BYTES = 64;
/** The estimate for answers that may have any size and are requested rarely. */
export const LARGE_BYTES = 1 << 20;

export interface WaitingRead {
  readonly opcode: number;
  /** The record after the header. */
  readonly body: Uint8Array;
  /** The largest body of a write of the session since nothing of it was pending. */
  readonly writeBytes: number;
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

export function answerBytesOf(tree: Tree, read: WaitingRead): number {
  switch (read.opcode) {
    case OpCode.getData:
      return SMALL_BYTES + Math.max(read.writeBytes, ofNode(tree, read.body, dataBytes));
    case OpCode.getChildren:
    case OpCode.getChildren2:
      return SMALL_BYTES + ofNode(tree, read.body, childrenBytes);
    case OpCode.getChildrenPage:
    case OpCode.getEphemerals:
    case OpCode.multiRead:
      return LARGE_BYTES;
    case OpCode.setWatches:
    case OpCode.setWatches2:
      // One event for each path that it names.
      return SMALL_BYTES + read.body.length * 2;
    default:
      return SMALL_BYTES;
  }
}

function ofNode(tree: Tree, body: Uint8Array, size: (tree: Tree, node: number) => number): number {
  const path = pathOf(body);
  const node = path === null ? NO_NODE : tree.find(path);
  return node === NO_NODE ? 0 : size(tree, node);
}

function dataBytes(tree: Tree, node: number): number {
  return Math.max(0, tree.dataLength(node));
}

function childrenBytes(tree: Tree, node: number): number {
  const bytes = tree.childCount(node) * NAME_BYTES;
  if (bytes >= LIST_BYTES_MAX) return LIST_BYTES_MAX;
  return Math.min(LIST_BYTES_MAX, Math.max(bytes, tree.listedBytes(node)));
}

function pathOf(body: Uint8Array): string | null {
  try {
    return new JuteReader(body).string();
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    return null;
  }
}
