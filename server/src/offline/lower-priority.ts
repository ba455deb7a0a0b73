/**
 * What makes a process give way to the members of the machine: the lowest priority, on Linux also
 * the scheduling class that runs where nothing else wants to (SCHED_IDLE), and the first place
 * where memory ends. For processes that make backups, which hold a second copy of the tree.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

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
