/**
 * The real environment of a client: Node's monotonic clock, timers and randomness.
 *
 * The clock is that of `process.hrtime`, which all threads of a process share, so times of the
 * worker thread can be compared with those of this one. It is used unless the options supply
 * another.
 */
import { randomUUID } from 'node:crypto';
import type { Surroundings } from '../api/surroundings.js';

/** Node's maximum; a timer with a longer delay would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** If `keepAlive` is false, its timers do not keep the process alive. */
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
