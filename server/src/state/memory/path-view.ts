/**
 * Refers to a path in memory that it does not own: within a request, within a transaction, or made
 * from a string.
 *
 * A znode is found by these bytes (`Tree.locate`), and then by its hash and its node, or these
 * bytes, among those in flight (ZnodesInFlight). A string is made only where `path` is read.
 * Malformed UTF-8 is read as U+FFFD, which no path of a znode has, so such bytes name nothing.
 * `pathHashOf` and `beginsWith` take one of these or an operation whose path is a string.
 */
import { viewOf } from '@rookery/protocol';
import { hashPath, hashPathBytes } from './hash.js';

const SLASH = 0x2f;
const ASCII_MAX = 0x7f;
export const NO_BYTES = Buffer.alloc(0);
export const NO_VIEW = viewOf(NO_BYTES);

/** Names the znode of a change. Of a PathView, `path` is made when it is read. */
export interface WithPath {
  readonly path: string;
}

export class PathView implements WithPath {
  bytes: Buffer = NO_BYTES;
  /** The same bytes. */
  view: DataView = NO_VIEW;
  pathStart = 0;
  pathEnd = 0;
  /** The hash of the path for the index, and its node in the tree or NONE; see `Tree.locate`. */
  hash = 0;
  node = -1;

  get path(): string {
    return this.bytes.toString('utf8', this.pathStart, this.pathEnd);
  }

  /** The path is this text from now on. */
  setPath(path: string): void {
    this.bytes = Buffer.from(path);
    this.view = viewOf(this.bytes);
    this.pathStart = 0;
    this.pathEnd = this.bytes.length;
  }

  get pathBytes(): number {
    return this.pathEnd - this.pathStart;
  }

  get isAscii(): boolean {
    for (let at = this.pathStart; at < this.pathEnd; at++) {
      if ((this.bytes[at] ?? 0) > ASCII_MAX) return false;
    }
    return true;
  }
}

export function pathViewOf(path: string): PathView {
  const view = new PathView();
  view.setPath(path);
  return view;
}

/** The path of the parent, in the same bytes; like `parentOf`. */
export function parentViewOf({ bytes, view, pathStart, pathEnd }: PathView): PathView {
  let end = pathEnd - 1;
  while (end > pathStart && bytes[end] !== SLASH) end--;
  const above = new PathView();
  above.bytes = bytes;
  above.view = view;
  above.pathStart = pathStart;
  // The path of the root is the slash itself.
  above.pathEnd = Math.max(end, pathStart + 1);
  return above;
}

/** The hash of its path, as the digest uses it. */
export function pathHashOf(op: WithPath): number {
  if (!(op instanceof PathView)) return hashPath(op.path);
  return hashPathBytes(op.view, op.pathStart, op.pathEnd);
}

/** Whether its path begins with `text`, which is ASCII. */
export function beginsWith(op: WithPath, text: string): boolean {
  if (!(op instanceof PathView)) return op.path.startsWith(text);
  if (op.pathEnd - op.pathStart < text.length) return false;
  for (let i = 0; i < text.length; i++) {
    if (op.bytes[op.pathStart + i] !== text.charCodeAt(i)) return false;
  }
  return true;
}
