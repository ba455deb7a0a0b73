/**
 * The client's real surroundings: Node's monotonic clock, timers and randomness.
 *
 * The clock is that of `process.hrtime`, which all threads of a process share, so that times told
 * by the worker thread mean the same here. Used unless the options give others.
 */
import { randomUUID } from 'node:crypto';
import type { Surroundings } from './api/surroundings.js';

/** Node's longest; a longer one would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** With `keepAlive` false its timers do not keep the process from ending. */
export function systemSurroundings(keepAlive: boolean): Surroundings {
  return {
    nowMs: hrtimeMs,
    setTimer(delayMs, callback) {
      const bounded = Math.min(Math.max(Math.ceil(delayMs), 0), TIMER_MS_MAX);
      const timer = setTimeout(callback, bounded);
      if (!keepAlive) timer.unref();
      return () => clearTimeout(timer);
    },
    random: Math.random,
    uuid: randomUUID,
  };
}

export function hrtimeMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
