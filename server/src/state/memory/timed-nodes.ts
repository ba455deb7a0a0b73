/**
 * The containers and TTL nodes of the tree, which the reaper examines instead of the whole tree.
 *
 * They are in a plain array. Each row knows its index in it, in the field that links ephemerals (no
 * node is both). Removing one moves the last one into the gap, so a walk in slices goes from the
 * end to the start and misses none that stays. Called by Tree.
 */
import { assert } from '@rookery/protocol';
import { INT, type NodeStore } from './node-store.js';

export class TimedNodes {
  readonly #store: NodeStore;
  readonly #nodes: number[] = [];

  constructor(store: NodeStore) {
    this.#store = store;
  }

  get count(): number {
    return this.#nodes.length;
  }

  /** The node at an index below `count`. */
  at(place: number): number {
    const node = this.#nodes[place];
    assert(node !== undefined, () => `place ${place} of ${this.#nodes.length} is taken`);
    return node;
  }

  add(node: number): void {
    this.#store.setInt(node, INT.nextEphemeral, this.#nodes.length);
    this.#nodes.push(node);
  }

  remove(node: number): void {
    const place = this.#store.int(node, INT.nextEphemeral);
    assert(this.#nodes[place] === node, 'a timed node is where its row says');
    const last = this.#nodes.pop();
    if (last === undefined || last === node) {
      return;
    }
    this.#nodes[place] = last;
    this.#store.setInt(last, INT.nextEphemeral, place);
  }
}
