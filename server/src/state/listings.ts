/**
 * Caches the listings of large directories: encoded lists, and orders for pages.
 *
 * Both caches belong to this member alone, are bounded in bytes, and are not replicated. Called by
 * Tree, which reports when a directory changes.
 */
import { JuteWriter } from '@rookery/protocol';
import { ChildPages } from './child-pages.js';
import { ENCODED_FROM, EncodedChildren } from './encoded-children.js';
import { KeyedRandom } from './keyed-random.js';
import type { NodeNames } from './lazy-order.js';
import type { PathKey } from './path-hash.js';

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
  readonly #encoded: EncodedChildren;

  constructor(
    names: NodeNames,
    pathKey: PathKey,
    { pageBytesMax, listingBytesMax }: ListingLimits = {},
  ) {
    this.pages = new ChildPages(names, new KeyedRandom(pathKey), pageBytesMax);
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
    let list = this.#encoded.get(directory.node);
    if (list === undefined) {
      const own = new JuteWriter();
      directory.encode(own);
      list = new Uint8Array(own.take());
      this.#encoded.keep(directory.node, list);
    }
    writer.raw(list);
  }

  /** The child was added, or is about to be removed: it has its name during the call. */
  childChanged(directory: number, child: number, exists: boolean): void {
    this.#encoded.forget(directory);
    if (this.pages.keeps(directory)) {
      this.pages.changed(directory, child, exists);
    }
  }

  /** The directory was deleted; it had no children. */
  forget(directory: number): void {
    this.pages.forget(directory);
  }
}
