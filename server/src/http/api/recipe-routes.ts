/**
 * Recipes in the tree: `/recipe` tells of one directory, `/recipes` finds all of them and sends a
 * line of JSON for each.
 */
import { HttpError } from '../http-error.js';
import type { HttpAnswer } from '../http-port.js';
import { type ApiCall, jsonAnswer } from './api-call.js';
import { pathOf, pathOrRoot, wholeNumber } from './api-query.js';
import type { Caller } from './caller.js';
import type { Recipe } from './recipe-facts.js';
import type { Scans } from './search-route.js';

const FOUND = { min: 1, max: 10_000, otherwise: 1000 };

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
