/**
 * Makes a process give way to the members on the machine, for processes that make backups, which
 * hold a second copy of the tree.
 *
 * It gets the lowest priority, on Linux also the scheduling class that runs only on an idle
 * processor (SCHED_IDLE), is the first to be killed when memory runs out, and collects garbage
 * rarely.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/** Linux kills the process with the highest score first. */
const OOM_SCORE = '/proc/self/oom_score_adj';
const OOM_SCORE_MAX = '1000';
/** Options of `chrt`. */
type SchedulingClass = '--idle' | '--other';
const COMMAND_MS = 5_000;
/** For how long what a member waits for may take in the idle class. */
const PATIENCE_MS = 30_000;

/**
 * Holds for the rest of this process. Where the machine does not allow it, nothing changes.
 * `listThreads` is given by tests.
 */
export function lowerPriority(listThreads: () => readonly number[] = ownThreads): void {
  asAllowed(() => setPriority(constants.priority.PRIORITY_LOW));
  let threads: readonly number[] = [];
  asAllowed(() => {
    threads = listThreads();
  });
  // Each by itself: one that has ended since it was listed must not keep the others from it.
  for (const thread of threads) {
    asAllowed(() => setPriority(thread, constants.priority.PRIORITY_LOW));
  }
  asAllowed(() => writeFileSync(OOM_SCORE, OOM_SCORE_MAX));
  // By its priority alone a thread keeps a processor for some ms after a member wants to run.
  enter('--idle');
}

/**
 * Does what a member waits for: meanwhile it keeps all of its log. Where no processor is idle, this
 * process leaves the idle class after half a minute and goes on by its low priority alone.
 */
export async function whileMemberWaits<T>(
  work: () => Promise<T>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  let hasLeft = false;
  const timer = setTimeout(() => {
    hasLeft = true;
    enter('--other');
  }, patienceMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (hasLeft) enter('--idle');
  }
}

/** Node has no call for it. The command is part of util-linux, which nearly every Linux has. */
function enter(schedulingClass: SchedulingClass): void {
  if (process.platform !== 'linux') return;
  const args = ['--all-tasks', schedulingClass, '--pid', '0', `${process.pid}`];
  spawnSync('chrt', args, { stdio: 'ignore', timeout: COMMAND_MS });
}

function asAllowed(step: () => void): void {
  try {
    step();
  } catch (error) {
    // Only what the system refuses; anything else is a mistake of ours.
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

/**
 * On Linux each thread has a priority of its own, and `setPriority` without a thread changes that
 * of the main one, which threads begun later inherit. Those of the collector exist already.
 */
function ownThreads(): readonly number[] {
  return readdirSync('/proc/self/task').map(Number);
}

/** V8 itself lets a heap grow by up to 300 percent before it collects all of it again. */
const GROWTH_PERCENT = 400;

/**
 * Lets a process that makes a backup collect its garbage rarely.
 *
 * Nearly all of its memory is outside V8's heap, and comes and goes: parts of the stream and of the
 * file. V8 counts it as growth of a heap in which 13 MB are alive. In a backup of a million znodes,
 * it made forty full collections, which took a quarter of the processor time.
 *
 * Nothing else depends on the flag. A release of V8 that does not know it prints a line on stderr,
 * and then decides alone.
 *
 * Holds for the rest of this process.
 */
export function collectRarely(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
