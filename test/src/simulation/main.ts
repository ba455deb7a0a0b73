/**
 * `npm run sim`: the command line of the simulator.
 *
 * Without options it runs the fixed seeds. Exit code 0: all properties hold; 1: a property is
 * broken, and the report says which one and how to reproduce it; 2: the arguments are wrong.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { FAULT_KINDS } from './faults/index.js';
import { readOnly } from './run/arguments.js';
import { runCampaign } from './run/campaign.js';
import { FIXED_SEEDS } from './run/fixed-seeds.js';

interface Flags {
  readonly minutes?: number;
  readonly from?: number;
  readonly seeds?: readonly [number, number];
  readonly seed?: number;
  readonly only?: readonly number[];
  readonly members?: number;
  readonly clients?: number;
  readonly duration?: number;
  readonly set?: readonly string[];
  readonly trace?: string | true;
  readonly tail: number;
  readonly shrink: number;
  readonly checkDeterminism?: true;
  readonly onlyKind?: string;
  readonly requireCoverage?: true;
  readonly json?: true;
}

/** A campaign of this length must have seen every named event. */
const COVERING_MINUTES = 60;
const ONLY_KIND_MINUTES = 2;

process.exitCode = await main();

async function main(): Promise<number> {
  const flags = readFlags();
  const say = (line: string) => {
    if (flags.json !== true) console.log(line);
  };
  const trace = traceTo(flags.trace);
  const { only, members, clients, duration } = flags;
  const kinds = flags.onlyKind === undefined ? [] : [`kinds=["${flags.onlyKind}"]`];
  const minutes = minutesOf(flags);
  const { totals, tookMs, failure } = await runCampaign({
    seeds: seedsOf(flags, say),
    untilMs: minutes * 60_000,
    overrides: {
      only,
      members,
      clients,
      durationMs: duration,
      set: [...kinds, ...(flags.set ?? [])],
    },
    isTwice: flags.checkDeterminism === true,
    shrinkRunsMax: flags.shrink,
    tailLines: flags.tail,
    trace: trace?.write,
    nowMs: () => performance.now(),
    say,
  });
  trace?.close();
  if (flags.json === true) {
    console.log(JSON.stringify({ ...totals.json(tookMs), failure }));
  } else {
    console.log(totals.text(tookMs));
    console.log(failure === null ? 'all properties hold' : failure.text);
  }
  if (failure !== null) return 1;
  const isLong = minutes >= COVERING_MINUTES && Number.isFinite(minutes);
  const isGeneral = flags.onlyKind === undefined;
  if (flags.requireCoverage !== true && !(isLong && isGeneral)) return 0;
  const { unseen } = totals;
  if (unseen.length === 0) return 0;
  console.error(
    `no run has seen ${unseen.join(', ')}: nothing is known about these situations; draw them ` +
      'more often (run/options.ts, faults/), or remove the mark if they cannot occur any more',
  );
  return 1;
}

/** Without an end of its own, a campaign ends with its seeds. */
function minutesOf({ minutes, onlyKind }: Flags): number {
  return minutes ?? (onlyKind === undefined ? Number.POSITIVE_INFINITY : ONLY_KIND_MINUTES);
}

function readFlags(): Flags {
  return new Command('sim')
    .description('Run whole ensembles on a simulated clock, network and disks, under faults.')
    .option('--minutes <n>', 'run the fixed seeds, then fresh ones, for this time', positive)
    .option('--from <n>', 'instead of the fixed seeds, run all from this one on', wholeNumber)
    .option('--seeds <a-b>', 'run these seeds, both included', range)
    .option('--seed <n>', 'run only this seed', wholeNumber)
    .option(
      '--only <list>',
      'keep only these faults of its plan, such as 3,5; - for none',
      readOnly,
    )
    .option('--members <n>', 'number of members', wholeNumber)
    .option('--clients <n>', 'number of clients', wholeNumber)
    .option('--duration <ms>', 'simulated duration of the safety phase', wholeNumber)
    .option('--set <path=json>', 'override any option; repeatable', appended)
    .option('--trace [file]', 'write all events to a file, or to standard error')
    .option('--tail <lines>', 'number of lines of the trace in a report', wholeNumber, 60)
    .option('--shrink <runs>', 'number of runs for shrinking a failure', wholeNumber, 150)
    .option('--check-determinism', 'run each seed twice and compare')
    .option('--only-kind <kind>', 'fresh seeds for two minutes, with this kind of fault only', kind)
    .option('--require-coverage', 'fail if a named event was never seen; from an hour on always')
    .option('--json', 'print only one line of JSON at the end')
    .showHelpAfterError()
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
    .parse()
    .opts<Flags & object>();
}

function* seedsOf(flags: Flags, say: (line: string) => void): Generator<number> {
  if (flags.seed !== undefined) {
    yield flags.seed;
    return;
  }
  if (flags.seeds !== undefined) {
    for (let seed = flags.seeds[0]; seed <= flags.seeds[1]; seed++) yield seed;
    return;
  }
  if (flags.from !== undefined) {
    if (flags.minutes === undefined) throw new Error('--from needs --minutes');
    for (let seed = flags.from; ; seed++) yield seed;
  }
  if (flags.onlyKind === undefined) yield* FIXED_SEEDS;
  if (flags.minutes === undefined && flags.onlyKind === undefined) return;
  // Different from those of an earlier campaign, and short enough to be typed.
  const first = 1_000_000 + (Math.floor(Date.now() / 1000) % 4_000_000) * 1000;
  say(`fresh seeds from ${first}`);
  for (let seed = first; ; seed++) yield seed;
}

function traceTo(target: string | true | undefined) {
  if (target === undefined) return null;
  const file = target === true ? 2 : openSync(target, 'w');
  let lines: string[] = [];
  const flush = () => {
    if (lines.length > 0) writeSync(file, `${lines.join('\n')}\n`);
    lines = [];
  };
  return {
    write: (line: string) => {
      lines.push(line);
      if (lines.length >= 1000) flush();
    },
    close: () => {
      flush();
      if (file !== 2) closeSync(file);
    },
  };
}

function kind(text: string): string {
  if (FAULT_KINDS.has(text)) return text;
  throw new InvalidArgumentError(`expected one of ${[...FAULT_KINDS.keys()].join(', ')}`);
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new InvalidArgumentError('expected a whole number');
  }
  return value;
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('expected a number above 0');
  return value;
}

function range(text: string): readonly [number, number] {
  const [, first, last] = /^(\d+)-(\d+)$/.exec(text) ?? [];
  if (first === undefined || last === undefined) throw new InvalidArgumentError('expected a-b');
  return [Number(first), Number(last)];
}

function appended(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}
