/**
 * Runs the scenario of each named bug on the mutant that has the bug: it must fail there.
 *
 *   node test/dist/mutants/named/main.js [part of a mutant's name ...]
 *
 * First all scenarios must pass on the sources as they are, since a scenario that fails anyway
 * shows nothing. A scenario fails when its test was run and failed; one that hangs or whose file
 * does not load does not count. Everything happens in a private copy. Exit 0 when each mutant is
 * caught. The repository must be built.
 */
import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, Workspace } from '../workspace.js';
import { namedMutants } from './index.js';
import type { NamedMutant } from './named-mutant.js';
import { type Outcome, outcomeOf } from './outcome.js';

const RUN_DEADLINE_MS = 180_000;
/** What the scenarios need and the simulator does not. */
const COPIED = ['vitest.config.ts', 'test/traces', 'test/vectors'];

const wanted = process.argv.slice(2);
const mutants = namedMutants.filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);
const workspace = await Workspace.create();
let failures = 0;
try {
  for (const name of COPIED) {
    await cp(join(ROOT, name), join(workspace.folder, name), { recursive: true });
  }
  for (const mutant of mutants) {
    const outcome = await run(mutant);
    report(mutant.name, outcome, outcome.kind === 'passed');
  }
  for (const mutant of mutants) {
    await workspace.apply(mutant);
    const outcome = await run(mutant);
    report(mutant.name, outcome, outcome.kind === 'failed');
  }
} finally {
  await workspace.remove();
}
console.log(
  failures === 0 ? `all ${mutants.length} caught` : `${failures} are not as they must be`,
);
process.exitCode = failures === 0 ? 0 : 1;

async function run({ scenario }: NamedMutant): Promise<Outcome> {
  const results = join(workspace.folder, 'results.json');
  await rm(results, { force: true });
  const vitest = join('node_modules', 'vitest', 'vitest.mjs');
  const pattern = scenario.name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const what = ['run', '--project', 'unit', scenario.file, '-t', pattern];
  const output = ['--reporter=json', `--outputFile=${results}`];
  await workspace.run([vitest, ...what, ...output], { deadlineMs: RUN_DEADLINE_MS });
  const text = await readFile(results, 'utf8').catch(() => null);
  return outcomeOf(text, scenario.name);
}

function report(name: string, outcome: Outcome, isRight: boolean): void {
  if (!isRight) failures += 1;
  const detail = outcome.detail === '' ? '' : `: ${outcome.detail}`;
  console.log(`${isRight ? 'ok    ' : 'WRONG '} ${name} ${outcome.kind}${detail}`);
}
