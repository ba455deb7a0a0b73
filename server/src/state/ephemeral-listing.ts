/**
 * Lists the ephemerals of one session lazily, over many turns, for the four-letter word `dump`.
 *
 * It makes a node's path only when that is listed, because a path may have a megabyte and a session
 * thousands of nodes. It reads at the beginning which nodes a session has, unless they are so many
 * that this would take long: then it looks at one row of the tree after the other. Either way, a
 * node that was deleted meanwhile is left out. It changes nothing.
 */
import type { NodeMode, SessionId } from './txn.js';

/** More nodes than this are not collected in one step. */
const COLLECTED_MAX = 20_000;
/** Rows of other nodes that are passed at once. An answer takes 128 such pieces in one step. */
const ROWS_PER_PIECE = 64;

/** The part of Tree that is used here. */
export interface ListedTree {
  readonly nodeLimit: number;
  isLive(node: number): boolean;
  mode(node: number): NodeMode;
  owner(node: number): SessionId;
  path(node: number): string;
  ephemeralsOwned(session: SessionId): number;
  visitEphemerals(session: SessionId, visit: (node: number) => boolean): void;
}

/** Yields paths, and null where it has looked at many rows, or at a deleted node, in vain. */
export function* listedEphemerals(tree: ListedTree, session: SessionId): Generator<string | null> {
  const isOwned = (node: number) =>
    tree.isLive(node) && tree.mode(node) === 'ephemeral' && tree.owner(node) === session;
  if (tree.ephemeralsOwned(session) <= COLLECTED_MAX) {
    const nodes: number[] = [];
    tree.visitEphemerals(session, (node) => nodes.push(node) > 0);
    for (const node of nodes) yield isOwned(node) ? tree.path(node) : null;
    return;
  }
  for (let node = 0; node < tree.nodeLimit; node++) {
    if (isOwned(node)) yield tree.path(node);
    else if (node % ROWS_PER_PIECE === 0) yield null;
  }
}
