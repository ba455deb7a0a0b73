/**
 * The sessions of the ensemble, page by page, asked for again while the page is open.
 *
 * Only as many are asked for again as are shown, at most a thousand; further ones are kept as they
 * were read.
 */
import { useCallback, useState } from 'react';
import type { Api } from '../api/api.js';
import { type Polled, usePolled } from '../live/use-polled.js';
import type { Session, SessionsPage } from './session.js';

const PAGE = 200;
const SHOWN_MAX = 5_000;
const AT_ONCE_MAX = 1_000;
const EVERY_MS = 3_000;
const NONE: readonly Session[] = [];

export interface ShownSessions extends Pick<Polled<unknown>, 'error' | 'refresh'> {
  readonly count: number;
  readonly sessions: readonly Session[];
  readonly isAsked: boolean;
  /** Null when all are shown. */
  readonly more: (() => void) | null;
}

export function useSessions(api: Api): ShownSessions {
  const [wanted, setWanted] = useState(PAGE);
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const sessions: Session[] = [];
      let count = 0;
      let after: string | null = null;
      do {
        const limit = Math.min(AT_ONCE_MAX, wanted - sessions.length);
        const page: SessionsPage = await api.get('/sessions', { after, limit }, signal);
        sessions.push(...page.sessions);
        count = page.count;
        after = page.next;
      } while (after !== null && sessions.length < wanted);
      return { count, sessions, hasMore: after !== null };
    },
    [api, wanted],
  );
  const { value, error, refresh } = usePolled(ask, EVERY_MS);
  // While more are asked for, those before stay.
  const [before, setBefore] = useState(value);
  if (value !== null && value !== before) setBefore(value);
  const shown = value ?? before;
  const canGrow = shown?.hasMore === true && wanted < SHOWN_MAX;
  return {
    error,
    refresh,
    isAsked: shown !== null,
    count: shown?.count ?? 0,
    sessions: shown?.sessions ?? NONE,
    more: canGrow ? () => setWanted(Math.min(SHOWN_MAX, 2 * wanted)) : null,
  };
}
