/**
 * Recognizes the recipe of a znode by its name: locks, elections, semaphores, queues and barriers
 * as our client, Curator and kazoo name their znodes.
 *
 * Curator and our client put `_c_<uuid>-` before the kind, kazoo 32 hex digits; the server appends
 * ten digits to sequential names. Pure: it looks only at names.
 */
import { assert } from '@rookery/protocol';

export type RecipeKind =
  | 'lock'
  | 'read-write-lock'
  | 'election'
  | 'semaphore'
  | 'queue'
  | 'barrier'
  | 'group';
/** `ready` is not a contender; an entry belongs to no session. */
export type Part = 'lock' | 'read' | 'write' | 'lease' | 'candidate' | 'entry' | 'ready' | 'member';

export interface RecipePart {
  readonly part: Part;
  /** The ten digits at its end; 0 where there are none. */
  readonly sequence: number;
  /** Entries with a lower rank come first; 0 for all else. */
  readonly rank: number;
}

const GUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const CURATOR = `(?:_c_${GUID}-)?`;
const KAZOO = '[0-9a-f]{32}';
const SEQUENCE = '(-?\\d{10})';

const FORMS: readonly (readonly [Part, RegExp])[] = [
  ['lock', new RegExp(`^${CURATOR}lock-${SEQUENCE}$`)],
  ['lock', new RegExp(`^${KAZOO}__lock__${SEQUENCE}$`)],
  ['read', new RegExp(`^${CURATOR}__READ__${SEQUENCE}$`)],
  ['write', new RegExp(`^${CURATOR}__WRIT__${SEQUENCE}$`)],
  ['read', new RegExp(`^${KAZOO}__rlock__${SEQUENCE}$`)],
  ['lease', new RegExp(`^${CURATOR}lease-${SEQUENCE}$`)],
  ['candidate', new RegExp(`^${CURATOR}latch-${SEQUENCE}$`)],
  ['candidate', new RegExp(`^${GUID}-n_${SEQUENCE}$`)],
  ['entry', new RegExp(`^(?:queue-|qn-)${SEQUENCE}$`)],
  ['entry', new RegExp(`^entry-(\\d{3})-${SEQUENCE}$`)],
  ['entry', new RegExp(`^queue-([01][0-9a-fA-F]{8})${SEQUENCE}$`)],
  ['entry', new RegExp(`^queue-\\|[^|]*\\|${SEQUENCE}$`)],
  ['ready', /^ready$/],
  ['member', new RegExp(`^(?:${GUID}|${KAZOO})$`)],
];

/** Null for a name that no recipe makes. */
export function partOf(name: string): RecipePart | null {
  // Nearly all names of a tree are none of these, and most of these end with a digit.
  for (const [part, form] of FORMS) {
    const match = form.exec(name);
    if (match === null) continue;
    const groups = match.slice(1);
    const sequence = groups.length === 0 ? 0 : Number(groups.at(-1));
    const rank = groups.length === 2 ? Number.parseInt(groups[0] ?? '0', 16) : 0;
    return { part, sequence, rank };
  }
  return null;
}

/** Names that say by themselves what is below their parent, without a look at their siblings. */
export function isTelling(name: string): boolean {
  const part = partOf(name)?.part;
  return part !== undefined && part !== 'member' && part !== 'ready';
}

/** The kind of recipe to which these children of a znode belong; null if none is known. */
export function recipeOf(parts: ReadonlySet<Part>): RecipeKind | null {
  if (parts.has('read') || parts.has('write')) return 'read-write-lock';
  if (parts.has('lock')) return 'lock';
  if (parts.has('candidate')) return 'election';
  if (parts.has('lease')) return 'semaphore';
  if (parts.has('entry')) return 'queue';
  return parts.has('ready') || parts.has('member') ? 'barrier' : null;
}

/** Sorts in the order of arrival; a server's numbers wrap from 2^31 - 1 to negative ones. */
export function compareParts(one: RecipePart, other: RecipePart): number {
  return one.rank - other.rank || (one.sequence - other.sequence) | 0;
}

/** Indexes of fewer are the low digits of a sort key. */
const SORTED_MAX = 2 ** 20;

/**
 * The same order as that of `compareParts`, of fewer than 2^20, in a fraction of its time: numbers
 * are sorted, each with the index of its part as its low digits.
 */
export function inOrder<P extends RecipePart>(parts: readonly P[]): P[] {
  assert(parts.length < SORTED_MAX, `${parts.length} parts, fewer than ${SORTED_MAX}`);
  const [first] = parts;
  if (first === undefined) return [];
  const byRank = new Map<number, P[]>();
  for (const part of parts) {
    const same = byRank.get(part.rank);
    if (same === undefined) byRank.set(part.rank, [part]);
    else same.push(part);
  }
  const ranks = Float64Array.from(byRank.keys()).sort();
  return [...ranks].flatMap((rank) => inOrderOfNumbers(byRank.get(rank) ?? [], first.sequence));
}

/** Numbers wrap, so they are seen from one of them. */
function inOrderOfNumbers<P extends RecipePart>(parts: readonly P[], from: number): P[] {
  const keys = Float64Array.from(
    parts,
    ({ sequence }, index) => ((sequence - from) | 0) * SORTED_MAX + index,
  ).sort();
  return Array.from(keys, (key) => parts[key - Math.floor(key / SORTED_MAX) * SORTED_MAX]).filter(
    (part) => part !== undefined,
  );
}

/** The number of contenders, from the first one on, that hold the lock or the like. */
export function holdersOf(kind: RecipeKind, queued: readonly RecipePart[]): number {
  switch (kind) {
    case 'lock':
    case 'election':
      return Math.min(1, queued.length);
    case 'read-write-lock': {
      const firstWriter = queued.findIndex(({ part }) => part !== 'read');
      return firstWriter === -1 ? queued.length : Math.max(1, firstWriter);
    }
    case 'semaphore':
    case 'barrier':
    case 'group':
      return queued.length;
    case 'queue':
      return 0;
  }
}
