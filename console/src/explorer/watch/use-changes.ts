/**
 * Changes of a znode, or of everything below it, as they happen.
 *
 * The stream is open while the page is seen: a browser gives all tabs of a server six connections
 * together, and a hidden tab must not hold one. When it was lost it is opened again after a while,
 * which grows; whoever listens is told that changes may have been missed.
 */
import { useEffect, useRef, useState } from 'react';
import { isAborted, statusOf } from '../../api/problem.js';
import type { WatchChange } from '../../api/types.js';
import { useConsole } from '../../console-context.js';
import { pause } from '../../live/pause.js';

const AGAIN_MS = 1_000;
const AGAIN_MAX_MS = 30_000;

export interface Listening {
  /** Null listens to nothing. */
  readonly path: string | null;
  readonly isRecursive: boolean;
  readonly onChange: (change: WatchChange) => void;
  /** It listens again, after it did not for some time. */
  readonly onResume: () => void;
}

/** Whether changes are heard at the moment. */
export function useChanges(listening: Listening): boolean {
  const { path, isRecursive } = listening;
  const { api, can } = useConsole();
  const [isLive, setIsLive] = useState(false);
  const isSeen = useIsSeen();
  const newest = useRef(listening);
  useEffect(() => {
    newest.current = listening;
  });
  const wasLive = useRef(false);
  const isWanted = path !== null && isSeen && can('GET', '/watch');
  useEffect(() => {
    if (!isWanted || path === null) return;
    const end = new AbortController();
    const { signal } = end;
    const listen = async (): Promise<void> => {
      const query = { path, recursive: isRecursive ? true : null };
      for await (const { event, data } of api.events('/watch', query, { signal })) {
        if (event === 'watching') {
          setIsLive(true);
          if (wasLive.current) newest.current.onResume();
          wasLive.current = true;
        }
        if (event === 'lost') newest.current.onResume();
        if (event === 'change') newest.current.onChange(JSON.parse(data) as WatchChange);
      }
    };
    keepListening(listen, signal, () => setIsLive(false)).catch(reportError);
    return () => {
      end.abort();
      setIsLive(false);
    };
  }, [api, path, isRecursive, isWanted]);
  return isLive;
}

/** Returns when the signal is aborted, or when the server refuses for good. */
async function keepListening(
  listen: () => Promise<void>,
  signal: AbortSignal,
  onLost: () => void,
): Promise<void> {
  let pauseMs = AGAIN_MS;
  while (!signal.aborted) {
    const startedMs = performance.now();
    try {
      await listen();
    } catch (error) {
      if (isAborted(error) || isFinal(error)) return;
    }
    if (signal.aborted) return;
    onLost();
    if (performance.now() - startedMs > AGAIN_MAX_MS) pauseMs = AGAIN_MS;
    await pause(pauseMs, signal);
    pauseMs = Math.min(AGAIN_MAX_MS, pauseMs * 2);
  }
}

/** Too many listeners, or a member without a leader, pass by; a missing znode does not. */
function isFinal(error: unknown): boolean {
  return [400, 401, 403, 404, 405].includes(statusOf(error) ?? 0);
}

function useIsSeen(): boolean {
  const [isSeen, setIsSeen] = useState(document.visibilityState === 'visible');
  useEffect(() => {
    const onChange = (): void => setIsSeen(document.visibilityState === 'visible');
    document.addEventListener('visibilitychange', onChange);
    return () => document.removeEventListener('visibilitychange', onChange);
  }, []);
  return isSeen;
}
