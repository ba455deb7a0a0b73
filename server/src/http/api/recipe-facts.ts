/**
 * Finds who holds a lock, leads or has a permit, and who waits in which order, from the znodes
 * below one directory. Pure: the judgement does not depend on the source of the znodes.
 *
 * The time for a directory is bounded: beyond CHILDREN_MAX children, or CHARACTERS_MAX characters
 * of names in total, only some are examined, and the answer says so. When a holder obtained a lock
 * is not stored; `since` is when its znode was created, which is when it began to wait.
 */
import {
  compareParts,
  holdersOf,
  inOrder,
  type Part,
  partOf,
  type RecipeKind,
  type RecipePart,
  recipeOf,
} from './recipe-names.js';

export const CHILDREN_MAX = 10_000;
/** Characters of all names, each of which becomes a string. */
export const CHARACTERS_MAX = 1 << 20;
const CONTENDERS_MAX = 100;
/** The bytes that are shown of a contender's data, which is mostly its address or name. */
const DATA_BYTES_MAX = 200;
/** How many of those before it a contender may wait for. */
const WATCHED_MAX = 64;

export interface Recipe {
  readonly path: string;
  readonly kind: RecipeKind;
  /** All of its kind, or of those that were looked at. */
  readonly count: number;
  readonly truncated: boolean;
  readonly holders: readonly ContenderFacts[];
  readonly waiters: readonly ContenderFacts[];
  /** When the oldest entry of a queue was made, in ms since 1970; null for other recipes. */
  readonly oldest: number | null;
  /** Whether all have come to a double barrier; null for other recipes. */
  readonly ready: boolean | null;
  /** How many may hold it, where the tree says it: kazoo's semaphores. */
  readonly permits: number | null;
}

export interface ContenderFacts {
  readonly name: string;
  readonly part: Part;
  /** The owner of the znode; null for one that outlives sessions. */
  readonly session: string | null;
  /** The member to which its client is connected; null where no member says so. */
  readonly member: number | null;
  readonly address: string | null;
  readonly since: number;
  /** Text of the znode, which most recipes use for an address or a name; null if it is none. */
  readonly data: string | null;
  /** The sibling that it waits for and watches; at a double barrier, `ready`. */
  readonly watches: string | null;
  /** Whether it is known what its client watches: if so, a waiter without a watch is lost. */
  readonly watchesKnown: boolean;
}

export interface Contender extends RecipePart {
  readonly name: string;
  readonly isEphemeral: boolean;
  /** When its znode was made, in ms since 1970. */
  readonly createdMs: number;
}

export interface Surroundings {
  /** The data of the directory: kazoo's semaphore keeps the number of its permits there. */
  readonly data: Uint8Array | null;
  /** Whether a client watches for the znode `ready`, as all do that wait at a double barrier. */
  readonly isAwaited: boolean;
}

/** A recipe in its order; of the holders and the waiters, those that are shown. */
export interface Queued<C extends Contender> extends Omit<Recipe, Shown> {
  readonly queued: readonly C[];
  readonly holders: readonly C[];
  readonly waiters: readonly C[];
}
type Shown = 'path' | 'truncated' | 'holders' | 'waiters';

/** Null if the contenders are those of no known recipe. */
export function queuedRecipe<C extends Contender>(
  contenders: readonly C[],
  about: () => Surroundings,
): Queued<C> | null {
  const named = recipeOf(new Set(contenders.map(({ part }) => part)));
  if (named === null || (named === 'barrier' && !isGathering(contenders))) return null;
  const isReady = contenders.some(({ part }) => part === 'ready');
  const { kind, permits } =
    named === 'barrier' ? gatheringOf(isReady, about()) : { kind: named, permits: null };
  const queued = inOrder(contenders.filter(({ part }) => part !== 'ready'));
  // At a barrier all wait until all have come, so there is no holder before.
  const holding = kind === 'barrier' && !isReady ? 0 : holdersOf(kind, queued);
  const isQueue = kind === 'queue';
  const waiting = isQueue ? [] : queued.slice(holding);
  return {
    kind,
    count: queued.length,
    queued,
    holders: queued.slice(0, Math.min(holding, CONTENDERS_MAX)),
    waiters: waiting.slice(0, CONTENDERS_MAX),
    oldest: isQueue ? queued.reduce((at, one) => Math.min(at, one.createdMs), Infinity) : null,
    ready: kind === 'barrier' ? isReady : null,
    permits,
  };
}

/** What the names of members, which are only ids, belong to. */
function gatheringOf(isReady: boolean, { data, isAwaited }: Surroundings) {
  const permits = isReady ? null : permitsOf(data);
  const isBarrier = isReady || isAwaited;
  const kind = permits !== null ? 'semaphore' : isBarrier ? 'barrier' : 'group';
  return { kind, permits } as const;
}

/** Names that are only ids are members of a recipe when they end with their sessions. */
function isGathering(contenders: readonly Contender[]): boolean {
  const members = contenders.filter(({ part }) => part === 'member');
  return members.length > 0 && members.every(({ isEphemeral }) => isEphemeral);
}

/** The znode that clients watch while they wait at a double barrier. */
const READY = 'ready';

/** The znode that a contender waits for, of those that its client watches; null for none. */
export function awaitedBy<C extends Contender>(
  { kind, queued }: Queued<C>,
  contender: C,
  isWatched: (name: string) => boolean,
): string | null {
  if (kind === 'barrier') return isWatched(READY) ? READY : null;
  const at = queued.indexOf(contender);
  const before = queued.slice(Math.max(0, at - WATCHED_MAX), at).reverse();
  return before.find(({ name }) => isWatched(name))?.name ?? null;
}

/** The same of one whose client watches these names, and no others of the directory. */
export function awaitedAmong(
  names: readonly string[],
  { kind, name: own }: { readonly kind: RecipeKind; readonly name: string },
): string | null {
  if (kind === 'barrier') return names.includes(READY) ? READY : null;
  const part = partOf(own);
  if (part === null) return null;
  const before = names.flatMap((name) => {
    const other = partOf(name);
    return other !== null && compareParts(other, part) < 0 ? [{ name, ...other }] : [];
  });
  return before.sort(compareParts).at(-1)?.name ?? null;
}

function permitsOf(data: Uint8Array | null): number | null {
  const text = /^\d{1,9}$/.exec(shownText(data) ?? '');
  return text === null ? null : Number(text[0]);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Null for what is no text, or too long to be a name. */
export function shownText(data: Uint8Array | null): string | null {
  if (data === null || data.length === 0 || data.length > DATA_BYTES_MAX) return null;
  try {
    return UTF8.decode(data);
  } catch {
    return null;
  }
}
