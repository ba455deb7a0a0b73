/**
 * Finds the znode of a path: by the keyed hash, the index over it, and the names from the znode up
 * to the root, which decide.
 *
 * A chain of the index has a bound. A client cannot make a long one without knowing the key. If one
 * did know it, what exceeds the bound would go into a Map by path, whose hash is keyed by V8. Owned
 * by TreeReads; Tree reports znodes that are added and removed.
 */

import { viewOf } from '@rookery/protocol';
import { type NameBytes, textAt } from './hash.js';
import { INT, NONE, type NodeStore } from './node-store.js';
import { type HashedWords, PathHash, type PathKey, type PathPrefix } from './path-hash.js';
import { PathIndex } from './path-index.js';
import type { PathView } from './path-view.js';
import type { Payloads } from './payloads.js';

const ROOT_NODE = 0;
const SLASH = 0x2f;
const ASCII_MAX = 0x7f;
/**
 * The bound of nodes in a bucket, which has less than one on average. The chance that any of a
 * million buckets has so many is below 10^-50.
 */
export const CHAIN_NODES_MAX = 48;

export class PathFinder {
  readonly #store: NodeStore;
  readonly #payloads: Payloads;
  readonly #index: PathIndex;
  readonly #hash: PathHash;
  readonly #last: LastDirectory;
  /** Nodes whose chain was full. */
  readonly #beyond = new Map<string, number>();
  /**
   * The number of nodes that the last unsuccessful search passed: the length of the chain, or 0 if
   * PathIndex knew without a look that no hash of this kind is in it. The first node of each of the
   * eight kinds is therefore never too many, and a chain may have seven nodes beyond its bound.
   */
  #passed = 0;
  /**
   * The result of the last search, because a change of a znode looks it up once more to answer; no
   * node has the path ''.
   */
  #foundPath = '';
  #found: number = NONE;

  constructor(store: NodeStore, payloads: Payloads, key: PathKey) {
    this.#store = store;
    this.#payloads = payloads;
    this.#index = new PathIndex(store);
    this.#hash = new PathHash(key);
    this.#last = new LastDirectory(this.#hash);
  }

  /** For owners of paths that are not in the tree. The hash never leaves this process. */
  hashOf(path: string): number {
    return this.#hash.of(path);
  }
  prefixOf(text: string): PathPrefix {
    return this.#hash.prefixOf(text);
  }
  hashOfName(prefix: PathPrefix, name: NameBytes): number {
    return this.#hash.ofName(prefix, name);
  }

  /** The node at `path`, or NONE (also for an ill-formed path). */
  find(path: string): number {
    if (path.length === 1 && path === '/') return ROOT_NODE;
    if (path === this.#foundPath) return this.#found;
    const node = this.#search(path);
    if (node !== NONE) {
      this.#foundPath = path;
      this.#found = node;
    }
    return node;
  }

  /** Like `find`, for a path that is UTF-8 in `bytes`; it makes no string if the path is ASCII. */
  findBytes(bytes: DataView, start: number, end: number): number {
    const found = this.findAscii(bytes, start, end);
    if (found !== NONE) return found;
    for (let at = start; at < end; at++) {
      if (bytes.getUint8(at) > ASCII_MAX) return this.find(textAt(bytes, start, end));
    }
    return NONE;
  }

  /** Like `find`, for a path that is ASCII in `bytes`; NONE for anything else. */
  findAscii(bytes: DataView, start: number, end: number): number {
    if (end - start === 1 && bytes.getUint8(start) === SLASH) return ROOT_NODE;
    const restStart = this.#last.restStart(bytes, start, end);
    const hash = this.#hashFrom(restStart, bytes, start, end);
    return this.#searchAscii(hash, restStart, bytes, start, end);
  }

  /** Like `findAscii`. Leaves the node and the hash of the path in `at`; the root's hash is 0. */
  locateAscii(at: PathView): void {
    const { view, pathStart, pathEnd } = at;
    if (pathEnd - pathStart === 1 && view.getUint8(pathStart) === SLASH) {
      at.hash = 0;
      at.node = ROOT_NODE;
      return;
    }
    const restStart = this.#last.restStart(view, pathStart, pathEnd);
    at.hash = this.#hashFrom(restStart, view, pathStart, pathEnd);
    at.node = this.#searchAscii(at.hash, restStart, view, pathStart, pathEnd);
  }

  /**
   * Adds a node whose path was the last to be searched for, without success; `hash` is that of the
   * path.
   */
  added(node: number, hash: number, op: { readonly path: string }): void {
    this.#store.setInt(node, INT.indexHash, hash);
    if (this.#passed < CHAIN_NODES_MAX) this.#index.insert(node);
    else this.#beyond.set(op.path, node);
    this.#passed = 0;
  }

  /** The node is about to be deleted. */
  removed(node: number, path: string): void {
    this.#last.onRemoved(node);
    this.#foundPath = '';
    // A request may have the empty path.
    this.#found = NONE;
    if (this.#beyond.size > 0 && this.#beyond.delete(path)) return;
    this.#index.remove(node);
  }

  /**
   * Recovery: adds all nodes below `limit` that were not added; their rows have their hashes by
   * now.
   */
  addUpTo(limit: number): void {
    this.#index.insertUpTo(limit);
  }

  /** Recovery: the child with that name among the nodes that were added. */
  findChild(parent: number, hash: number, name: NameBytes): number {
    const store = this.#store;
    let node = this.#index.first(hash);
    while (node !== NONE) {
      if (
        store.int(node, INT.indexHash) === hash &&
        store.int(node, INT.parent) === parent &&
        this.#payloads.hasName(node, name)
      ) {
        return node;
      }
      node = this.#index.next(node);
    }
    return NONE;
  }

  #search(path: string): number {
    const hash = this.#hash.of(path);
    let passed = 0;
    for (let node = this.#index.first(hash); node !== NONE; node = this.#index.next(node)) {
      if (this.#store.int(node, INT.indexHash) === hash && this.#hasPath(node, path)) return node;
      passed++;
    }
    this.#passed = passed;
    return this.#beyond.size === 0 ? NONE : (this.#beyond.get(path) ?? NONE);
  }

  #hashFrom(restStart: number, bytes: DataView, start: number, end: number): number {
    if (restStart === NONE) return this.#hash.ofBytes(bytes, start, end);
    return this.#hash.ofBytes(bytes, start, end, this.#last.hashed);
  }

  /** `restStart` is where the rest begins if the path is below the last directory, else NONE. */
  #searchAscii(
    hash: number,
    restStart: number,
    bytes: DataView,
    start: number,
    end: number,
  ): number {
    let passed = 0;
    for (let node = this.#index.first(hash); node !== NONE; node = this.#index.next(node)) {
      const isIt = this.#store.int(node, INT.indexHash) === hash;
      if (isIt && this.#hasBytes(node, restStart, bytes, start, end)) return node;
      passed++;
    }
    this.#passed = passed;
    if (this.#beyond.size === 0) return NONE;
    return this.#beyond.get(textAt(bytes, start, end)) ?? NONE;
  }

  /** One function, because this runs for each request, and V8 then inlines it as a whole. */
  #hasBytes(node: number, restStart: number, path: DataView, start: number, end: number): boolean {
    const store = this.#store;
    const parent = store.int(node, INT.parent);
    const nameStart = this.#payloads.asciiNameStart(node, path, start, end);
    if (nameStart === NONE) return false;
    // Otherwise the znode is deeper below the last directory, or elsewhere.
    if (nameStart === restStart) return parent === this.#last.node;
    let at = parent;
    let left = nameStart - 1;
    while (at !== ROOT_NODE) {
      const from = this.#payloads.asciiNameStart(at, path, start, left);
      if (from === NONE) return false;
      left = from - 1;
      at = store.int(at, INT.parent);
    }
    if (left !== start) return false;
    this.#last.onOther(parent, path, start, nameStart);
    return true;
  }

  #hasPath(node: number, path: string): boolean {
    let at = node;
    let end = path.length;
    while (at !== ROOT_NODE) {
      const start = this.#payloads.nameStart(at, path, end);
      if (start === NONE) return false;
      end = start - 1;
      at = this.#store.int(at, INT.parent);
    }
    return end === 0;
  }
}

/** A directory with a longer path, the slash behind it included, is not kept. */
const BYTES_MAX = 256;
/** The number of lookups in a different directory after which that one is kept. */
const LOOKUPS_MIN = 8;

/**
 * The directory below which znodes are being looked up: what many lookups in a row have in common.
 *
 * Clients mostly ask for several children of one znode, one after the other. While they do, the
 * beginning of a path is compared with the path of that znode. This takes less time than to hash it
 * and to compare it with the names of all znodes above: a getData of 100 bytes three levels down
 * takes a tenth less. One directory is kept. A different one replaces it after several lookups that
 * were all in the different one, so lookups in many directories cost one comparison each. Owned by
 * PathFinder.
 */
class LastDirectory {
  /** The directory, or NONE. */
  node: number = NONE;
  /** The hash of the whole words of its path, with a slash behind it. */
  hashed: HashedWords;
  readonly #hash: PathHash;
  readonly #bytes = new Uint8Array(BYTES_MAX);
  readonly #view = viewOf(this.#bytes);
  #length = 0;
  /** The different directory of the last lookups outside of `node`, and their number. */
  #other: number = NONE;
  #lookups = 0;

  constructor(hash: PathHash) {
    this.#hash = hash;
    this.hashed = hash.wordsOf(this.#view, 0);
  }

  /**
   * If a path begins with that of the directory and a slash, returns where the rest begins: the
   * name of a child, or a path further down. Otherwise returns NONE.
   */
  restStart(path: DataView, start: number, end: number): number {
    const length = this.#length;
    if (this.node === NONE || end - start <= length) return NONE;
    const own = this.#view;
    let at = 0;
    for (; at + 4 <= length; at += 4) {
      if (own.getInt32(at, true) !== path.getInt32(start + at, true)) return NONE;
    }
    for (; at < length; at++) {
      if (own.getUint8(at) !== path.getUint8(start + at)) return NONE;
    }
    return start + length;
  }

  /**
   * A child of `directory`, which is not the one that is kept, was found. Its path begins at
   * `start`, and its name at `nameStart`.
   */
  onOther(directory: number, path: DataView, start: number, nameStart: number): void {
    if (directory !== this.#other) {
      this.#other = directory;
      this.#lookups = 0;
    }
    this.#lookups += 1;
    const length = nameStart - start;
    if (this.#lookups < LOOKUPS_MIN || length > BYTES_MAX) return;
    for (let at = 0; at < length; at++) this.#bytes[at] = path.getUint8(start + at);
    this.hashed = this.#hash.wordsOf(this.#view, length);
    this.#length = length;
    this.node = directory;
    this.#other = NONE;
  }

  /** The znode is about to be deleted, and its number may be used for another one. */
  onRemoved(node: number): void {
    if (node === this.node) this.node = NONE;
    if (node === this.#other) this.#other = NONE;
  }
}
