#!/usr/bin/env node
/**
 * `npm run bench`: measures Rookery, alone or next to ZooKeeper and to another commit, or servers
 * that are running already.
 *
 * It reads the arguments, runs the chosen scenarios, and writes the reports. Everything that was
 * started ends with it. The exit code is 2 for a mistake of the caller, and 1 if something failed
 * or a run had troubles that make its figures unreliable.
 */
import { availableParallelism } from 'node:os';
import { Command, Option } from 'commander';
import { type BenchOptions, runBench } from './bench-run.js';
import { hostsOption, listOption, numberOption, wholeOption } from './options.js';
import { SCENARIOS } from './scenarios/table.js';

/** The remaining cores are left to the members. */
const CORES_PER_GENERATOR = 4;
/** Ensembles of seven members, their processes and the generators each listen for the exit. */
const EXIT_LISTENERS_MAX = 200;

process.setMaxListeners(EXIT_LISTENERS_MAX);
// The exit hook of each process ends it; without a handler, a signal would skip the hooks.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const program = new Command('bench')
  .description('Measures Rookery, alone, next to ZooKeeper, or any servers of its protocol.')
  .argument('[names...]', 'scenarios or groups, as --scenarios takes them')
  .addOption(new Option('--against <system>', 'measure it too, alternately').choices(['zookeeper']))
  .addOption(
    new Option(
      '--baseline <checkout>',
      'measure the build of another checkout of Rookery too, alternately',
    ),
  )
  .addOption(
    new Option('--connect <hosts>', 'measure these running servers: host:port,...')
      .argParser(hostsOption)
      .conflicts(['against', 'baseline']),
  )
  .option('--scenarios <names>', 'names or groups, with commas (default: all)', listOption)
  .addOption(
    new Option('--targets', 'only the scenarios that the targets need').conflicts('scenarios'),
  )
  .option('--rounds <n>', 'rounds that count (default: 5)', wholeOption({ min: 1, max: 1000 }))
  .option(
    '--seconds <n>',
    'duration of one load (default: 5)',
    numberOption({ min: 0.1, max: 3600 }),
  )
  .option(
    '--warmup <n>',
    'seconds of warm-up before each load (default: 1)',
    numberOption({ min: 0, max: 600 }),
  )
  .option(
    '--minutes <n>',
    'duration of a sustained load (default: 10)',
    numberOption({ min: 0.02, max: 1e4 }),
  )
  .option('--quick', 'make everything tiny, to see that it works')
  .option(
    '--generators <n>',
    'generator processes for one load',
    wholeOption({ min: 1, max: 64 }),
    Math.max(1, Math.floor(availableParallelism() / CORES_PER_GENERATOR)),
  )
  .option('--out <dir>', 'directory for bench.json and report.html (default: bench/out)')
  .option('--resume', 'continue the interrupted bench in --out')
  .addOption(
    new Option('--again <names>', 'measure these scenarios of the bench in --out again')
      .argParser(listOption)
      .conflicts('resume'),
  )
  .option('--base-port <port>', 'first port', wholeOption({ min: 1024, max: 60_000 }), 25_181)
  .option('--profile <dir>', 'write CPU profiles of the Rookery members')
  .option('--keep', "keep the members' directories")
  .option('--write-results', 'write bench/RESULTS.md')
  .option('--list', 'list the scenarios and exit')
  .showHelpAfterError('(--help lists the options)')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(async (names: string[], options: BenchOptions & { readonly list?: true }) => {
    if (options.list === true) return list();
    process.exitCode = await runBench(withNames(options, names));
  });

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
process.exit();

function withNames(options: BenchOptions, names: readonly string[]): BenchOptions {
  if (names.length === 0) return options;
  const { scenarios = [], targets } = options;
  if (targets === true) throw new Error('--targets already chooses the scenarios');
  return { ...options, scenarios: [...scenarios, ...names] };
}

function list(): void {
  let group = '';
  for (const scenario of SCENARIOS) {
    if (scenario.group !== group) process.stdout.write(`${scenario.group}\n`);
    group = scenario.group;
    process.stdout.write(`  ${scenario.name.padEnd(24)}${scenario.title}\n`);
  }
}
