/**
 * Goes through all znodes below a path, a little in each turn, while the tree changes.
 *
 * It goes by the numbers of the nodes, not along the tree, so that nothing that is created, moved
 * or deleted meanwhile can lead it astray: a znode that exists all the while is visited once; one
 * that comes or goes may be missed. It sees what a client sees that walks down from the path: a
 * znode is visited only if every one above it may be read. It ends early when the one who asked is
 * gone, and when the state is replaced, which it says.
 */

import type { Requester } from '../../pipeline/access.js';
import { NO_NODE, type Tree } from '../../state/tree.js';
import type { ApiMember } from './api-member.js';
import { mayReadNode, readableNode } from './member-nodes.js';

/** How long a scan may hold the event loop at a time, in ms. */
const SLICE_MS = 2;
/** Nodes between two looks at the clock; one with a long name or path counts as many. */
const STEP = 64;
const CHARACTERS_PER_NODE = 256;

interface ScanEnd {
  readonly visited: number;
  /** Null when it has gone through everything. */
  readonly cut: 'enough' | 'state replaced' | null;
}

/** What a scan has found, a list for each slice of time. */
export type Slices<T> = AsyncGenerator<readonly T[], ScanEnd>;

export class TreeScan {
  readonly #member: ApiMember;
  readonly #requester: Requester;
  readonly path: string;
  readonly #signal: AbortSignal;
  /** The nodes until the next look at the clock. */
  #left = 0;

  /** Throws HttpError if the caller may not read the path. */
  constructor(
    member: ApiMember,
    at: { readonly path: string; readonly requester: Requester; readonly signal: AbortSignal },
  ) {
    this.#member = member;
    this.#requester = at.requester;
    this.path = at.path;
    this.#signal = at.signal;
    readableNode(member.state, at.path, at.requester);
  }

  /** Yields what `make` makes of the first `max` wanted nodes, one list for each slice of time. */
  async *slices<T>(
    isWanted: (tree: Tree, node: number) => boolean,
    make: (tree: Tree, node: number) => T,
    max: number,
  ): Slices<T> {
    const { state } = this.#member;
    const { tree } = state;
    const limit = tree.nodeLimit;
    let visited = 0;
    let count = 0;
    for (let next = 0; next < limit; ) {
      if (this.#member.state !== state) return { visited, cut: 'state replaced' };
      const made: T[] = [];
      const untilMs = performance.now() + SLICE_MS;
      // The root may be gone by now, or another znode may have its path.
      const root = tree.find(this.path);
      if (root === NO_NODE || !mayReadNode(tree, root, this.#requester)) break;
      while (next < limit && performance.now() < untilMs) {
        this.#left = STEP;
        // The clock is read after each node that is wanted, because `make` may take long.
        for (
          const before = made.length;
          next < limit && this.#left > 0 && made.length === before;
          next++
        ) {
          this.#left -= 1;
          if (!tree.isLive(next)) continue;
          this.spend(tree.name(next).length);
          visited += 1;
          if (!isWanted(tree, next) || !this.#isSeen(tree, next, root)) continue;
          if (count === max) {
            yield made;
            return { visited, cut: 'enough' };
          }
          count += 1;
          made.push(make(tree, next));
        }
      }
      if (made.length > 0) yield made;
      if (this.#signal.aborted) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { visited, cut: null };
  }

  /** Counts characters that `isWanted` has made, such as those of a path. */
  spend(characters: number): void {
    this.#left -= Math.floor(characters / CHARACTERS_PER_NODE);
  }

  /** Whether it is below the root, itself included, and listed to who walks down from there. */
  #isSeen(tree: Tree, node: number, root: number): boolean {
    for (let at = node; at !== root; ) {
      at = tree.parent(at);
      if (at === NO_NODE || !mayReadNode(tree, at, this.#requester)) return false;
    }
    return true;
  }
}
