/**
 * Selects the first names of a directory behind a given one, without sorting the rest and without
 * making strings of names that are not selected.
 *
 * It looks at each child once, as it is stored, so a page of a directory with a million znodes
 * costs a pass over their bytes. Called by Tree for the pages of large directories.
 */
import type { Payloads } from './payloads.js';

export interface NameSelection {
  /** Names up to and including this one are left out; '' leaves out none. */
  readonly startAfter: string;
  readonly limit: number;
}

/** `nodes` are the children in any order. Returns at most `limit` names in code-unit order. */
export function selectNames(
  payloads: Payloads,
  nodes: readonly number[],
  { startAfter, limit }: NameSelection,
): string[] {
  const compare = (a: number, b: number): number => payloads.compareNames(a, b);
  let selected: number[] = [];
  /** A name above this one is not among the first; null while too few were seen. */
  let bound: string | null = null;
  // The oldest come last in the tree's list, and names are mostly made in ascending order.
  for (let at = nodes.length - 1; at >= 0; at--) {
    const node = nodes[at] ?? -1;
    if (bound !== null && payloads.compareName(node, bound) > 0) continue;
    if (startAfter !== '' && payloads.compareName(node, startAfter) <= 0) continue;
    selected.push(node);
    if (selected.length === 2 * limit) {
      selected = selected.sort(compare).slice(0, limit);
      bound = payloads.name(selected[limit - 1] ?? node);
    }
  }
  const first = selected.sort(compare).slice(0, limit);
  return first.map((node) => payloads.name(node));
}
