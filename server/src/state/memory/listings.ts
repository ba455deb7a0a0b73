/**
 * Caches what listings of large directories need: encoded lists, windows for pages, and the bytes
 * of all names.
 *
 * These caches belong to this member, are bounded, and are not replicated. Called by Tree, which
 * reports when a directory changes.
 */
import type { JuteWriter } from '@rookery/protocol';
import { ChildPages } from './child-pages.js';
import { FLAG, INT, NONE, type NodeStore, nameBytesOf } from './node-store.js';
import { KeyedRandom, type PathKey } from './path-hash.js';
import type { Payloads } from './payloads.js';

interface ListedDirectory {
  readonly node: number;
  readonly count: number;
  /** Writes its names as a jute vector of strings. */
  encode(writer: JuteWriter): void;
}

export class Listings {
  readonly pages: ChildPages;
  readonly bytes: ListedBytes;
  readonly #encoded: EncodedChildren;

  /** `encodedBytesMax` is the bound for the encoded lists. */
  constructor(store: NodeStore, payloads: Payloads, pathKey: PathKey, encodedBytesMax?: number) {
    this.pages = new ChildPages(store, payloads, new KeyedRandom(pathKey));
    this.bytes = new ListedBytes(store);
    this.#encoded = new EncodedChildren(encodedBytesMax);
  }

  /**
   * Writes all names; those of a large directory from the cached list, if nothing has changed
   * since.
   */
  write(directory: ListedDirectory, writer: JuteWriter): void {
    if (directory.count < ENCODED_FROM) {
      directory.encode(writer);
      return;
    }
    const list = this.#encoded.get(directory.node);
    if (list !== undefined) {
      writer.raw(list);
      return;
    }
    // Without this the buffer would grow in steps, and each step would copy it.
    writer.reserve(this.bytes.of(directory.node));
    const start = writer.length;
    directory.encode(writer);
    if (this.#encoded.mayKeep(writer.length - start)) {
      this.#encoded.keep(directory.node, new Uint8Array(writer.untaken.subarray(start)));
    }
  }

  /** The child was added, or is about to be removed: it has its name during the call. */
  childChanged(directory: number, child: number, exists: boolean): void {
    this.#encoded.forget(directory);
    this.bytes.childChanged(directory, child, exists);
    this.pages.changed(directory, child, exists);
  }

  /** The directory was deleted; it had no children. */
  forget(directory: number): void {
    this.pages.forget(directory);
  }
}

/** Smaller directories are encoded each time. */
const ENCODED_FROM = 1000;
const ENCODED_BYTES_MAX = 32 << 20;

/**
 * Caches the encoded lists of children of large directories that were requested lately.
 *
 * Encoding a hundred thousand names takes longer than sending them, and clients that request them
 * mostly do so again, many at once. A list is dropped with the first change of its directory, and
 * the least recently used one makes room. The cache is bounded in bytes and not replicated. Called
 * by Listings.
 */
export class EncodedChildren {
  /** In the order of use, the most recently used list last. */
  readonly #lists = new Map<number, Uint8Array>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax = ENCODED_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** The bytes of all lists. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The list as a jute vector of strings; undefined if it must be encoded again. */
  get(directory: number): Uint8Array | undefined {
    const list = this.#lists.get(directory);
    if (list !== undefined) {
      this.#lists.delete(directory);
      this.#lists.set(directory, list);
    }
    return list;
  }

  /** Whether a list of this size fits into the cache. */
  mayKeep(bytes: number): boolean {
    return bytes <= this.#bytesMax;
  }

  /** The cache owns `list` from now on. It drops a list that does not fit. */
  keep(directory: number, list: Uint8Array): void {
    this.forget(directory);
    if (!this.mayKeep(list.length)) {
      return;
    }
    for (const [other, its] of this.#lists) {
      if (this.#bytes + list.length <= this.#bytesMax) {
        break;
      }
      this.#lists.delete(other);
      this.#bytes -= its.length;
    }
    this.#lists.set(directory, list);
    this.#bytes += list.length;
  }

  /** A child was added or removed. */
  forget(directory: number): void {
    if (this.#lists.size === 0) {
      return;
    }
    const list = this.#lists.get(directory);
    if (list !== undefined) {
      this.#lists.delete(directory);
      this.#bytes -= list.length;
    }
  }
}

/** Counting fewer names takes some microseconds. */
const KEPT_FROM = 512;
/** The length field of a list and of a name. */
const LENGTH_BYTES = 4;
/** A code unit takes two bytes in memory and at most three in UTF-8. */
const WIDE_GROWTH = 3 / 2;

/**
 * Computes how many bytes a directory's names take in an answer, without reading the names.
 *
 * They may exceed the bound of an answer, so the size is checked before a list is made. A small
 * directory is counted each time. A large one is counted when it is first listed, and its count is
 * updated with each change. Not replicated.
 */
class ListedBytes {
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
