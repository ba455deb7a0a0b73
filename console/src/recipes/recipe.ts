/**
 * What `/recipes` and `/recipe` tell, and what a person wants to know of it first. Pure.
 */
import type { IconName } from '../ui/icon.js';

export type RecipeKind =
  | 'lock'
  | 'read-write-lock'
  | 'election'
  | 'semaphore'
  | 'queue'
  | 'barrier'
  | 'group';

export interface Contender {
  readonly name: string;
  readonly part: string;
  /** Null for a znode that outlives sessions. */
  readonly session: string | null;
  /** The member to which its client is connected; null or absent where nobody says so. */
  readonly member?: number | null;
  readonly address: string | null;
  /** When its znode was made; 0 for what the caller may not read. */
  readonly since: number;
  readonly data: string | null;
  /** The sibling that it watches; null if it watches none, or that is not known. */
  readonly watches: string | null;
  readonly watchesKnown?: boolean;
}

export interface Recipe {
  readonly path: string;
  readonly kind: RecipeKind;
  readonly count: number;
  readonly truncated: boolean;
  readonly holders: readonly Contender[];
  readonly waiters: readonly Contender[];
  readonly oldest: number | null;
  readonly ready: boolean | null;
  readonly permits: number | null;
}

interface KindWords {
  readonly title: string;
  readonly plural: string;
  readonly icon: IconName;
  /** What those who have it do: "Holder". */
  readonly holder: string;
  readonly holders: string;
}

export const KINDS: Readonly<Record<RecipeKind, KindWords>> = {
  lock: words('Lock', 'Locks', 'lock', ['Holder', 'Holders']),
  'read-write-lock': words('Read-write lock', 'Read-write locks', 'lock', ['Holder', 'Holders']),
  election: words('Election', 'Elections', 'star', ['Leader', 'Leaders']),
  semaphore: words('Semaphore', 'Semaphores', 'shield', ['Holder', 'Holders']),
  queue: words('Queue', 'Queues', 'download', ['Entry', 'Entries']),
  barrier: words('Barrier', 'Barriers', 'stop', ['Inside', 'Inside']),
  group: words('Group', 'Groups', 'people', ['Member', 'Members']),
};

function words(
  title: string,
  plural: string,
  icon: IconName,
  [holder, holders]: readonly [string, string],
): KindWords {
  return { title, plural, icon, holder, holders };
}

/** How many wait, of those that were counted; entries of a queue wait for no one. */
export function waitingIn({ kind, count, holders, waiters }: Recipe): number {
  if (kind === 'queue') return 0;
  // At most a hundred of each are told.
  return waiters.length < 100 ? waiters.length : count - holders.length;
}

export type WatchState = 'watches' | 'lost' | 'unknown';

/** Whether a waiter will hear when its turn comes. */
export function watchStateOf({ watches, watchesKnown = false }: Contender): WatchState {
  if (watches !== null) return 'watches';
  return watchesKnown ? 'lost' : 'unknown';
}

/** A name for people: what it wrote into its znode, else its address, else its session. */
export function nameOf({ data, address, session, name }: Contender): string {
  if (data !== null && data.trim() !== '') return data.trim();
  if (address !== null && address !== '') return address;
  return session ?? name;
}

/** What is wrong with a recipe, as sentences. */
export function problemsOf(recipe: Recipe): readonly string[] {
  const lost = recipe.kind === 'barrier' || recipe.kind === 'queue' ? [] : recipe.waiters;
  const deaf = lost.filter((one) => watchStateOf(one) === 'lost').length;
  const problems: string[] = [];
  if (deaf > 0) {
    const who = deaf === 1 ? 'One waiter watches' : `${deaf} waiters watch`;
    problems.push(`${who} no predecessor and will not learn when its turn has come.`);
  }
  if (recipe.permits !== null && recipe.holders.length > recipe.permits) {
    problems.push(`${recipe.holders.length} hold it, although it has ${recipe.permits} permits.`);
  }
  return problems;
}
