/**
 * Recipes as a client of any ensemble sees them: judged by the names and Stats of the znodes, with
 * the addresses of their clients where the servers tell them (the four-letter word `cons`). What a
 * client watches is told by no server but a member of Rookery, on its own admin port.
 */
import { type Client, NoAuthError, NoNodeError } from '@rookery/client';
import { joinPath } from '@rookery/protocol';
import {
  type Caller,
  CHILDREN_MAX,
  type Contender,
  type ContenderFacts,
  partOf,
  queuedRecipe,
  type Recipe,
  type RecipeSource,
  type RecipesAsked,
  shownText,
} from '@rookery/server/http';
import { hex, kindOf } from '../command/values.js';
import type { ClientPool, Leased } from './client-pool.js';
import { type ScannedDirectory, scan, TOO_MANY } from './client-scan.js';
import { asProblem, problemOf } from './keeper-problem.js';
import type { ServerWords } from './server-words.js';

const BATCH = 64;

interface OwnedContender extends Contender {
  readonly owner: bigint;
}

export class ClientRecipes implements RecipeSource {
  readonly #pool: ClientPool;
  readonly #words: ServerWords;

  constructor(pool: ClientPool, words: ServerWords) {
    this.#pool = pool;
    this.#words = words;
  }

  one(path: string, caller: Caller): Promise<Recipe | null> {
    return asProblem(async () => {
      const { client, release } = await this.#pool.lease(caller);
      try {
        const addresses = await this.#words.addresses();
        return await recipeAt(client, await directoryAt(client, path), addresses);
      } finally {
        release();
      }
    }, path);
  }

  all(asked: RecipesAsked): Promise<AsyncIterable<object>> {
    return asProblem(async () => {
      const leased = await this.#pool.lease(asked.caller);
      try {
        // What is refused has its status, because nothing has been sent yet.
        await leased.client.getData(asked.path);
        return this.#found(leased, asked);
      } catch (error) {
        leased.release();
        throw error;
      }
    }, asked.path);
  }

  async *#found(leased: Leased, { path, limit, signal }: RecipesAsked): AsyncGenerator<object> {
    const { client } = leased;
    let [count, visited] = [0, 0];
    try {
      const addresses = await this.#words.addresses();
      let cut: string | null = null;
      for await (const one of scan(client, { path, signal })) {
        if (one.kind === 'nodes') visited += one.nodes.length;
        if (one.kind === 'leftOut') cut = TOO_MANY;
        if (one.kind !== 'directory') continue;
        const recipe = await recipeAt(client, one.directory, addresses);
        if (recipe === null) continue;
        if (count === limit) {
          yield { done: true, visited, cut: 'enough' };
          return;
        }
        count += 1;
        yield recipe;
      }
      yield { done: true, visited, cut };
    } catch (error) {
      throw problemOf(error, path);
    } finally {
      leased.release();
    }
  }
}

/** Its children with their Stats, and nothing below them. */
async function directoryAt(client: Client, path: string): Promise<ScannedDirectory> {
  const names: string[] = [];
  let isTruncated = false;
  for await (const name of client.listChildren(path)) {
    isTruncated = names.length === CHILDREN_MAX;
    if (isTruncated) break;
    names.push(name);
  }
  const children: ScannedDirectory['children'][number][] = [];
  // Only what has the name of a contender is looked at.
  const wanted = names.filter((name) => partOf(name) !== null);
  for (let at = 0; at < wanted.length; at += BATCH) {
    const batch = wanted.slice(at, at + BATCH).map(async (name) => {
      const own = joinPath(path, name);
      return { path: own, name, stat: await client.exists(own) };
    });
    for (const { stat, ...node } of await Promise.all(batch)) {
      if (stat !== null) children.push({ ...node, stat });
    }
  }
  return { path, children, isTruncated };
}

/** Null if the children are those of no known recipe. */
async function recipeAt(
  client: Client,
  { path, children, isTruncated }: ScannedDirectory,
  addresses: ReadonlyMap<string, string>,
): Promise<Recipe | null> {
  const contenders = children.flatMap(({ name, stat }): OwnedContender[] => {
    const part = partOf(name);
    if (part === null) return [];
    const { ephemeralOwner: owner, ctime: createdMs } = stat;
    return [{ ...part, name, owner, isEphemeral: kindOf(owner) === 'ephemeral', createdMs }];
  });
  const isGathering = contenders.some(({ part }) => part === 'member');
  const data = isGathering ? await dataOf(client, path) : null;
  // Servers do not say who awaits `ready`: until it exists, clients that wait for it are a group.
  const found = queuedRecipe(contenders, () => ({ data, isAwaited: false }));
  if (found === null) return null;
  const { queued: _, holders, waiters, ...rest } = found;
  const facts = async (one: OwnedContender): Promise<ContenderFacts> => {
    const { name, part, owner, createdMs: since } = one;
    const session = one.isEphemeral ? hex(owner) : null;
    return {
      name,
      part,
      session,
      member: null,
      since,
      address: session === null ? null : (addresses.get(session) ?? null),
      data: shownText(await dataOf(client, joinPath(path, name))),
      watches: null,
      watchesKnown: false,
    };
  };
  return {
    path,
    truncated: isTruncated,
    ...rest,
    holders: await Promise.all(holders.map(facts)),
    waiters: await Promise.all(waiters.map(facts)),
  };
}

/** Null where the ACL forbids to read it, or it has just gone. */
async function dataOf(client: Client, path: string): Promise<Uint8Array | null> {
  try {
    return (await client.getData(path)).data;
  } catch (error) {
    if (error instanceof NoAuthError || error instanceof NoNodeError) return null;
    throw error;
  }
}
