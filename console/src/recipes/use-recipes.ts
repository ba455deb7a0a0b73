/**
 * Every recipe below a path, found again and again while the page is open and can be seen.
 *
 * A search goes through the whole tree of the server, which is done at most a tenth of the time:
 * the pause after it is ten times as long as it took. What was found before stays until the next
 * search has ended, so that the list does not blink; the first search shows what it finds at once.
 */
import { useMemo, useState } from 'react';
import type { Api } from '../api/api.js';
import type { StreamEnd } from '../api/types.js';
import { type Polled, usePolled } from '../live/use-polled.js';
import type { Recipe } from './recipe.js';

export interface FoundRecipes extends Pick<Polled<unknown>, 'error' | 'refresh'> {
  readonly recipes: readonly Recipe[];
  /** Whether a whole search has ended. */
  readonly isComplete: boolean;
  /** Why the last search did not go through everything; null if it did. */
  readonly cut: string | null;
}

const LIMIT = 1000;
const PAUSE_MS = 3_000;
const REST_SHARE = 10;

export function useRecipes(api: Api, path: string): FoundRecipes {
  const [soFar, setSoFar] = useState<readonly Recipe[]>([]);
  const search = useMemo(() => searchOf(api, path, setSoFar), [api, path]);
  const { value, error, refresh } = usePolled(search, PAUSE_MS, REST_SHARE);
  const { recipes, cut } = value ?? { recipes: soFar, cut: null };
  return { recipes, isComplete: value !== null, cut, error, refresh };
}

type Search = (signal: AbortSignal) => Promise<Pick<FoundRecipes, 'recipes' | 'cut'>>;

/** `tell` is told what is found so far, until one search has gone through everything. */
function searchOf(api: Api, path: string, tell: (found: readonly Recipe[]) => void): Search {
  let isFirst = true;
  return async (signal) => {
    const found: Recipe[] = [];
    let cut: string | null = 'the server ended the search';
    if (isFirst) tell([]);
    const query = { path, limit: LIMIT };
    for await (const line of api.lines<Recipe | StreamEnd>('/recipes', query, signal)) {
      if ('done' in line) cut = line.cut;
      else {
        found.push(line);
        if (isFirst) tell([...found]);
      }
    }
    isFirst = false;
    found.sort((a, b) => (a.path < b.path ? -1 : 1));
    return { recipes: found, cut };
  };
}
