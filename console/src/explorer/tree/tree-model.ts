/**
 * The part of the tree that is known and open, as rows of a list.
 *
 * A directory knows the first of its children, page by page in the order of their names, and how
 * many there are; a row that is not loaded yet is `pending`. Finding a row takes time in proportion
 * to the directories that are open, not to their children, so a hundred thousand children cost
 * nothing to scroll. Holds data only: the tree store loads, components draw.
 */
import type { ChildFacts, ChildrenPage } from '../../api/types.js';
import { childOf, lineOf, nameOf, parentOf } from '../paths.js';

export interface Directory {
  readonly path: string;
  /** The first children, in the order of their names. */
  entries: ChildFacts[];
  /** How many children there are, as the newest page says. */
  total: number;
  /** The `after` of the next page; null when all are loaded. */
  next: string | null;
  /** Open directories among the children, in the order of their names. */
  open: Directory[];
  /** What went wrong with the newest page. */
  problem: unknown;
}

export type Row =
  | {
      readonly kind: 'node';
      readonly path: string;
      readonly facts: ChildFacts;
      readonly depth: number;
      readonly isOpen: boolean;
      /** Its place among its siblings, from 1, and how many they are. */
      readonly place: number;
      readonly siblings: number;
    }
  | {
      readonly kind: 'pending';
      readonly directory: string;
      /** Which child of the directory it will be. */
      readonly index: number;
      readonly depth: number;
    }
  | {
      readonly kind: 'problem';
      readonly directory: string;
      readonly problem: unknown;
      readonly depth: number;
    };

export class TreeModel {
  readonly root: Directory = emptyDirectory('/');

  /** The directory, if it and all above it are open; the root always is. */
  find(path: string): Directory | null {
    let at: Directory | undefined = this.root;
    for (const next of lineOf(path).slice(1)) {
      at = at.open.find((directory) => directory.path === next);
      if (at === undefined) return null;
    }
    return at;
  }

  /** Opens a directory whose parent is open; null if that is not so. */
  open(path: string): Directory | null {
    const known = this.find(path);
    if (known !== null) return known;
    const parent = this.find(parentOf(path));
    if (parent === null) return null;
    const made = emptyDirectory(path);
    const name = nameOf(path);
    const index = parent.open.findIndex((directory) => nameOf(directory.path) > name);
    parent.open.splice(index === -1 ? parent.open.length : index, 0, made);
    return made;
  }

  close(path: string): void {
    const parent = this.find(parentOf(path));
    if (parent === null || path === '/') return;
    parent.open = parent.open.filter((directory) => directory.path !== path);
  }

  /** Appends a page that was asked for with the directory's `next`. */
  append(directory: Directory, page: ChildrenPage): void {
    directory.entries.push(...page.children);
    directory.next = page.next;
    directory.total = Math.max(page.numChildren, directory.entries.length);
    directory.problem = null;
    this.#tellParent(directory);
  }

  /** Replaces what is known of a directory; open directories that are gone are closed. */
  replace(directory: Directory, entries: ChildFacts[], last: ChildrenPage): void {
    directory.entries = [];
    this.append(directory, { ...last, children: entries });
    directory.open = directory.open.filter(
      ({ path }) => directory.next !== null || indexOfName(entries, nameOf(path)) !== -1,
    );
  }

  /** The row of a directory shows how many children it has, as the newest page says. */
  #tellParent({ path, total }: Directory): void {
    const parent = path === '/' ? null : this.find(parentOf(path));
    const index = parent === null ? -1 : indexOfName(parent.entries, nameOf(path));
    const known = parent?.entries[index];
    if (parent === null || known === undefined || known.stat === null) return;
    parent.entries[index] = { ...known, stat: { ...known.stat, numChildren: total } };
  }

  /** All rows: the root is the first one. */
  get rowCount(): number {
    return 1 + rowsBelow(this.root);
  }

  rowAt(index: number): Row | null {
    if (index === 0) {
      const { total, entries, open } = this.root;
      const isKnown = total > 0 || entries.length > 0 || open.length > 0;
      const facts = { name: '/', mode: null, stat: null };
      return { kind: 'node', path: '/', facts, depth: 0, isOpen: isKnown, place: 1, siblings: 1 };
    }
    return rowWithin(this.root, index - 1, 1);
  }

  /** The row of a path; -1 if it is not among the loaded ones. */
  indexOf(path: string): number {
    if (path === '/') return 0;
    let index = 0;
    let at: Directory | undefined = this.root;
    const line = lineOf(path).slice(1);
    for (const [step, next] of line.entries()) {
      const place = indexOfName(at.entries, nameOf(next));
      if (place === -1) return -1;
      index += 1 + place;
      for (const directory of at.open) {
        const other = indexOfName(at.entries, nameOf(directory.path));
        if (other !== -1 && other < place) index += rowsBelow(directory);
      }
      at = at.open.find((directory) => directory.path === next);
      if (at === undefined) return step === line.length - 1 ? index : -1;
    }
    return index;
  }
}

function emptyDirectory(path: string): Directory {
  return { path, entries: [], total: 0, next: '', open: [], problem: null };
}

/** The rows of a directory's own children, loaded or not. */
function ownRows({ entries, total, next, problem }: Directory): number {
  if (problem !== null) return entries.length + 1;
  if (next === null) return entries.length;
  // A directory whose first page is on its way has one row that says so.
  return Math.max(total, entries.length + 1);
}

function rowsBelow(directory: Directory): number {
  let rows = ownRows(directory);
  for (const child of directory.open) {
    if (indexOfName(directory.entries, nameOf(child.path)) !== -1) rows += rowsBelow(child);
  }
  return rows;
}

function rowWithin(directory: Directory, index: number, depth: number): Row | null {
  let left = index;
  let passed = 0;
  for (const child of directory.open) {
    const place = indexOfName(directory.entries, nameOf(child.path));
    if (place === -1) continue;
    const until = place + 1 - passed;
    if (left < until) break;
    left -= until;
    passed = place + 1;
    const below = rowsBelow(child);
    if (left < below) return rowWithin(child, left, depth + 1);
    left -= below;
  }
  return ownRow(directory, passed + left, depth);
}

function ownRow(directory: Directory, index: number, depth: number): Row | null {
  const { path, entries, total, problem } = directory;
  const facts = entries[index];
  if (facts === undefined) {
    if (index >= ownRows(directory)) return null;
    if (problem !== null) return { kind: 'problem', directory: path, problem, depth };
    return { kind: 'pending', directory: path, index, depth };
  }
  const own = childOf(path, facts.name);
  const isOpen = directory.open.some((child) => child.path === own);
  const siblings = Math.max(total, entries.length);
  return { kind: 'node', path: own, facts, depth, isOpen, place: index + 1, siblings };
}

/** By bisection, because names are in order; -1 if it is not among them. */
export function indexOfName(entries: readonly ChildFacts[], name: string): number {
  let low = 0;
  let high = entries.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const at = entries[middle]?.name ?? '';
    if (at === name) return middle;
    if (at < name) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
