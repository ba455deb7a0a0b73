/**
 * Lists the ephemerals of one session lazily, over many turns, for the four-letter word `dump`.
 *
 * It reads at the beginning which nodes they are, and makes each node's path only when that is
 * listed, because a path may have a megabyte and a session thousands of nodes. A node that was
 * deleted meanwhile is left out, even if another node has its number by then. It changes nothing.
 */
import type { NodeMode, SessionId } from './txn.js';

/** The part of Tree that is used here. */
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
