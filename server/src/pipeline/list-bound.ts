/**
 * Bounds the list of children in an answer to one request.
 *
 * The names of a directory may fill the whole memory of the tree, but a list is made and sent in
 * one turn, and no frame can have 2^31 bytes. The bound is checked before the list is made. Larger
 * directories can be listed in pages. Called by each request that lists a whole directory.
 */
import type { Tree } from '../state/tree.js';

/**
 * A million names of 28 characters, and the size of a frame between members. By default clients
 * refuse such a frame: ZooKeeper's from 4 MB on, ours from 16 MB on.
 */
export const LIST_BYTES_MAX = 32 << 20;
/** A name's length field and one character. */
const NAME_BYTES_MIN = 5;

export function isListable(tree: Tree, node: number): boolean {
  // Too many names exceed the bound whatever their lengths.
  if (tree.childCount(node) * NAME_BYTES_MIN > LIST_BYTES_MAX) return false;
  return tree.listedBytes(node) <= LIST_BYTES_MAX;
}
