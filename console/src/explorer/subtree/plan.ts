/**
 * A plan: what would be done to a part of the tree, step by step, before anything is done.
 *
 * Steps are in groups that follow each other, so that a parent is there before its children, and
 * gone after them. Running it is paced, and stops where it must; nothing is done twice. What fails
 * is counted, and the first failures are kept to be shown.
 */
import { ApiProblem, isAborted, isRefusalOfOne } from '../../api/problem.js';

export interface Step {
  readonly path: string;
  /** What it does, such as `create`. */
  readonly verb: string;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface Plan {
  readonly groups: readonly (readonly Step[])[];
  /** What is said before it runs. */
  readonly facts: readonly (readonly [string, string])[];
  readonly warnings: readonly Warning[];
  /**
   * Whether its steps need each other: then it stops at the first that fails. Otherwise a znode
   * that is refused for a reason of its own holds up nothing else.
   */
  readonly isChain: boolean;
}

export interface Warning {
  readonly sentence: string;
  /** The znodes that it is about, if that helps to know. */
  readonly paths: readonly string[];
}

export interface Failure {
  readonly path: string;
  readonly verb: string;
  readonly error: unknown;
}

export interface Progress {
  readonly done: number;
  readonly failed: number;
  /** The first of those that failed. */
  readonly failures: readonly Failure[];
  readonly state: 'running' | 'done' | 'stopped';
}

const FAILURES_KEPT = 20;
/**
 * Failures that have nothing to do with the znode, such as a server that does not answer: after so
 * many, those who run a plan want to look what is wrong.
 */
const FAULTS_MAX = 20;
/** Requests under way at a time; the server takes 16 of all its callers. */
const AT_ONCE = 4;

export function stepCount({ groups }: Pick<Plan, 'groups'>): number {
  return groups.reduce((sum, group) => sum + group.length, 0);
}

export interface Running {
  readonly signal: AbortSignal;
  /** Steps in a second at most. */
  readonly pace: number;
  /** Resolves when so many ms have passed, or the signal is aborted. */
  wait(ms: number): Promise<void>;
  nowMs(): number;
  onProgress(progress: Progress): void;
}

/** Resolves with how it ended; an abort begins no further step, and cuts off those under way. */
export async function runPlan(plan: Plan, running: Running): Promise<Progress> {
  const failures: Failure[] = [];
  let done = 0;
  let failed = 0;
  let faults = 0;
  let started = 0;
  const beganMs = running.nowMs();
  const isOver = (): boolean =>
    running.signal.aborted || (plan.isChain ? failed > 0 : faults >= FAULTS_MAX);
  const tell = (state: Progress['state']): Progress => {
    const progress = { done, failed, failures: [...failures], state };
    running.onProgress(progress);
    return progress;
  };
  const work = async (steps: Iterator<Step>): Promise<void> => {
    for (let next = steps.next(); next.done !== true && !isOver(); next = steps.next()) {
      const step = next.value;
      const dueMs = beganMs + (started / running.pace) * 1_000;
      started += 1;
      const earlyMs = dueMs - running.nowMs();
      if (earlyMs > 0) await running.wait(earlyMs);
      if (isOver()) return;
      try {
        await step.run(running.signal);
        done += 1;
      } catch (error) {
        failed += 1;
        if (!isRefusalOfOne(error)) faults += 1;
        if (failures.length < FAILURES_KEPT) {
          const { path, verb } = step;
          failures.push({ path, verb, error: isAborted(error) ? cutOff() : error });
        }
      }
      tell('running');
    }
  };
  for (const group of plan.groups) {
    if (isOver()) break;
    const steps = group[Symbol.iterator]();
    await Promise.all(Array.from({ length: AT_ONCE }, () => work(steps)));
  }
  return tell(isOver() ? 'stopped' : 'done');
}

/** The problem of a step that was under way when the plan was stopped. */
function cutOff(): ApiProblem {
  const detail = 'It was under way when you stopped: whether it took effect is not known.';
  return new ApiProblem({ status: 0, detail });
}

/** Groups by depth: parents first. Within a group the order stays. */
export function byDepth<T extends { readonly path: string }>(items: readonly T[]): readonly T[][] {
  const groups = new Map<number, T[]>();
  for (const item of items) {
    const depth = item.path === '/' ? 0 : item.path.split('/').length - 1;
    const group = groups.get(depth);
    if (group === undefined) groups.set(depth, [item]);
    else group.push(item);
  }
  return [...groups].sort(([one], [other]) => one - other).map(([, group]) => group);
}
