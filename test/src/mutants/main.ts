/**
 * Is the simulator any good? Breaks the server on purpose, one small bug at a time, and asks it.
 *
 *   npm run sim:mutants                     all of them
 *     -- --only name,name                   these
 *     -- --sample 6 --turn 17               so many, other ones for each number
 *     -- --seed 1 --seeds 200               the first seed of each, and how many at most
 *     -- --jobs 1 --json FILE --list
 *     -- --record                     keeps the result in recorded.json
 *
 * Exits with 1 when a mutant that counts is not caught, does not count, or does not fit any more.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { allMutants, seededMutants } from './index.js';
import type { Mutant } from './mutant.js';
import { record } from './recorded.js';
import { isContent, rowOf, tableOf } from './report.js';
import { named, sampled } from './selection.js';
import { type TrialResult, tryMutant } from './trial.js';
import { Workspace } from './workspace.js';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    sample: { type: 'string' },
    turn: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '200' },
    jobs: { type: 'string', default: '1' },
    json: { type: 'string' },
    record: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
const options = { firstSeed: Number(values.seed), seedsMax: Number(values.seeds) };
const mutants = chosen();

if (values.list) {
  for (const { name, area, breaks } of mutants) console.log(`${name} (${area}): ${breaks}`);
} else {
  const results = await tryAll(mutants, Number(values.jobs));
  console.log(`\n${tableOf(results).join('\n')}`);
  if (values.json !== undefined) await writeFile(values.json, JSON.stringify(results, null, 2));
  if (values.record) await record(results);
  process.exitCode = isContent(results) ? 0 : 1;
}

function chosen(): readonly Mutant[] {
  const { only, sample, turn } = values;
  if (only !== undefined) return named(allMutants, only.split(','));
  if (sample !== undefined) return sampled(seededMutants, Number(sample), Number(turn));
  return seededMutants;
}

async function tryAll(all: readonly Mutant[], jobs: number): Promise<readonly TrialResult[]> {
  const results: TrialResult[] = [];
  const waiting = [...all];
  const width = Math.max(...all.map(({ name }) => name.length));
  const work = async () => {
    const workspace = await Workspace.create();
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const result = await tryMutant(workspace, next, options);
        results.push(result);
        console.log(rowOf(result, width));
      }
    } finally {
      await workspace.remove();
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, all.length) }, work));
  const order = new Map(all.map(({ name }, index) => [name, index]));
  return results.sort((one, other) => (order.get(one.name) ?? 0) - (order.get(other.name) ?? 0));
}
