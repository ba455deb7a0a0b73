/**
 * Links the children of a node into a list through their rows: constant time, no order, no object
 * for each child. It keeps childCount. Called by Tree.
 */
import { INT, NONE, type NodeStore } from './node-store.js';

export function linkChild(store: NodeStore, parent: number, child: number): void {
  const above = store.intPage(parent);
  const aboveBase = store.intBase(parent);
  const first = above[aboveBase + INT.firstChild] ?? NONE;
  const row = store.intPage(child);
  const base = store.intBase(child);
  row[base + INT.parent] = parent;
  row[base + INT.previousSibling] = NONE;
  row[base + INT.nextSibling] = first;
  if (first !== NONE) {
    store.setInt(first, INT.previousSibling, child);
  }
  above[aboveBase + INT.firstChild] = child;
  above[aboveBase + INT.childCount] = (above[aboveBase + INT.childCount] ?? 0) + 1;
}

export function unlinkChild(store: NodeStore, parent: number, child: number): void {
  const previous = store.int(child, INT.previousSibling);
  const next = store.int(child, INT.nextSibling);
  if (previous === NONE) {
    store.setInt(parent, INT.firstChild, next);
  } else {
    store.setInt(previous, INT.nextSibling, next);
  }
  if (next !== NONE) {
    store.setInt(next, INT.previousSibling, previous);
  }
  store.setInt(parent, INT.childCount, store.int(parent, INT.childCount) - 1);
}
