/**
 * The present time for a page, a second at a time, and ages that grow with it.
 *
 * One timer serves everything that shows an age, however many rows there are.
 */
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { clockText, spanText } from './format.js';

const SECOND_MS = 1000;
const Context = createContext(0);

export function NowProvider({ children }: { readonly children: ReactNode }) {
  return <Context value={useClock(SECOND_MS)}>{children}</Context>;
}

/** The present time, read anew at this interval. */
export function useClock(everyMs: number): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}

export function useNow(): number {
  return useContext(Context);
}

/** How long ago it was; its title has the time itself. */
export function Age({ ms }: { readonly ms: number }) {
  const nowMs = useNow();
  return (
    <time dateTime={isoText(ms)} title={clockText(ms, { nowMs })}>
      {spanText(nowMs - ms)}
    </time>
  );
}

function isoText(ms: number): string | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
