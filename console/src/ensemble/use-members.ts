/** Looks at the members every second while the page is open, and keeps what it saw. */
import { useCallback } from 'react';
import type { Api } from '../api/api.js';
import { type Polled, usePolled } from '../live/use-polled.js';
import type { Look, Members } from './member.js';
import { MemberHistory, type Point } from './member-history.js';

const EVERY_MS = 1000;
/** They outlive the page, so that charts go on where they were when somebody comes back to it. */
const HISTORIES = new WeakMap<Api, MemberHistory>();

export interface LookedAt extends Look {
  readonly self: number | null;
  readonly points: readonly Point[];
}

export function useMembers(api: Api): Polled<LookedAt> {
  const ask = useCallback(
    async (signal: AbortSignal): Promise<LookedAt> => {
      const { self = null, members } = await api.get<Members>('/members', {}, signal);
      const history = HISTORIES.get(api) ?? new MemberHistory();
      HISTORIES.set(api, history);
      const atMs = Date.now();
      history.add({ atMs, members });
      return { atMs, self, members, points: history.points };
    },
    [api],
  );
  return usePolled(ask, EVERY_MS);
}
