/**
 * Checks thousands of random plans against running members, several at a time, and reports.
 *
 * Each worker is a fast-check run of its own with its own seed, so that one shrinks its
 * counterexample while plans stay independent. The first failure ends all workers; its text
 * contains the shrunk plan, the disagreement and how to run it again.
 */
import fc from 'fast-check';
import type { Ensemble } from '../harness/ensemble.js';
import type { Member } from '../harness/member.js';
import { sendDelete } from '../harness/operations.js';
import { connectTo } from '../harness/use-client.js';
import type { Dialect } from './dialect.js';
import { MADE_BEFORE } from './generators.js';
import { describePlan, type Plan, planArbitrary } from './plans.js';
import { leaveBehind, type RunOptions, runPlan } from './run.js';

export interface CheckOptions {
  readonly ensemble: Ensemble;
  readonly dialect: Dialect;
  readonly sequences: number;
  readonly seed: number;
  readonly workers?: number;
  /** Whether the members have local sessions; false by default. */
  readonly localSessions?: boolean;
}

/** Each run has a prefix of its own, unless all runs read the same tree. */
type Setting = Omit<RunOptions, 'prefix'> & { readonly prefix?: string };

export interface CheckSummary {
  readonly sequences: number;
  readonly operations: number;
  /** How often each error code was the answer. */
  readonly codes: Readonly<Record<string, number>>;
  /** How many sequences had fewer than 10, 20 and 40 operations, and more. */
  readonly lengths: Readonly<Record<'below10' | 'below20' | 'below40' | 'longer', number>>;
}

/** For the members: a container must not be removed in the middle of a sequence. */
export const NO_REAPING = { ROOKERY_CONTAINER_CHECK_MS: String(24 * 3_600_000) };

const DEFAULT_WORKERS = 8;
/** The number of attempts for what fails by a race, and so not each time. */
const SHRINK_ATTEMPTS = 3;
const LIMITS = { sessions: 3, steps: 12, operations: 10 };

export async function checkPlans(options: CheckOptions): Promise<CheckSummary> {
  const { ensemble, dialect, localSessions = false } = options;
  const leader = await ensemble.leader();
  const atLeader = await connectTo(leader, { timeoutMs: 30_000 });
  const settle = async () => {
    await sendDelete(atLeader, '/none/such');
  };
  const { members } = ensemble;
  const setting = { members, leader: members.indexOf(leader), dialect, settle, localSessions };
  const summary = await checkShares(setting, options);
  await atLeader.drop();
  return summary;
}

/**
 * Checks plans against the single member that is left, which serves only reads. `alone` resolves
 * with it once it does; the znodes to read are created before.
 */
export async function checkReads(
  options: CheckOptions & { readonly alone: () => Promise<Member> },
): Promise<CheckSummary> {
  const { ensemble, dialect } = options;
  const settle = () => Promise.resolve();
  const prefix = `/model-reads-${process.pid}`;
  const setting = { dialect, settle, leader: -1, localSessions: false, prefix };
  const remains = await leaveBehind(MADE_BEFORE, { ...setting, members: ensemble.members });
  const members = [await options.alone()];
  return await checkShares({ ...setting, members, remains }, options);
}

async function checkShares(setting: Setting, options: CheckOptions): Promise<CheckSummary> {
  const { sequences, seed, workers = DEFAULT_WORKERS } = options;
  const counter = new Counter();
  const shares = Array.from({ length: workers }, (_, worker) => ({
    seed: (seed + worker) | 0,
    runs: Math.floor(sequences / workers) + (worker < sequences % workers ? 1 : 0),
  })).filter(({ runs }) => runs > 0);
  await Promise.all(shares.map((share) => checkShare(setting, share, counter)));
  return counter.summary();
}

async function checkShare(
  setting: Setting,
  share: { readonly seed: number; readonly runs: number },
  counter: Counter,
): Promise<void> {
  const { members, dialect } = setting;
  const limits = { ...LIMITS, members: members.length, pages: dialect.hasPages };
  const property = fc.asyncProperty(planArbitrary(limits), async (plan) => {
    if (counter.failed && !counter.isShrinking(share.seed)) return;
    const attempts = counter.isShrinking(share.seed) ? SHRINK_ATTEMPTS : 1;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      counter.count(plan);
      const prefix = `/model-${process.pid}-${share.seed >>> 0}-${counter.sequences}`;
      try {
        counter.answered(await runPlan(plan, { prefix, ...setting }));
      } catch (error) {
        counter.failedIn(share.seed);
        throw error;
      }
    }
  });
  const result = await fc.check(property, { seed: share.seed, numRuns: share.runs });
  // If several workers fail at once, only the first one goes on to shrink, and is reported.
  if (!result.failed || !counter.isShrinking(share.seed)) return;
  const [plan] = result.counterexample ?? [];
  const error = result.errorInstance;
  const message = error instanceof Error ? error.message : String(error);
  const shrunk = plan === undefined ? 'no plan' : describePlan(plan);
  const where = `seed ${share.seed}, run ${result.numRuns}, shrunk ${result.numShrinks} times`;
  throw new Error(`model and member disagree (${where}):\n${shrunk}\n--\n${message}`);
}

/** What the workers share. */
class Counter {
  #sequences = 0;
  #operations = 0;
  readonly #codes: Record<string, number> = {};
  #failedSeed: number | undefined;
  readonly #lengths = { below10: 0, below20: 0, below40: 0, longer: 0 };

  get sequences(): number {
    return this.#sequences;
  }

  get failed(): boolean {
    return this.#failedSeed !== undefined;
  }

  failedIn(seed: number): void {
    this.#failedSeed ??= seed;
  }

  isShrinking(seed: number): boolean {
    return this.#failedSeed === seed;
  }

  count(plan: Plan): void {
    this.#sequences += 1;
    const length = plan.reduce(
      (sum, step) => sum + (step.step === 'burst' ? step.operations.length : 0),
      0,
    );
    this.#operations += length;
    if (length < 10) this.#lengths.below10 += 1;
    else if (length < 20) this.#lengths.below20 += 1;
    else if (length < 40) this.#lengths.below40 += 1;
    else this.#lengths.longer += 1;
  }

  answered(codes: readonly number[]): void {
    for (const code of codes) this.#codes[code] = (this.#codes[code] ?? 0) + 1;
  }

  summary(): CheckSummary {
    const [sequences, operations] = [this.#sequences, this.#operations];
    return { sequences, operations, codes: this.#codes, lengths: this.#lengths };
  }
}
