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
import { viewOf } from '@rookery/protocol';
import { NONE } from './node-store.js';
import type { HashedWords, PathHash } from './path-hash.js';

/** A directory with a longer path, the slash behind it included, is not kept. */
const BYTES_MAX = 256;
/** The number of lookups in a different directory after which that one is kept. */
const LOOKUPS_MIN = 8;

export class LastDirectory {
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
