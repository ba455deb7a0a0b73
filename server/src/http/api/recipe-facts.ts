/**
 * Who holds a lock, leads, has a permit, and who waits in which order, as the znodes below one
 * directory say it.
 *
 * A directory is told in a bounded time: of one with more children than CHILDREN_MAX, those are
 * looked at that the tree has first, and the answer says so. Since when a holder holds is written
 * nowhere; `since` is when its znode was made, which is when it began to wait.
 */

import { joinPath } from '@rookery/protocol';
import { prefixedHex } from '../../net/four-letter/format.js';
import type { Requester } from '../../pipeline/access.js';
import type { Tree } from '../../state/tree.js';
import type { ApiMember } from './api-member.js';
import { addressOf, type ClientsHere, WATCH_MODES } from './clients-here.js';
import { mayReadNode } from './node-facts.js';
import {
  compareParts,
  holdersOf,
  type Part,
  partOf,
  type RecipeKind,
  recipeOf,
} from './recipe-names.js';

export const CHILDREN_MAX = 10_000;
const CONTENDERS_MAX = 100;
/** The bytes that are shown of a contender's data, which is mostly its address or name. */
const DATA_BYTES_MAX = 200;

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
  /** The sibling that it waits for and watches; known only if its client is connected here. */
  readonly watches: string | null;
}

interface Contender extends NonNullable<ReturnType<typeof partOf>> {
  readonly node: number;
  readonly name: string;
}

export interface RecipeScene {
  readonly member: ApiMember;
  readonly clients: ClientsHere;
  readonly requester: Requester;
}

/** Null if the children are those of no known recipe. The znode itself may be read by then. */
export function recipeAt(scene: RecipeScene, node: number): Recipe | null {
  const { tree } = scene.member.state;
  const { contenders, isTruncated } = contendersOf(tree, node);
  const named = recipeOf(new Set(contenders.map(({ part }) => part)));
  if (named === null || (named === 'barrier' && !isGathering(tree, contenders))) return null;
  const isReady = contenders.some(({ part }) => part === 'ready');
  const path = tree.path(node);
  // kazoo's semaphore keeps the number of its permits in the directory.
  const permits = named === 'barrier' && !isReady ? permitsOf(tree.data(node)) : null;
  const isBarrier = isReady || isAwaited(scene.member, joinPath(path, 'ready'));
  const gathering = permits !== null ? 'semaphore' : isBarrier ? 'barrier' : 'group';
  const kind = named === 'barrier' ? gathering : named;
  const queued = contenders.filter(({ part }) => part !== 'ready').sort(compareParts);
  // At a barrier all wait until all have come, so nobody holds it before.
  const holding = kind === 'barrier' && !isReady ? 0 : holdersOf(kind, queued);
  const facts = (one: Contender) => contenderFacts(scene, path, one, queued);
  const isQueue = kind === 'queue';
  const waiting = isQueue ? [] : queued.slice(holding);
  return {
    ...{ path, kind, count: queued.length, truncated: isTruncated },
    holders: queued.slice(0, Math.min(holding, CONTENDERS_MAX)).map(facts),
    waiters: waiting.slice(0, CONTENDERS_MAX).map(facts),
    oldest: isQueue
      ? queued.reduce((at, one) => Math.min(at, tree.ctime(one.node)), Infinity)
      : null,
    ready: kind === 'barrier' ? isReady : null,
    permits,
  };
}

function contendersOf(tree: Tree, node: number) {
  const contenders: Contender[] = [];
  let looked = 0;
  tree.visitChildren(node, (child) => {
    const name = tree.name(child);
    const part = partOf(name);
    if (part !== null) contenders.push({ ...part, node: child, name });
    looked += 1;
    return looked < CHILDREN_MAX;
  });
  return { contenders, isTruncated: tree.childCount(node) > looked };
}

/** Whether somebody watches for the znode `ready`, as all who wait at a double barrier do. */
function isAwaited({ watches }: ApiMember, path: string): boolean {
  return WATCH_MODES.some((mode) => [...watches.watchersOf(mode, path)].length > 0);
}

/** Names that are only ids are members of a recipe when they end with their sessions. */
function isGathering(tree: Tree, contenders: readonly Contender[]): boolean {
  const members = contenders.filter(({ part }) => part === 'member');
  return members.length > 0 && members.every(({ node }) => tree.mode(node) === 'ephemeral');
}

function contenderFacts(
  scene: RecipeScene,
  path: string,
  { node, name, part }: Contender,
  queued: readonly Contender[],
): ContenderFacts {
  const { member, clients, requester } = scene;
  const { tree } = member.state;
  const owner = tree.owner(node);
  const mayRead = mayReadNode(tree, node, requester);
  const at = queued.findIndex((one) => one.node === node);
  return {
    ...{ name, part },
    session: owner === 0 ? null : prefixedHex(owner),
    member: clients.has(owner) ? member.context().view.inside.memberId : null,
    address: owner === 0 ? null : addressOf(clients, owner),
    since: mayRead ? tree.ctime(node) : 0,
    data: mayRead ? textOf(tree.data(node)) : null,
    watches: watchedBy(member, { owner, path, before: queued.slice(Math.max(0, at - 64), at) }),
  };
}

/** Finds the nearest contender before it that its client watches. */
function watchedBy(
  member: ApiMember,
  at: { readonly owner: number; readonly path: string; readonly before: readonly Contender[] },
): string | null {
  const watcher = at.owner === 0 ? undefined : member.watcherOf(at.owner);
  if (watcher === undefined) return null;
  for (const { name } of [...at.before].reverse()) {
    const watched = joinPath(at.path, name);
    if (WATCH_MODES.some((mode) => member.watches.has(mode, watched, watcher))) return name;
  }
  return null;
}

function permitsOf(data: Uint8Array | null): number | null {
  const text = /^\d{1,9}$/.exec(textOf(data) ?? '');
  return text === null ? null : Number(text[0]);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function textOf(data: Uint8Array | null): string | null {
  if (data === null || data.length === 0 || data.length > DATA_BYTES_MAX) return null;
  try {
    return UTF8.decode(data);
  } catch {
    return null;
  }
}
