/**
 * The runs of a scheduled job: when they are due, and how they stand in znodes. Pure. Used by the
 * scheduled job.
 */
import type { Codec } from '../../api/codec.js';
import { OptionError } from '../../errors.js';
import { json } from '../../helpers/codecs.js';
import { CorruptDataError } from './value-errors.js';

/**
 * The first due time after another, milliseconds since 1970, or null when there is no further one.
 * Must give the same in all processes, and a later time than it was given.
 */
export type Schedule = (afterMs: number) => number | null;

/**
 * Every so many milliseconds, counted from 1970, so that all processes mean the same times.
 * OptionError for what is not a whole number from 1.
 */
export function every(periodMs: number): Schedule {
  if (!Number.isSafeInteger(periodMs) || periodMs < 1) {
    throw new OptionError('periodMs', `must be an integer of at least 1, is ${periodMs}`);
  }
  return (afterMs) => (Math.floor(afterMs / periodMs) + 1) * periodMs;
}

/**
 * - `running`: it was begun and is not known to have ended.
 * - `done`, `failed`: the work has returned, or thrown.
 * - `interrupted`: whoever ran it lost its lease, or died, before that was written.
 */
export type JobOutcome = 'running' | 'done' | 'failed' | 'interrupted';

export interface JobRun {
  /** Milliseconds since 1970, as the others. */
  readonly dueMs: number;
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly outcome: JobOutcome;
  /** 1, or more after interruptions. */
  readonly attempt: number;
  /** The `id` of the process that ran it. */
  readonly by: string;
  /** Name and message of what the work has thrown. */
  readonly error: string | null;
}

const OUTCOMES: readonly string[] = ['running', 'done', 'failed', 'interrupted'];
const DIGITS = 16;
const LOOK_BACK_FACTOR = 4;

export function runName(dueMs: number): string {
  return String(dueMs).padStart(DIGITS, '0');
}

/** Null for what is not the name of a run. */
export function dueOf(name: string): number | null {
  return name.length === DIGITS && /^\d+$/.test(name) ? Number(name) : null;
}

const raw = json();

/** CorruptDataError for what is not a run. */
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
 * The next time to run: the last one that has passed, or else the first that comes; null for none.
 * `afterMs` is the last due time that was begun. OptionError for a schedule that does not go on.
 */
export function nextDue(schedule: Schedule, afterMs: number, nowMs: number): number | null {
  // Looks back farther and farther, so that years of missed times are not counted through.
  for (let backMs = 1; ; backMs *= LOOK_BACK_FACTOR) {
    const fromMs = Math.max(nowMs - backMs, afterMs);
    const due = ask(schedule, fromMs);
    if (due !== null && due <= nowMs) return lastUpTo(schedule, due, nowMs);
    if (fromMs === afterMs) return due;
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
  throw new OptionError('schedule', `gives ${due} after ${afterMs}`);
}
