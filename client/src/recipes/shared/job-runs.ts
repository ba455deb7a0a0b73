/**
 * The runs of a scheduled job: when they are due, and their format in znodes. Pure. Used by the
 * scheduled job.
 */
import type { Codec } from '../../api/codec.js';
import { OptionError } from '../../api/errors.js';
import { json } from '../../helpers/codecs.js';
import { CorruptDataError } from './value-errors.js';

/**
 * Returns the first due time after another one, in milliseconds since 1970, or null if there is
 * none. It must return the same in all processes, and always a later time than its argument.
 */
export type Schedule = (afterMs: number) => number | null;

/**
 * A due time at each multiple of the period since 1970, so that all processes mean the same times.
 * Throws OptionError if it is not an integer of at least 1.
 */
export function every(periodMs: number): Schedule {
  if (!Number.isSafeInteger(periodMs) || periodMs < 1) {
    throw new OptionError('periodMs', `must be an integer of at least 1, is ${periodMs}`);
  }
  return (afterMs) => (Math.floor(afterMs / periodMs) + 1) * periodMs;
}

/**
 * - `running`: it was begun and is not known to have ended.
 * - `done`, `failed`: the work has returned or thrown.
 * - `interrupted`: its process lost the lease, or died, before the result was written.
 */
export type JobOutcome = 'running' | 'done' | 'failed' | 'interrupted';

export interface JobRun {
  /** Milliseconds since 1970, like the other times. */
  readonly dueMs: number;
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly outcome: JobOutcome;
  /** 1, or more after interruptions. */
  readonly attempt: number;
  /** The `id` of the process that ran it. */
  readonly by: string;
  /** The name and message of what the work threw. */
  readonly error: string | null;
}

const OUTCOMES: readonly string[] = ['running', 'done', 'failed', 'interrupted'];
const DIGITS = 16;
const LOOK_BACK_FACTOR = 4;

export function runName(dueMs: number): string {
  return String(dueMs).padStart(DIGITS, '0');
}

/** Null if the name is not that of a run. */
export function dueOf(name: string): number | null {
  return name.length === DIGITS && /^\d+$/.test(name) ? Number(name) : null;
}

const raw = json();

/** Throws CorruptDataError if the data is not a run. */
export const runCodec: Codec<JobRun> = {
  parse: (data, path = '') => {
    const run = raw.parse(data, path);
    if (!isRun(run)) throw new CorruptDataError(path, 'a run of a job');
    return run;
  },
  format: (run, path) => raw.format(run, path),
};

function isRun(value: unknown): value is JobRun {
  if (typeof value !== 'object' || value === null) return false;
  const { dueMs, startedMs, attempt, outcome } = value as Partial<Record<keyof JobRun, unknown>>;
  const isNumbered = [dueMs, startedMs, attempt].every((number) => typeof number === 'number');
  return isNumbered && OUTCOMES.includes(String(outcome));
}

/**
 * The next time to run: the last one that has passed, or else the first one to come; null if there
 * is none. `afterMs` is the last due time that was begun. Throws OptionError for a schedule that
 * does not advance.
 */
export function nextDue(schedule: Schedule, afterMs: number, nowMs: number): number | null {
  // Looks back in growing steps, so that years of missed times need not be enumerated.
  for (let backMs = 1; ; backMs *= LOOK_BACK_FACTOR) {
    const askedMs = Math.max(nowMs - backMs, afterMs);
    const due = ask(schedule, askedMs);
    if (due !== null && due <= nowMs) return lastUpTo(schedule, due, nowMs);
    if (askedMs === afterMs) return due;
  }
}

function lastUpTo(schedule: Schedule, firstMs: number, nowMs: number): number {
  let last = firstMs;
  for (;;) {
    const next = ask(schedule, last);
    if (next === null || next > nowMs) return last;
    last = next;
  }
}

function ask(schedule: Schedule, afterMs: number): number | null {
  const due = schedule(afterMs);
  if (due === null || (Number.isSafeInteger(due) && due > afterMs)) return due;
  throw new OptionError('schedule', `returned ${due} for ${afterMs}, which is not a later time`);
}
