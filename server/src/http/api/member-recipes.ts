/**
 * Recipes in the tree of a member: judged by its znodes, with the addresses of their clients, and
 * what these watch, wherever in the ensemble they are connected.
 *
 * Where a client is connected is asked of the other members: of one recipe at once, and of those
 * that a search finds in groups, so that no member is asked often.
 */
import { joinPath } from '@rookery/protocol';
import { prefixedHex } from '../../net/four-letter/format.js';
import type { Requester } from '../../pipeline/access.js';
import { NO_NODE, type Tree } from '../../state/tree.js';
import type { SessionId } from '../../state/txn.js';
import type { ApiMember } from './api-member.js';
import { addressOf, type ClientsHere, clientsHere, WATCH_MODES } from './api-member.js';
import type { Caller } from './caller.js';
import { mayReadNode, readableNode, requireServing } from './member-nodes.js';
import type { OthersFor, RemoteClient } from './other-members.js';
import {
  awaitedAmong,
  awaitedBy,
  CHARACTERS_MAX,
  CHILDREN_MAX,
  type Contender,
  type ContenderFacts,
  type Queued,
  queuedRecipe,
  type Recipe,
  shownText,
} from './recipe-facts.js';
import { isTelling, partOf } from './recipe-names.js';
import type { RecipeSource, RecipesAsked } from './search-route.js';
import { TreeScan } from './tree-scan.js';

/** Directories whose children were seen, in one search. */
const PARENTS_MAX = 100_000;
/** No recipe is looked for at a longer path, which is made again for each of its contenders. */
const PATH_CHARACTERS_MAX = 4_096;
/** The sessions whose place is asked for at once. */
const LOCATED_AT_ONCE = 150;
/** How long a found recipe waits for others at most. */
const LOCATED_WITHIN_MS = 500;

interface NodeContender extends Contender {
  readonly node: number;
}

interface Scene {
  readonly clients: ClientsHere;
  readonly requester: Requester;
}

export class MemberRecipes implements RecipeSource {
  readonly #member: ApiMember;
  readonly #others: OthersFor;

  constructor(member: ApiMember, others: OthersFor) {
    this.#member = member;
    this.#others = others;
  }

  async one(path: string, caller: Caller): Promise<Recipe | null> {
    const { requester } = caller;
    requireServing(this.#member);
    const node = readableNode(this.#member.state, path, requester);
    const recipe = this.#at({ clients: clientsHere(this.#member), requester }, node);
    if (recipe === null) return null;
    const others = this.#others(caller);
    return located(recipe, await others.clients(sessionsElsewhere(recipe), path));
  }

  all({ path, limit, caller, signal }: RecipesAsked): AsyncIterable<object> {
    requireServing(this.#member);
    const { requester } = caller;
    return this.#found(new TreeScan(this.#member, { path, requester, signal }), caller, limit);
  }

  async *#found(scan: TreeScan, caller: Caller, limit: number): AsyncGenerator<object> {
    const { requester } = caller;
    const others = this.#others(caller);
    const scene = { clients: clientsHere(this.#member), requester };
    const make = (tree: Tree, node: number) => {
      // Its directory is above what was asked for.
      return node === tree.find(scan.path) ? null : this.#at(scene, tree.parent(node));
    };
    const slices = scan.slices(newDirectories(), make, limit);
    let waiting: Recipe[] = [];
    const places = new Map<SessionId, RemoteClient | null>();
    let nextMs = performance.now() + LOCATED_WITHIN_MS;
    for (;;) {
      const { value, done } = await slices.next();
      if (done !== true) waiting.push(...value.filter((recipe) => recipe !== null));
      const unknown = new Set(waiting.flatMap(sessionsElsewhere).filter((id) => !places.has(id)));
      const isDue = unknown.size >= LOCATED_AT_ONCE || performance.now() >= nextMs;
      if (done === true || isDue) {
        const found = await others.clients([...unknown]);
        for (const session of unknown) places.set(session, found.get(session) ?? null);
        for (const recipe of waiting) yield located(recipe, places);
        waiting = [];
        nextMs = performance.now() + LOCATED_WITHIN_MS;
      }
      if (done === true) {
        yield { done: true, ...value };
        return;
      }
    }
  }

  /** Null if the children are those of no known recipe. The znode itself may be read by then. */
  #at(scene: Scene, node: number): Recipe | null {
    const { tree } = this.#member.state;
    const path = tree.path(node);
    if (path.length > PATH_CHARACTERS_MAX) return null;
    const { contenders, isTruncated } = contendersOf(tree, node);
    const found = queuedRecipe(contenders, () => ({
      data: tree.data(node),
      isAwaited: this.#isAwaited(joinPath(path, 'ready')),
    }));
    if (found === null) return null;
    const { queued: _, holders, waiters, ...rest } = found;
    const facts = (one: NodeContender) => this.#factsOf(scene, path, one, found);
    return {
      path,
      truncated: isTruncated,
      ...rest,
      holders: holders.map(facts),
      waiters: waiters.map(facts),
    };
  }

  #factsOf(
    { clients, requester }: Scene,
    path: string,
    contender: NodeContender,
    recipe: Queued<NodeContender>,
  ): ContenderFacts {
    const { node, name, part, createdMs } = contender;
    const { tree } = this.#member.state;
    const owner = tree.owner(node);
    const isHere = owner !== 0 && clients.has(owner);
    const mayRead = mayReadNode(tree, node, requester);
    const watcher = isHere ? this.#member.watcherOf(owner) : undefined;
    const isWatched = (other: string): boolean => {
      const watched = joinPath(path, other);
      return (
        watcher !== undefined &&
        WATCH_MODES.some((mode) => this.#member.watches.has(mode, watched, watcher))
      );
    };
    return {
      name,
      part,
      session: owner === 0 ? null : prefixedHex(owner),
      member: isHere ? this.#member.context().view.details.memberId : null,
      address: owner === 0 ? null : addressOf(clients, owner),
      since: mayRead ? createdMs : 0,
      data: mayRead ? shownText(tree.data(node)) : null,
      watches: isHere ? awaitedBy(recipe, contender, isWatched) : null,
      watchesKnown: isHere,
    };
  }

  #isAwaited(path: string): boolean {
    const { watches } = this.#member;
    return WATCH_MODES.some((mode) => [...watches.watchersOf(mode, path)].length > 0);
  }
}

/** The directory of each node that tells of a recipe, once. */
function newDirectories(): (tree: Tree, node: number) => boolean {
  const seen = new Set<number>();
  return (tree, node) => {
    const parent = tree.parent(node);
    if (parent === NO_NODE || seen.has(parent)) return false;
    const name = tree.name(node);
    const isMember = partOf(name)?.part === 'member' && tree.mode(node) === 'ephemeral';
    const isNews = isTelling(name) || isMember;
    if (isNews && seen.size < PARENTS_MAX) seen.add(parent);
    return isNews;
  };
}

function contendersOf(tree: Tree, node: number) {
  const contenders: NodeContender[] = [];
  let looked = 0;
  let characters = 0;
  tree.visitChildren(node, (child) => {
    const name = tree.name(child);
    const part = partOf(name);
    if (part !== null) {
      const isEphemeral = tree.mode(child) === 'ephemeral';
      contenders.push({ ...part, name, node: child, isEphemeral, createdMs: tree.ctime(child) });
    }
    looked += 1;
    characters += name.length;
    return looked < CHILDREN_MAX && characters < CHARACTERS_MAX;
  });
  return { contenders, isTruncated: tree.childCount(node) > looked };
}

function sessionsElsewhere({ holders, waiters }: Recipe): readonly SessionId[] {
  return [...holders, ...waiters]
    .filter(({ session, member }) => session !== null && member === null)
    .map(({ session }) => Number(session));
}

/** With what other members tell of their clients. */
function located(recipe: Recipe, places: ReadonlyMap<SessionId, RemoteClient | null>): Recipe {
  const { kind } = recipe;
  const locate = (one: ContenderFacts): ContenderFacts => {
    const client = one.session === null ? null : places.get(Number(one.session));
    if (client === undefined || client === null) return one;
    const { member, address, watches } = client;
    const watched = awaitedAmong(watches ?? [], { kind, name: one.name });
    return { ...one, member, address, watches: watched, watchesKnown: watches !== null };
  };
  return { ...recipe, holders: recipe.holders.map(locate), waiters: recipe.waiters.map(locate) };
}
