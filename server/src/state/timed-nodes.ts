/**
 * The containers and TTL nodes of the tree: what the reaper looks through instead of the tree.
 *
 * A plain array; each row knows its place in it, in the field that chains ephemerals (no node is
 * both). Removing moves the last one into the gap, so whoever looks through it in slices goes from
 * the end to the start: then none that stays is missed. Called by Tree.
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

  /** The node at a place below `count`. */
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
