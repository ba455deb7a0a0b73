/**
 * Tests the simulator: breaks the server on purpose, one small bug at a time, and checks that the
 * simulator notices.
 *
 * `npm run sim:mutants -- --help` shows the options. Exits with 1 if a mutant that counts is not
 * caught, does not count, or no longer fits; with 130 if it was interrupted.
 */
import { writeFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { removeCopiesAtExit } from './copies.js';
import { allMutants, seededMutants } from './index.js';
import type { Mutant } from './mutant.js';
import { record } from './recorded.js';
import { isContent, rowOf, tableOf } from './report.js';
import { named, sampled } from './selection.js';
import { type TrialResult, tryMutant } from './trial.js';
import { Workspace } from './workspace.js';

interface Values {
  readonly only?: string;
  readonly sample?: number;
  readonly sampleNumber: number;
  readonly seed: number;
  readonly seeds: number;
  readonly jobs: number;
  readonly json?: string;
  readonly record: boolean;
  readonly list: boolean;
}

const command = new Command('sim:mutants')
  .description('Break the server one small bug at a time; the simulator must notice each.')
  .option('--only <names>', 'run these mutants, separated by commas')
  .option(
    '--sample <n>',
    'run a sample of this size, a different one for each --sample-number',
    whole,
  )
  .option('--sample-number <n>', 'which of the samples', whole, 0)
  .option('--seed <n>', 'the first seed for each mutant', whole, 1)
  .option('--seeds <n>', 'the maximum number of seeds for each mutant', whole, 400)
  .option('--jobs <n>', 'the number of mutants at a time', whole, 1)
  .option('--json <file>', 'print the results as JSON')
  .option('--record', 'store the results in recorded.json', false)
  .option('--list', 'list the mutants and what each breaks', false)
  .parse();
const values = command.opts<Values>();
const options = { firstSeed: values.seed, seedsMax: values.seeds };
const mutants = chosen();

if (values.list) {
  for (const { name, area, breaks } of mutants) console.log(`${name} (${area}): ${breaks}`);
} else {
  const results = await tryAll(mutants, values.jobs);
  console.log(`\n${tableOf(results).join('\n')}`);
  if (values.json !== undefined) await writeFile(values.json, JSON.stringify(results, null, 2));
  if (values.record) await record(results);
  process.exitCode = isContent(results) ? 0 : 1;
}

function whole(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError('expected a whole number');
}

function chosen(): readonly Mutant[] {
  const { only, sample, sampleNumber } = values;
  if (only !== undefined) {
    const names = only.split(',');
    const unknown = names.find((name) => !allMutants.some((mutant) => mutant.name === name));
    if (unknown !== undefined) command.error(`error: no mutant is called ${unknown}`);
    return named(allMutants, names);
  }
  if (sample !== undefined) return sampled(seededMutants, sample, sampleNumber);
  return seededMutants;
}

async function tryAll(all: readonly Mutant[], jobs: number): Promise<readonly TrialResult[]> {
  const results: TrialResult[] = [];
  const waiting = [...all];
  const width = Math.max(...all.map(({ name }) => name.length));
  removeCopiesAtExit();
  const original = await Workspace.create();
  const work = async () => {
    const workspace = await Workspace.create();
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const result = await tryMutant({ workspace, original }, next, options);
        results.push(result);
        console.log(rowOf(result, width));
      }
    } finally {
      await workspace.remove();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(jobs, all.length) }, work));
  } finally {
    await original.remove();
  }
  const order = new Map(all.map(({ name }, index) => [name, index]));
  return results.sort((one, other) => (order.get(one.name) ?? 0) - (order.get(other.name) ?? 0));
}
