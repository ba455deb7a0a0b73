/**
 * What is printed about a run that failed: the broken property, the options, the end of the
 * shortest trace, and the command that replays it.
 */
import { argumentsOf } from './arguments.js';
import type { RunOptions } from './options.js';
import { planOf } from './plan.js';
import { runOne } from './run.js';
import { shrink } from './shrink.js';
import { TraceTail } from './trace-tail.js';
import type { RunResult } from './verdict.js';

export interface FailureReport {
  readonly text: string;
  /** `npm run sim -- ...` */
  readonly replay: string;
  readonly property: string;
}

export interface ReportSetup {
  /** 0 leaves the run as it is. */
  readonly shrinkRunsMax: number;
  readonly tailLines: number;
  readonly say: (line: string) => void;
}

export function replayOf(options: RunOptions): string {
  return `npm run sim -- ${argumentsOf(options).join(' ')}`;
}

export async function reportOf(
  options: RunOptions,
  result: RunResult,
  setup: ReportSetup,
): Promise<FailureReport> {
  const first = result.failure;
  if (first === null) throw new Error('the run has passed');
  setup.say(`FAILED: ${replayOf(options)}\n${first.message}`);
  const small = await shrink(options, result, {
    run: runOne,
    runsMax: setup.shrinkRunsMax,
    onSmaller: (smaller) => setup.say(`smaller: ${sizeOf(smaller)}`),
  });
  const tail = new TraceTail(setup.tailLines);
  const again = await runOne(small.options, { trace: (line) => tail.add(line) });
  const replay = replayOf(small.options);
  const isSame = again.digest === small.result.digest;
  const text = [
    `property   ${first.property}`,
    `seen       ${small.result.failure?.message ?? ''}`,
    `seed       ${options.seed}; as drawn: ${replayOf(options)}`,
    `shrunk     in ${small.runs} runs to ${sizeOf(small.options)}`,
    `options    ${JSON.stringify(small.options)}`,
    'faults',
    ...planOf(small.options).map((fault) => `  ${JSON.stringify(fault)}`),
    ...(isSame ? [] : ['NOT DETERMINISTIC: the run with a trace has another digest']),
    `trace, the last ${setup.tailLines} lines`,
    ...tail.lines(),
    `replay     ${replay}`,
  ].join('\n');
  return { text, replay, property: first.property };
}

function sizeOf(options: RunOptions): string {
  const { members, durationMs, clients } = options;
  const faults = planOf(options).map(({ index, kind }) => `${index} ${kind}`);
  const size = `${members} members, ${clients.count} clients, ${durationMs} ms`;
  return `${size}, faults: ${faults.join(', ') || 'none'}`;
}
