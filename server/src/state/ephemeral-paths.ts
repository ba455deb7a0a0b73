/**
 * Lists the ephemerals of one session: their paths in order, and grouped by their parents.
 *
 * A session may own a million of them, so a list of paths can have a bound in bytes. Most sessions
 * have all of theirs below one parent, whose path is then made once. It changes nothing. Called by
 * TreeReads, and by whatever answers getEphemerals.
 */
import type { SessionId } from './txn.js';

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
