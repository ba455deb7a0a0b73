/**
 * Recipes in the tree of a member: judged by its znodes, with the addresses of their clients, and
 * what these watch, wherever in the ensemble they are connected.
 *
 * A directory is looked at a little in each turn, because a lock may have thousands of waiters.
 * What comes or goes meanwhile may be missed.
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
/** How long a look at a directory may hold the event loop at a time, in ms. */
const SLICE_MS = 2;
/** Children between two looks at the clock; those with long names count as many. */
const STEP = 64;
const CHARACTERS_PER_STEP = 8192;
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
    const recipe = await this.#at({ clients: clientsHere(this.#member), requester }, node);
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
    const { state } = this.#member;
    const make = (tree: Tree, node: number) => {
      // Its directory is above what was asked for.
      if (node === tree.find(scan.path)) return null;
      const directory = tree.parent(node);
      return { directory, path: tree.path(directory) };
    };
    const slices = scan.slices(newDirectories(), make, limit);
    let waiting: Recipe[] = [];
    const places = new Map<SessionId, RemoteClient | null>();
    let nextMs = performance.now() + LOCATED_WITHIN_MS;
    for (;;) {
      const { value, done } = await slices.next();
      for (const found of done === true ? [] : value) {
        if (found === null || !isStillThere(this.#member, state, found)) continue;
        const recipe = await this.#at(scene, found.directory);
        if (recipe !== null) waiting.push(recipe);
      }
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

  /**
   * Null if the children are those of no known recipe, or the znode is gone meanwhile. The znode
   * itself may be read by then.
   */
  async #at(scene: Scene, directory: number): Promise<Recipe | null> {
    const { state } = this.#member;
    const path = state.tree.path(directory);
    if (path.length > PATH_CHARACTERS_MAX) return null;
    const steps = this.#stepsAt(scene, path, directory);
    for (let untilMs = performance.now() + SLICE_MS; ; ) {
      const { value, done } = steps.next();
      if (done === true) return value;
      if (performance.now() < untilMs) continue;
      await new Promise((resolve) => setImmediate(resolve));
      if (!isStillThere(this.#member, state, { directory, path })) return null;
      untilMs = performance.now() + SLICE_MS;
    }
  }

  /** Yields where it may be interrupted. */
  *#stepsAt(scene: Scene, path: string, node: number): Generator<void, Recipe | null> {
    const { tree } = this.#member.state;
    const { contenders, isTruncated } = yield* contendersOf(tree, node);
    const found = queuedRecipe(contenders, () => ({
      data: tree.data(node),
      isAwaited: this.#isAwaited(joinPath(path, 'ready')),
    }));
    if (found === null) return null;
    yield;
    const { queued: _, holders, waiters, ...rest } = found;
    const shown = { holders: [] as ContenderFacts[], waiters: [] as ContenderFacts[] };
    for (const kind of ['holders', 'waiters'] as const) {
      for (const one of kind === 'holders' ? holders : waiters) {
        if (!isChild(tree, one.node, node)) continue;
        shown[kind].push(this.#factsOf(scene, path, one, found));
        yield;
      }
    }
    return { path, truncated: isTruncated, ...rest, ...shown };
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

interface Found {
  readonly directory: number;
  readonly path: string;
}

/** Whether a number is still that of the directory, after a pause. */
function isStillThere(
  { state }: ApiMember,
  former: ApiMember['state'],
  { directory, path }: Found,
): boolean {
  return state === former && state.tree.find(path) === directory;
}

/** A number may belong to another znode after a pause. */
function isChild(tree: Tree, node: number, directory: number): boolean {
  return tree.isLive(node) && tree.parent(node) === directory;
}

/** Yields where it may be interrupted. */
function* contendersOf(tree: Tree, directory: number) {
  const children: number[] = [];
  tree.visitChildren(directory, (child) => children.push(child) < CHILDREN_MAX);
  let isTruncated = tree.childCount(directory) > children.length;
  const contenders: NodeContender[] = [];
  let characters = 0;
  let stepCharacters = 0;
  for (const [index, node] of children.entries()) {
    if (index % STEP === 0 || stepCharacters > CHARACTERS_PER_STEP) {
      yield;
      stepCharacters = 0;
    }
    if (characters >= CHARACTERS_MAX) {
      isTruncated = true;
      break;
    }
    if (!isChild(tree, node, directory)) continue;
    const name = tree.name(node);
    characters += name.length;
    stepCharacters += name.length;
    const part = partOf(name);
    if (part === null) continue;
    const isEphemeral = tree.mode(node) === 'ephemeral';
    const { sequence, rank } = part;
    const createdMs = tree.ctime(node);
    contenders.push({ part: part.part, sequence, rank, name, node, isEphemeral, createdMs });
  }
  return { contenders, isTruncated };
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
