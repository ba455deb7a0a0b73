/**
 * Runs the scenario of each mutant that has one on that mutant: it must fail there.
 *
 * `node test/dist/mutants/named/main.js [part of a mutant's name ...]`
 *
 * First all scenarios must pass on the unchanged sources, because a scenario that fails anyway
 * shows nothing. A scenario fails if its test was run and failed; one that hangs or whose file does
 * not load does not count. Everything happens in a private copy. Exit 0 if each mutant is caught;
 * a part that is in no name is refused. The repository must be built.
 */
import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeCopiesAtExit } from '../copies.js';
import { ROOT, Workspace } from '../workspace.js';
import { scenarioMutants } from './index.js';
import type { NamedMutant } from './named-mutant.js';
import { type Outcome, outcomeOf } from './outcome.js';

const RUN_DEADLINE_MS = 300_000;
/** What the scenarios need and the simulator does not. */
const COPIED = ['vitest.config.ts', 'scripts', 'test/traces', 'test/vectors'];

const wanted = process.argv.slice(2);
const mutants = scenarioMutants.filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);
const unknown = wanted.filter((part) => !scenarioMutants.some(({ name }) => name.includes(part)));
if (unknown.length > 0) {
  console.error(`no mutant has a name that contains ${unknown.join(' or ')}`);
  process.exit(1);
}
removeCopiesAtExit();
const workspace = await Workspace.create();
let failures = 0;
try {
  for (const name of COPIED) {
    await cp(join(ROOT, name), join(workspace.folder, name), { recursive: true });
  }
  await expectAllPass();
  for (const mutant of mutants) {
    const outcome = await tryOut(mutant);
    report(mutant, outcome, outcome.kind === 'failed');
  }
} finally {
  await workspace.remove();
}
const summary = `${failures} of ${mutants.length} are not as they must be`;
console.log(failures === 0 ? `all ${mutants.length} caught` : summary);
process.exitCode = failures === 0 ? 0 : 1;

/** A mutant that does not compile says nothing about its scenario. */
async function tryOut(mutant: NamedMutant): Promise<Outcome> {
  try {
    await workspace.apply(mutant);
  } catch (error) {
    return { kind: 'missing', detail: String(error) };
  }
  const { file, name } = mutant.scenario;
  return outcomeOf(await run(['-t', literally(name), file]), name);
}

async function expectAllPass(): Promise<void> {
  const files = new Set(mutants.map(({ scenario }) => scenario.file));
  const results = await run([...files]);
  for (const mutant of mutants) {
    const outcome = outcomeOf(results, mutant.scenario.name);
    report(mutant, outcome, outcome.kind === 'passed');
  }
}

/** Returns vitest's report on these files; null if it did not come to its end. */
async function run(what: readonly string[]): Promise<string | null> {
  const results = join(workspace.folder, 'results.json');
  await rm(results, { force: true });
  const vitest = join('node_modules', 'vitest', 'vitest.mjs');
  const output = ['--reporter=json', `--outputFile=${results}`];
  const args = [vitest, 'run', '--project', 'unit', ...output, ...what];
  await workspace.run(args, { deadlineMs: RUN_DEADLINE_MS });
  return readFile(results, 'utf8').catch(() => null);
}

/** In the form that vitest's -t takes. */
function literally(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function report({ name }: NamedMutant, { kind, detail }: Outcome, isRight: boolean): void {
  if (!isRight) failures += 1;
  const why = detail === '' ? '' : `: ${detail}`;
  console.log(`${isRight ? 'ok    ' : 'WRONG '} ${name} ${kind}${why}`);
}
