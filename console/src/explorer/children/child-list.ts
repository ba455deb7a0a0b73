/**
 * The children of a znode as a table: loaded page by page as they are looked at, in the order of
 * their names, or sorted by something else once they are all there, within a bound. Pure, but for
 * the function that asks.
 */
import type { Api } from '../../api/api.js';
import type { ChildFacts, ChildrenPage } from '../../api/types.js';
import { type Key, type Order, sortedBy } from '../../live/order.js';
import { childrenPage } from './children-page.js';

export const COLUMNS = [
  'name',
  'sequence',
  'size',
  'children',
  'version',
  'changed',
  'created',
] as const;
export type Column = (typeof COLUMNS)[number];

export const BY_NAME: Order<Column> = { column: 'name', isDescending: false };
/** More are not sorted by anything but their names. */
export const SORTED_MAX = 10_000;
const PAGE = 500;

/** Whether the pages come in this order by themselves. */
export function isOwnOrder({ column, isDescending }: Order<Column>): boolean {
  return column === 'name' && !isDescending;
}

/** What the caller may not read comes last; equal ones are in the order of their names. */
export function sorted(
  children: readonly ChildFacts[],
  { column, isDescending }: Order<Column>,
): readonly ChildFacts[] {
  const byName = children.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return sortedBy(byName, (one) => keyOf(one, column), isDescending);
}

function keyOf({ name, stat }: ChildFacts, column: Column): Key {
  switch (column) {
    case 'name':
      return name;
    case 'sequence':
      return sequenceOf(name);
    case 'size':
      return stat?.dataLength ?? null;
    case 'children':
      return stat?.numChildren ?? null;
    case 'version':
      return stat?.version ?? null;
    case 'changed':
      return stat?.mtime ?? null;
    case 'created':
      return stat?.ctime ?? null;
  }
}

/**
 * The number that the server has appended to a name; null for none. Past 2^31 - 1 it goes on with
 * negative ones, which are told from a name that ends with a hyphen by the second one.
 */
export function sequenceOf(name: string): number | null {
  const digits = /((?<=-)-\d{9,10}|\d{10})$/.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

export interface Loaded {
  readonly children: readonly ChildFacts[];
  readonly total: number;
  /** The `after` of the next page; null when all are there. */
  readonly next: string | null;
}

export const NOTHING: Loaded = { children: [], total: 0, next: '' };

/** The list with further pages, until it has this many children or all. */
export async function loadedTo(
  api: Pick<Api, 'get'>,
  path: string,
  { from, count, signal }: { from: Loaded; count: number; signal: AbortSignal },
): Promise<Loaded> {
  let { children, total, next } = from;
  const added: ChildFacts[] = [];
  while (next !== null && children.length + added.length < count) {
    const page: ChildrenPage = await childrenPage(api, path, { after: next, limit: PAGE, signal });
    added.push(...page.children);
    ({ next, numChildren: total } = page);
  }
  children = [...children, ...added];
  return { children, total: Math.max(total, children.length), next };
}
