/**
 * Knows which ephemerals a session owns: a list through the rows for each session, and its length.
 * There is no object for each node, and no entry for a session without ephemerals. Called by Tree.
 */
import { assert } from '@rookery/protocol';
import { INT, NONE, type NodeStore } from './memory/node-store.js';
import type { SessionId } from './txn.js';

interface Owned {
  /** The ephemeral that was added last; the others follow through the rows. */
  head: number;
  count: number;
}

export class Ephemerals {
  readonly #store: NodeStore;
  readonly #owned = new Map<SessionId, Owned>();
  #count = 0;

  constructor(store: NodeStore) {
    this.#store = store;
  }

  /** The number over all sessions. */
  get count(): number {
    return this.#count;
  }

  countOf(session: SessionId): number {
    return this.#owned.get(session)?.count ?? 0;
  }

  get ownerCount(): number {
    return this.#owned.size;
  }

  sessions(): IterableIterator<SessionId> {
    return this.#owned.keys();
  }

  add(node: number, session: SessionId): void {
    const owned = this.#owned.get(session);
    const head = owned?.head ?? NONE;
    this.#store.setInt(node, INT.nextEphemeral, head);
    this.#store.setInt(node, INT.previousEphemeral, NONE);
    if (head !== NONE) {
      this.#store.setInt(head, INT.previousEphemeral, node);
    }
    if (owned === undefined) {
      this.#owned.set(session, { head: node, count: 1 });
    } else {
      owned.head = node;
      owned.count += 1;
    }
    this.#count++;
  }

  remove(node: number, session: SessionId): void {
    const owned = this.#owned.get(session);
    assert(owned !== undefined, () => `session ${session} owns an ephemeral that is removed`);
    const next = this.#store.int(node, INT.nextEphemeral);
    const previous = this.#store.int(node, INT.previousEphemeral);
    if (next !== NONE) {
      this.#store.setInt(next, INT.previousEphemeral, previous);
    }
    if (previous !== NONE) {
      this.#store.setInt(previous, INT.nextEphemeral, next);
    } else {
      owned.head = next;
    }
    owned.count -= 1;
    if (owned.count === 0) {
      this.#owned.delete(session);
    }
    this.#count--;
  }

  /** Visits the session's ephemerals, the most recent first, until `visit` returns false. */
  visit(session: SessionId, visit: (node: number) => boolean): void {
    let node = this.#owned.get(session)?.head ?? NONE;
    while (node !== NONE && visit(node)) {
      node = this.#store.int(node, INT.nextEphemeral);
    }
  }

  nodesOf(session: SessionId): number[] {
    const nodes: number[] = [];
    this.visit(session, (node) => nodes.push(node) > 0);
    return nodes;
  }
}
