/**
 * Many runs, one after the other: given seeds, or fixed ones and then fresh ones until the time is
 * over.
 *
 * It stops at the first failure and reports it. Real time is used here to end and to count, never
 * in a run. main.ts calls it.
 */
import { optionsOf, type RunArguments } from './arguments.js';
import type { RunOptions } from './options.js';
import { type FailureReport, replayOf, reportOf } from './report.js';
import { type RunExtras, runOne } from './run.js';
import { Totals } from './totals.js';
import type { RunResult } from './verdict.js';

export interface CampaignSetup {
  /** The sequence may be endless. */
  readonly seeds: Iterable<number>;
  /** No run begins after this much real time. */
  readonly untilMs: number;
  readonly overrides: Omit<RunArguments, 'seed'>;
  /** Each run is repeated; a different digest is a failure. */
  readonly isTwice: boolean;
  readonly shrinkRunsMax: number;
  readonly tailLines: number;
  readonly trace: RunExtras['trace'];
  readonly nowMs: () => number;
  readonly say: (line: string) => void;
}

export interface CampaignResult {
  readonly totals: Totals;
  readonly tookMs: number;
  readonly failure: FailureReport | null;
}

const PROGRESS_EVERY_MS = 10_000;

export async function runCampaign(setup: CampaignSetup): Promise<CampaignResult> {
  const totals = new Totals();
  const startMs = setup.nowMs();
  let toldMs = startMs;
  let failure: FailureReport | null = null;
  for (const seed of setup.seeds) {
    if (totals.seeds > 0 && setup.nowMs() - startMs >= setup.untilMs) break;
    const options = optionsOf({ ...setup.overrides, seed });
    const result = await runOne(options, { trace: setup.trace });
    totals.add(result);
    failure = await failureOf(setup, options, result);
    if (failure !== null) break;
    if (setup.nowMs() - toldMs < PROGRESS_EVERY_MS) continue;
    toldMs = setup.nowMs();
    setup.say(`up to seed ${seed}: ${totals.line(toldMs - startMs)}`);
  }
  return { totals, tookMs: setup.nowMs() - startMs, failure };
}

async function failureOf(
  setup: CampaignSetup,
  options: RunOptions,
  result: RunResult,
): Promise<FailureReport | null> {
  if (setup.isTwice) {
    const again = await runOne(options);
    if (again.digest !== result.digest) return notTheSame(options, result, again);
  }
  return result.failure === null ? null : await reportOf(options, result, setup);
}

function notTheSame(options: RunOptions, first: RunResult, second: RunResult): FailureReport {
  const property = 'a run is a function of its seed';
  const seen = [first, second].map(({ digest, orders }) => `${digest} after ${orders}`);
  const replay = `${replayOf(options)} --check-determinism`;
  return { property, replay, text: `${property}: ${seen.join(', then ')}\nreplay     ${replay}` };
}
