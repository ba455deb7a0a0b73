/**
 * The ephemerals of one session as lists: their paths in order, and by their parents.
 *
 * A session may own a million of them, so a list of paths can have a bound of bytes. Most sessions
 * have all of theirs below one parent, whose path is then made once. Changes nothing. Called by
 * TreeReads and by who answers getEphemerals.
 */
import type { SessionId } from './txn.js';

/** What of TreeReads is asked here. */
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
 * In code-unit order, as a client is told; null as soon as the paths have more than `bytesMax`
 * characters, and nothing more is looked at then.
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
