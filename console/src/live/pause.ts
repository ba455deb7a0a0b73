/**
 * A pause between two questions, which can end early.
 */

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
