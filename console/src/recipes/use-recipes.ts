/**
 * Every recipe below a path, found again and again while the page is open.
 *
 * A search goes through the whole tree of the server, which is done at most a tenth of the time:
 * the pause after it is ten times as long as it took. What was found before stays until the next
 * search has ended, so that the list does not blink.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Api } from '../api/api.js';
import { isAborted } from '../api/problem.js';
import { pause } from '../live/use-polled.js';
import type { Recipe, RecipesEnd } from './recipe.js';

export interface FoundRecipes {
  readonly recipes: readonly Recipe[];
  /** Whether a whole search has ended. */
  readonly isComplete: boolean;
  /** Why the last search did not go through everything; null if it did. */
  readonly cut: string | null;
  readonly error: unknown;
  readonly refresh: () => void;
}

const LIMIT = 1000;
const PAUSE_MS = 3_000;
const SHARE = 10;

type State = Omit<FoundRecipes, 'refresh'>;
const NOTHING: State = { recipes: [], isComplete: false, cut: null, error: null };

export function useRecipes(api: Api, path: string): FoundRecipes {
  const [state, setState] = useState<State>(NOTHING);
  const wake = useRef<() => void>(() => undefined);
  useEffect(() => {
    setState(NOTHING);
    const ended = new AbortController();
    const { signal } = ended;
    const search = async (): Promise<void> => {
      const found: Recipe[] = [];
      for await (const line of api.lines<Recipe | RecipesEnd>(
        '/recipes',
        { path, limit: LIMIT },
        signal,
      )) {
        if (!('done' in line)) {
          found.push(line);
          // The first search shows what it finds at once.
          setState((before) => (before.isComplete ? before : { ...before, recipes: [...found] }));
          continue;
        }
        found.sort((a, b) => (a.path < b.path ? -1 : 1));
        setState({ recipes: found, isComplete: true, cut: line.cut, error: null });
      }
    };
    const loop = async (): Promise<void> => {
      while (!signal.aborted) {
        const begunMs = performance.now();
        try {
          await search();
        } catch (error) {
          if (signal.aborted || isAborted(error)) return;
          setState((before) => ({ ...before, error }));
        }
        const tookMs = performance.now() - begunMs;
        await pause(Math.max(PAUSE_MS, SHARE * tookMs), signal, (end) => {
          wake.current = end;
        });
      }
    };
    loop().catch(reportError);
    return () => ended.abort();
  }, [api, path]);
  const refresh = useCallback(() => wake.current(), []);
  return { ...state, refresh };
}
