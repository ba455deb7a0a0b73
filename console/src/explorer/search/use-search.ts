/**
 * A search of the tree on the server, whose finds are shown as they arrive.
 *
 * A new search, or none, ends the one under way, so the server stops looking.
 */
import { useEffect, useState } from 'react';
import type { Api, Query } from '../../api/api.js';
import { isAborted } from '../../api/problem.js';
import type { FoundNode, StreamEnd } from '../../api/types.js';

export interface SearchState {
  readonly found: readonly FoundNode[];
  readonly isRunning: boolean;
  /** Why not everything was gone through; null if it was, or is not known yet. */
  readonly cut: string | null;
  readonly error: unknown;
}

const NOTHING: SearchState = { found: [], isRunning: false, cut: null, error: null };
/** Typing on replaces a search before it is sent. */
const TYPING_MS = 150;
/** Finds are shown together, so that ten thousand of them are not ten thousand renderings. */
const SHOWN_EVERY_MS = 100;

/** Null searches nothing. `query` is compared by its content. */
export function useSearch(api: Api, query: Query | null): SearchState {
  const [state, setState] = useState(NOTHING);
  const text = query === null ? null : JSON.stringify(query);
  useEffect(() => {
    if (text === null) {
      setState(NOTHING);
      return;
    }
    const end = new AbortController();
    setState({ ...NOTHING, isRunning: true });
    const timer = setTimeout(() => {
      run(api, JSON.parse(text) as Query, end.signal, setState).catch((error: unknown) => {
        if (!isAborted(error) && !end.signal.aborted) setState({ ...NOTHING, error });
      });
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [api, text]);
  return state;
}

async function run(
  api: Api,
  query: Query,
  signal: AbortSignal,
  setState: (state: SearchState) => void,
): Promise<void> {
  const found: FoundNode[] = [];
  let shownAtMs = performance.now();
  for await (const line of api.lines<FoundNode | StreamEnd>('/search', query, signal)) {
    if (signal.aborted) return;
    if ('done' in line) {
      setState({ found, isRunning: false, cut: line.cut, error: null });
      return;
    }
    found.push(line);
    if (performance.now() - shownAtMs < SHOWN_EVERY_MS) continue;
    shownAtMs = performance.now();
    setState({ found: [...found], isRunning: true, cut: null, error: null });
  }
  const cut = 'the server ended the search';
  if (!signal.aborted) setState({ found, isRunning: false, cut, error: null });
}
