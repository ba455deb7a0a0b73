/**
 * Knows which ephemerals a session owns, and lists them: their paths in order, and by their
 * parents.
 *
 * They are a list through the rows for each session, and its length; there is no object for each
 * node, and no entry for a session without ephemerals. A session may own a million of them, so a
 * list of paths can have a bound in bytes. Most sessions have all of theirs below one parent, whose
 * path is then made once. Called by Tree, and by the answer to getEphemerals.
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

/** The part of TreeReads that is used here. */
interface EphemeralTree {
  parent(node: number): number;
  pathPrefix(node: number): string;
  name(node: number): string;
  visitEphemerals(session: SessionId, visit: (node: number) => boolean): void;
}

/** Some of the children of a node. */
export interface Family {
  readonly parent: number;
  readonly children: readonly number[];
}

export function familiesOf(tree: EphemeralTree, nodes: readonly number[]): readonly Family[] {
  const families = new Map<number, number[]>();
  let parent = -1;
  let children: number[] = [];
  for (const node of nodes) {
    if (tree.parent(node) !== parent) {
      parent = tree.parent(node);
      children = families.get(parent) ?? [];
      families.set(parent, children);
    }
    children.push(node);
  }
  return [...families].map(([of, those]) => ({ parent: of, children: those }));
}

/**
 * Returns the paths in code-unit order, as clients receive them, or null as soon as they have more
 * than `bytesMax` characters; the search stops there.
 */
export function ephemeralPaths(
  tree: EphemeralTree,
  session: SessionId,
  bytesMax: number,
): readonly string[] | null {
  const paths: string[] = [];
  let left = bytesMax;
  let parent = -1;
  let prefix = '';
  tree.visitEphemerals(session, (node) => {
    if (tree.parent(node) !== parent) {
      parent = tree.parent(node);
      prefix = tree.pathPrefix(parent);
    }
    const path = prefix + tree.name(node);
    left -= path.length;
    paths.push(path);
    return left >= 0;
  });
  return left < 0 ? null : paths.sort();
}
