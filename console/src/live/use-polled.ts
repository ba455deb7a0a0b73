/**
 * Asks something again and again while a component is on the page, and the page can be seen.
 *
 * What was last answered stays while the next question is under way or fails, so a page never
 * blinks; the error of the last question is told beside it. There is one question at a time.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import { isAborted } from '../api/problem.js';
import { pause } from './pause.js';

export interface Polled<T> {
  /** Null before the first answer. */
  readonly value: T | null;
  /** What the last question failed with; null if it did not. */
  readonly error: unknown;
  /** Asks at once. */
  readonly refresh: () => void;
}

/**
 * `ask` is asked anew when it changes, so wrap it in useCallback. Between an answer and the next
 * question are `pauseMs`, and at least `restShare` times as long as the answer took.
 */
export function usePolled<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  pauseMs: number,
  restShare = 0,
): Polled<T> {
  const [answer, setAnswer] = useState<{ readonly of: unknown; readonly value: T } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const wake = useRef<() => void>(() => undefined);
  useEffect(() => {
    setError(null);
    const ended = new AbortController();
    const { signal } = ended;
    const loop = async (): Promise<void> => {
      while (!signal.aborted) {
        const begunMs = performance.now();
        try {
          const value = await ask(signal);
          if (signal.aborted) return;
          setAnswer({ of: ask, value });
          setError(null);
        } catch (problem) {
          if (signal.aborted || isAborted(problem)) return;
          setError(problem);
        }
        const tookMs = performance.now() - begunMs;
        await pause(Math.max(pauseMs, restShare * tookMs), signal, (end) => {
          wake.current = end;
        });
        await untilVisible(signal);
      }
    };
    loop().catch(reportError);
    return () => ended.abort();
  }, [ask, pauseMs, restShare]);
  const refresh = useCallback(() => wake.current(), []);
  return { value: answer !== null && answer.of === ask ? answer.value : null, error, refresh };
}

/** A page in the background asks nothing. */
function untilVisible(signal: AbortSignal): Promise<void> {
  if (!document.hidden || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const onChange = (): void => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', onChange);
      resolve();
    };
    document.addEventListener('visibilitychange', onChange);
    signal.addEventListener('abort', onChange, { once: true });
  });
}
