/**
 * The trial of one mutant: whether it counts, and which property catches it, in which seed.
 *
 * A mutant counts if its build passes the run without faults. It is caught if a run of the
 * simulator then fails by a checker, an invariant or the bound of convergence, and the original
 * passes the very same run; an error that names no property (a TypeError, a hang) does not count.
 * Never throws.
 */
import type { CommandResult } from './command.js';
import type { Mutant } from './mutant.js';
import type { Workspace } from './workspace.js';

/** The output of `hunt.ts`, one line of JSON each. */
export type HuntLine =
  | { readonly kind: 'begins'; readonly seed: number }
  | {
      readonly kind: 'caught';
      readonly seed: number;
      readonly requests: number;
      readonly property: string;
      readonly message: string;
    }
  | { readonly kind: 'survived'; readonly requests: number };

export type Verdict =
  | 'caught'
  | 'survived'
  | 'unnamed'
  | 'hangs'
  | 'does not count'
  | 'does not fit';

export interface TrialResult {
  readonly name: string;
  readonly area: string;
  readonly breaks: string;
  readonly verdict: Verdict;
  /** The property of the checker or invariant; otherwise why it is not caught. */
  readonly by: string;
  /** The complete message of the failure, for details. */
  readonly message: string;
  /** The number of seeds that it took. */
  readonly seeds: number;
  readonly requests: number;
}

export interface TrialOptions {
  readonly firstSeed: number;
  readonly seedsMax: number;
}

const FAULT_FREE = 'test/dist/mutants/fault-free.js';
const HUNT = 'test/dist/mutants/hunt.js';
const FAULT_FREE_DEADLINE_MS = 60_000;
/** A run takes seconds; if more than this many take longer in a row, it hangs. */
const SEED_DEADLINE_MS = 20_000;
const HUNT_DEADLINE_MS = 120_000;
/**
 * Codes of errors, also of a checker's own, that say that code is broken, but not which promise is.
 */
const UNNAMED =
  /^(?:TypeError|RangeError|ReferenceError|SyntaxError)\b|: its checker failed: |time stands still/;

/** `original` is a workspace without a mutant; it may be shared. */
export async function tryMutant(
  workspaces: { readonly workspace: Workspace; readonly original: Workspace },
  mutant: Mutant,
  options: TrialOptions,
): Promise<TrialResult> {
  const { workspace, original } = workspaces;
  const { name, area, breaks } = mutant;
  const about = { name, area, breaks, message: '', seeds: 0, requests: 0 };
  try {
    await workspace.apply(mutant);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const by = message.replaceAll('\n', ' ');
    return { ...about, verdict: 'does not fit', by };
  }
  const free = await workspace.run([FAULT_FREE], { deadlineMs: FAULT_FREE_DEADLINE_MS });
  if (free.code !== 0) {
    return { ...about, verdict: 'does not count', by: reasonOf(free), message: free.stderr };
  }
  const { firstSeed, seedsMax } = options;
  let requests = 0;
  for (let seed = firstSeed; ; ) {
    const left = firstSeed + seedsMax - seed;
    const outcome = await hunt(workspace, mutant, { firstSeed: seed, seedsMax: left });
    requests += outcome.requests;
    const seeds = seed - firstSeed + outcome.seeds;
    const result = { ...about, ...outcome, seeds, requests };
    if (outcome.verdict !== 'caught') return result;
    const last = { firstSeed: firstSeed + seeds - 1, seedsMax: 1 };
    const sound = await hunt(original, mutant, last);
    if (sound.verdict === 'survived') return result;
    // A failure that also occurs without the mutant shows nothing about it.
    seed = firstSeed + seeds;
  }
}

async function hunt(
  workspace: Workspace,
  { aim = [] }: Mutant,
  options: TrialOptions,
): Promise<Outcome> {
  const { firstSeed, seedsMax } = options;
  const deadlineMs = HUNT_DEADLINE_MS + seedsMax * SEED_DEADLINE_MS;
  const args = [HUNT, `${firstSeed}`, `${seedsMax}`, ...aim];
  return outcomeOf(await workspace.run(args, { deadlineMs }), options);
}

type Outcome = Pick<TrialResult, 'verdict' | 'by' | 'message' | 'seeds' | 'requests'>;

function outcomeOf(hunted: CommandResult, { firstSeed, seedsMax }: TrialOptions): Outcome {
  const lines = linesOf(hunted.stdout);
  const last = lines.at(-1);
  if (last?.kind === 'survived') {
    const by = `nobody in ${seedsMax} seeds`;
    return { verdict: 'survived', by, message: '', seeds: seedsMax, requests: last.requests };
  }
  if (last?.kind === 'caught') {
    const { property, message, requests } = last;
    const verdict = UNNAMED.test(message) ? 'unnamed' : 'caught';
    return { verdict, by: property, message, seeds: last.seed - firstSeed + 1, requests };
  }
  const seed = last?.kind === 'begins' ? last.seed : firstSeed;
  const at = { message: hunted.stderr, seeds: seed - firstSeed + 1, requests: 0 };
  if (hunted.code === null) return { ...at, verdict: 'hangs', by: `seed ${seed} does not end` };
  return { ...at, verdict: 'unnamed', by: `seed ${seed}: ${reasonOf(hunted)}` };
}

function linesOf(stdout: string): readonly HuntLine[] {
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{"kind":'))
    .map((line): HuntLine => JSON.parse(line));
}

function reasonOf({ code, stderr }: CommandResult): string {
  const line = stderr.split('\n').find((text) => /Error|Violation|never/.test(text));
  return line?.trim() ?? (code === null ? 'it does not end' : `exit ${code}`);
}
