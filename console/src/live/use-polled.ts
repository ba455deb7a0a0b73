/**
 * Asks something again and again while a component is on the page, and the page can be seen.
 *
 * What was last answered stays while the next question is under way or fails, so a page never
 * blinks; the error of the last question is told beside it. There is one question at a time.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import { isAborted } from '../api/problem.js';

export interface Polled<T> {
  /** Null before the first answer. */
  readonly value: T | null;
  /** What the last question failed with; null if it did not. */
  readonly error: unknown;
  /** Asks at once. */
  readonly refresh: () => void;
}

/** `ask` is asked anew when it changes, so wrap it in useCallback; null asks nothing. */
export function usePolled<T>(
  ask: ((signal: AbortSignal) => Promise<T>) | null,
  everyMs: number,
): Polled<T> {
  const [answer, setAnswer] = useState<{ readonly of: unknown; readonly value: T } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const wake = useRef<() => void>(() => undefined);
  useEffect(() => {
    setError(null);
    if (ask === null) return;
    const ended = new AbortController();
    const { signal } = ended;
    const loop = async (): Promise<void> => {
      while (!signal.aborted) {
        try {
          const value = await ask(signal);
          if (signal.aborted) return;
          setAnswer({ of: ask, value });
          setError(null);
        } catch (problem) {
          if (signal.aborted || isAborted(problem)) return;
          setError(problem);
        }
        await pause(everyMs, signal, (end) => {
          wake.current = end;
        });
        await untilVisible(signal);
      }
    };
    loop().catch(reportError);
    return () => ended.abort();
  }, [ask, everyMs]);
  const refresh = useCallback(() => wake.current(), []);
  return { value: answer !== null && answer.of === ask ? answer.value : null, error, refresh };
}

/** Ends early when `onEnd` is used, or the signal is aborted. */
export function pause(
  ms: number,
  signal: AbortSignal,
  onEnd: (end: () => void) => void = () => undefined,
): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    onEnd(end);
  });
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
