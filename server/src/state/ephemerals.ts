/**
 * Which ephemerals a session owns: a list through the rows per session, and how many there are.
 * No object per node; a session without ephemerals is not in it. Called by Tree.
 */
import { INT, NONE, type NodeStore } from './node-store.js';
import type { SessionId } from './txn.js';

export class Ephemerals {
  readonly #store: NodeStore;
  readonly #heads = new Map<SessionId, number>();
  #count = 0;

  constructor(store: NodeStore) {
    this.#store = store;
  }

  get count(): number {
    return this.#count;
  }

  sessions(): IterableIterator<SessionId> {
    return this.#heads.keys();
  }

  add(node: number, session: SessionId): void {
    const head = this.#heads.get(session) ?? NONE;
    this.#store.setInt(node, INT.nextEphemeral, head);
    this.#store.setInt(node, INT.previousEphemeral, NONE);
    if (head !== NONE) {
      this.#store.setInt(head, INT.previousEphemeral, node);
    }
    this.#heads.set(session, node);
    this.#count++;
  }

  remove(node: number, session: SessionId): void {
    const next = this.#store.int(node, INT.nextEphemeral);
    const previous = this.#store.int(node, INT.previousEphemeral);
    if (next !== NONE) {
      this.#store.setInt(next, INT.previousEphemeral, previous);
    }
    if (previous !== NONE) {
      this.#store.setInt(previous, INT.nextEphemeral, next);
    } else if (next !== NONE) {
      this.#heads.set(session, next);
    } else {
      this.#heads.delete(session);
    }
    this.#count--;
  }

  nodesOf(session: SessionId): number[] {
    const nodes: number[] = [];
    let node = this.#heads.get(session) ?? NONE;
    while (node !== NONE) {
      nodes.push(node);
      node = this.#store.int(node, INT.nextEphemeral);
    }
    return nodes;
  }
}
