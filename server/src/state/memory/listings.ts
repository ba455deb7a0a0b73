/**
 * Caches what listings of large directories need: encoded lists, orders for pages, and the bytes of
 * all names.
 *
 * These caches belong to this member alone, are bounded, and are not replicated. Called by Tree,
 * which reports when a directory changes.
 */
import type { JuteWriter } from '@rookery/protocol';
import { ChildPages } from './child-pages.js';
import { ENCODED_FROM, EncodedChildren } from './encoded-children.js';
import { KeyedRandom } from './keyed-random.js';
import { ListedBytes } from './listed-bytes.js';
import type { NodeStore } from './node-store.js';
import type { PathKey } from './path-hash.js';
import type { Payloads } from './payloads.js';

export interface ListingLimits {
  /** The bound for the orders that are kept for pages. */
  readonly pageBytesMax?: number;
  /** The bound for the encoded lists. */
  readonly listingBytesMax?: number;
}

export interface ListedDirectory {
  readonly node: number;
  readonly count: number;
  /** Writes its names as a jute vector of strings. */
  encode(writer: JuteWriter): void;
}

export class Listings {
  readonly pages: ChildPages;
  readonly bytes: ListedBytes;
  readonly #encoded: EncodedChildren;

  constructor(
    { store, payloads }: { readonly store: NodeStore; readonly payloads: Payloads },
    pathKey: PathKey,
    { pageBytesMax, listingBytesMax }: ListingLimits = {},
  ) {
    this.pages = new ChildPages(payloads, new KeyedRandom(pathKey), pageBytesMax);
    this.bytes = new ListedBytes(store);
    this.#encoded = new EncodedChildren(listingBytesMax);
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
    if (this.pages.keeps(directory)) {
      this.pages.changed(directory, child, exists);
    }
  }

  /** The directory was deleted; it had no children. */
  forget(directory: number): void {
    this.pages.forget(directory);
  }
}
