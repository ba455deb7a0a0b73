/** Looks at the members every second while the page is open, and keeps what it saw. */
import { useCallback } from 'react';
import type { Api } from '../api/api.js';
import { type Polled, usePolled } from '../live/use-polled.js';
import type { Look, Members } from './member.js';
import { Histories, type Point } from './member-history.js';

const EVERY_MS = 1000;
const histories = new Histories();

export interface LookedAt extends Look {
  readonly self: number | null;
  readonly points: readonly Point[];
}

export function useMembers(api: Api): Polled<LookedAt> {
  const ask = useCallback(
    async (signal: AbortSignal): Promise<LookedAt> => {
      const answer = await api.get<Members>('/members', {}, signal);
      const history = histories.of(api);
      const atMs = Date.now();
      history.add(atMs, answer);
      const { self = null, members } = answer;
      return { atMs, self, members, points: history.points };
    },
    [api],
  );
  return usePolled(ask, EVERY_MS);
}
