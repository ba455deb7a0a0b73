/**
 * Bounds the list of children in an answer to one request.
 *
 * A directory may have as many bytes of names as the tree has, but a list is made and sent in one
 * turn, and no frame has 2^31 bytes. Pages list what is beyond the bound. Judged before anything of
 * the list is made. Called by whatever lists a directory as a whole.
 */
import type { Tree } from '../state/tree.js';

/**
 * A million names of 28 characters. Clients refuse such a frame unless they were told otherwise:
 * ZooKeeper's from 4 MB on, ours from 16 MB on. A frame between members has as much.
 */
export const LIST_BYTES_MAX = 32 << 20;
/** The length of a name, and one character. */
const NAME_BYTES_MIN = 5;

export function isListable(tree: Tree, node: number): boolean {
  // Where there are too many names, however short, they need not be counted.
  if (tree.childCount(node) * NAME_BYTES_MIN > LIST_BYTES_MAX) return false;
  return tree.listedBytes(node) <= LIST_BYTES_MAX;
}
