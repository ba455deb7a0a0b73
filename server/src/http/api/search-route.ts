/**
 * Search of the tree, and recipes in it: the two scans of `/api/v1`, which share their bounds.
 *
 * A search finds names that contain a text or match a pattern, znodes of a session, and large ones,
 * in the whole tree or below a path. `/recipe` describes the recipe of one directory, `/recipes`
 * finds all of them. Results are sent as they are found, a line of JSON each, and a last line says
 * how far the scan went.
 */
import { Glob } from '@rookery/protocol';
import { type HttpAnswer, HttpError, type HttpRequest } from '../http-port.js';
import {
  type ApiCall,
  jsonAnswer,
  oneOf,
  pathOf,
  pathOrRoot,
  sessionIn,
  wholeNumber,
} from './api-call.js';
import type { Caller } from './caller.js';
import { badRequest } from './problem.js';
import type { Recipe } from './recipe-facts.js';

/** The scans that may run at a time, because each takes a part of every turn while it lasts. */
const SCANS_MAX = 2;
const FOUND = { min: 1, max: 10_000, otherwise: 1000 };
const TEXT_CHARACTERS_MAX = 1000;
const MODES = ['persistent', 'ephemeral', 'container', 'ttl', 'any'] as const;

/** Bounds how many scans run at a time; search and recipes share it. */
export class Scans {
  #underWay = 0;

  /**
   * Answers with the lines that `open` finds. Throws HttpError 429 while other scans are under way,
   * and opens nothing then or for HEAD: every opened scan is read to its end.
   */
  async answer(
    { method }: HttpRequest,
    open: () => AsyncIterable<object> | Promise<AsyncIterable<object>>,
  ): Promise<HttpAnswer> {
    const type = 'application/x-ndjson';
    if (method === 'HEAD') return { status: 200, type, body: '' };
    if (this.#underWay >= SCANS_MAX) {
      throw new HttpError(429, 'Others search the tree at the moment.', { 'retry-after': '1' });
    }
    this.#underWay += 1;
    const close = async (): Promise<void> => {
      this.#underWay -= 1;
    };
    try {
      return { status: 200, type, body: bytesOf(await open()), close };
    } catch (problem) {
      await close();
      throw problem;
    }
  }
}

async function* bytesOf(lines: AsyncIterable<object>): AsyncGenerator<Uint8Array> {
  for await (const line of lines) yield Buffer.from(`${JSON.stringify(line)}\n`);
}

/** A znode that may be wanted; each fact is looked up when it is asked for. */
export interface Candidate {
  readonly name: string;
  readonly path: string;
  readonly mode: string;
  readonly dataLength: number;
  /** In hex; null for a znode that is no session's. */
  readonly owner: string | null;
  /** Whether the caller may see more than its name. */
  readonly isReadable: boolean;
}

export interface SearchAsked {
  readonly path: string;
  readonly isWanted: (candidate: Candidate) => boolean;
  readonly limit: number;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/**
 * Yields what is sent of each found znode, and last an object with `done`. Throws HttpError for a
 * path that the caller may not read, before anything is yielded.
 */
export type Search = (asked: SearchAsked) => AsyncIterable<object> | Promise<AsyncIterable<object>>;

export function searchRoute(search: Search, scans: Scans) {
  return async ({ query, request, caller }: ApiCall): Promise<HttpAnswer> => {
    const { signal } = request;
    const asked = {
      path: pathOrRoot(query),
      isWanted: filterOf(query),
      limit: wholeNumber(query, 'limit', FOUND),
      caller,
      signal,
    };
    return await scans.answer(request, () => search(asked));
  };
}

function filterOf(query: URLSearchParams): (candidate: Candidate) => boolean {
  const lower = boundedText(query, 'match').toLowerCase();
  const pattern = boundedText(query, 'glob');
  const glob = pattern === '' ? null : Glob.of(pattern);
  if (glob === undefined) throw badRequest(`glob: ${Glob.EXPECTED}.`);
  const isWholePath = pattern.includes('/');
  const session = sessionIn(query.get('session'), 'session');
  const minBytes = wholeNumber(query, 'minBytes', { otherwise: 0 });
  const mode = oneOf(query, 'mode', MODES, 'any');
  // A caller who may not read a znode learns only its name, from its parent.
  const isOfStat = session !== null || minBytes > 0 || mode !== 'any';
  return (one) => {
    if (session !== null && one.owner !== session) return false;
    if (minBytes > 0 && one.dataLength < minBytes) return false;
    if (mode !== 'any' && one.mode !== mode) return false;
    if (lower !== '' && !one.name.toLowerCase().includes(lower)) return false;
    if (isOfStat && !one.isReadable) return false;
    return glob === null || glob.matches(isWholePath ? one.path : one.name);
  };
}

function boundedText(query: URLSearchParams, name: string): string {
  const text = query.get(name) ?? '';
  if (text.length <= TEXT_CHARACTERS_MAX) return text;
  throw badRequest(`${name}: expected at most ${TEXT_CHARACTERS_MAX} characters.`);
}

export interface RecipesAsked {
  readonly path: string;
  readonly limit: number;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** Throws HttpError for what the caller may not see. */
export interface RecipeSource {
  /** Null if the children of the znode are those of no known recipe. */
  one(path: string, caller: Caller): Promise<Recipe | null>;
  /** Finds each recipe below the path, and yields last an object with `done`. */
  all(asked: RecipesAsked): AsyncIterable<object> | Promise<AsyncIterable<object>>;
}

/**
 * Recipes in the tree: `/recipe` describes one directory, `/recipes` finds all of them and sends a
 * line of JSON for each.
 */
export function recipeRoute(source: RecipeSource) {
  return async ({ query, caller }: ApiCall): Promise<HttpAnswer> => {
    const path = pathOf(query);
    const recipe = await source.one(path, caller);
    if (recipe !== null) return jsonAnswer(recipe);
    throw new HttpError(404, 'No recipe that is known has its znodes there.', {}, { path });
  };
}

export function recipesRoute(source: RecipeSource, scans: Scans) {
  return async ({ query, request, caller }: ApiCall): Promise<HttpAnswer> => {
    const { signal } = request;
    const asked = { path: pathOrRoot(query), limit: wholeNumber(query, 'limit', FOUND) };
    return await scans.answer(request, () => source.all({ ...asked, caller, signal }));
  };
}
