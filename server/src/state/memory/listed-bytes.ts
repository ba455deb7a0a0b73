/**
 * Computes how many bytes a directory's names take in an answer, without reading the names.
 *
 * They may exceed the bound of an answer, so the size is checked before a list is made. A small
 * directory is counted each time. A large one is counted when it is first listed, and its count is
 * updated with each change. Not replicated. Called by Listings.
 */
import { FLAG, INT, NONE, type NodeStore, nameBytesOf } from './node-store.js';

/** Counting fewer names takes some microseconds. */
const KEPT_FROM = 512;
/** The length field of a list and of a name. */
const LENGTH_BYTES = 4;
/** A code unit takes two bytes in memory and at most three in UTF-8. */
const WIDE_GROWTH = 3 / 2;

export class ListedBytes {
  readonly #store: NodeStore;
  /** Counts of listed directories with at least KEPT_FROM children. */
  readonly #kept = new Map<number, number>();

  constructor(store: NodeStore) {
    this.#store = store;
  }

  /**
   * The bytes of the names as a jute vector of strings, which is exact if they are ASCII; other
   * names may take less.
   */
  of(directory: number): number {
    const kept = this.#kept.get(directory);
    if (kept !== undefined) return kept;
    const store = this.#store;
    let bytes = LENGTH_BYTES;
    let child = store.int(directory, INT.firstChild);
    while (child !== NONE) {
      bytes += this.#bytesOf(child);
      child = store.int(child, INT.nextSibling);
    }
    if (store.int(directory, INT.childCount) >= KEPT_FROM) this.#kept.set(directory, bytes);
    return bytes;
  }

  /** The child was added, or removed from the list of children: it has its name in both cases. */
  childChanged(directory: number, child: number, exists: boolean): void {
    if (this.#kept.size === 0) return;
    const kept = this.#kept.get(directory);
    if (kept === undefined) return;
    if (this.#store.int(directory, INT.childCount) < KEPT_FROM) {
      this.#kept.delete(directory);
    } else {
      this.#kept.set(directory, exists ? kept + this.#bytesOf(child) : kept - this.#bytesOf(child));
    }
  }

  #bytesOf(child: number): number {
    const shape = this.#store.int(child, INT.shape);
    const nameBytes = nameBytesOf(shape);
    const isWide = (shape & FLAG.wide) !== 0;
    return LENGTH_BYTES + (isWide ? nameBytes * WIDE_GROWTH : nameBytes);
  }
}
