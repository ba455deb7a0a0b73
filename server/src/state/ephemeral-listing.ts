/**
 * Lists the ephemerals of one session lazily, over many turns, for the four-letter word `dump`.
 *
 * Which nodes they are is read at the beginning; each node's path is made when its turn comes, as a
 * path may have a megabyte and a session thousands of them. A node that was deleted meanwhile is
 * left out, also when its number belongs to another node by then. Changes nothing.
 */
import type { NodeMode, SessionId } from './txn.js';

/** What of Tree is asked here. */
interface ListedTree {
  isLive(node: number): boolean;
  mode(node: number): NodeMode;
  owner(node: number): SessionId;
  path(node: number): string;
  visitEphemerals(session: SessionId, visit: (node: number) => boolean): void;
}

export function* listedEphemerals(tree: ListedTree, session: SessionId): Generator<string> {
  const nodes: number[] = [];
  tree.visitEphemerals(session, (node) => nodes.push(node) > 0);
  for (const node of nodes) {
    const isStillThere =
      tree.isLive(node) && tree.mode(node) === 'ephemeral' && tree.owner(node) === session;
    if (isStillThere) yield tree.path(node);
  }
}
