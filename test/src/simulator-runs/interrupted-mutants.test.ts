/**
 * A run against mutants that is interrupted leaves no copies and no programs behind. The real
 * command runs in a temporary directory of its own and is ended by each signal at the points where
 * most is in progress: while copies are made, and once a mutant is built or run.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { newTestDirectory } from '../harness/ensemble.js';
import { REPOSITORY } from '../harness/product.js';
import { until } from '../harness/wait.js';
import { removeLeftovers } from '../mutants/copies.js';
import { seededMutants } from '../mutants/index.js';
import { Sources } from '../mutants/sources.js';

const MAIN = join(REPOSITORY, 'test/dist/mutants/main.js');
const DEADLINE_MS = 170_000;
const [mutant] = seededMutants;
if (mutant === undefined) throw new Error('there are no mutants');
const { name } = mutant;
const [[file] = ['']] = Sources.read(REPOSITORY).mutated(mutant);
const original = readFileSync(join(REPOSITORY, file), 'utf8');

it('an interrupt while copies are made removes the copies', async () => {
  const run = start();
  await until('a copy is begun', DEADLINE_MS, () => copiesIn(run.directory).at(0));
  run.child.kill('SIGINT');
  expect(await run.ended).toBe(130);
  expect(readdirSync(run.directory)).toEqual([]);
});

it('a SIGTERM while a mutant is tried removes its copies and ends the programs in them', async ({
  skip,
}) => {
  if (process.platform !== 'linux') skip('this system does not show which programs run in a copy');
  const run = start();
  await mutantIsMade(run);
  await until('a program runs in a copy', DEADLINE_MS, () => programsIn(run.directory).at(0));
  run.child.kill('SIGTERM');
  expect(await run.ended).toBe(130);
  expect(readdirSync(run.directory)).toEqual([]);
  await until('no program runs there', DEADLINE_MS, () => {
    return programsIn(run.directory).length === 0 || undefined;
  });
});

it('the next run removes what a killed run has left', async () => {
  const run = start();
  await mutantIsMade(run);
  const copies = copiesIn(run.directory);
  expect(removeLeftovers(run.directory)).toEqual([]);
  run.child.kill('SIGKILL');
  await run.ended;
  // The programs in a copy continue without their parent, and write there.
  await until('no program runs there', DEADLINE_MS, () => {
    const programs = programsIn(run.directory);
    for (const pid of programs) process.kill(pid, 'SIGKILL');
    return programs.length === 0 || undefined;
  });
  expect([...removeLeftovers(run.directory)].sort()).toEqual(copies.sort());
});

interface Started {
  readonly child: ChildProcess;
  /** The directory of its copies. */
  readonly directory: string;
  /** The exit code; null if a signal ended it. */
  readonly ended: Promise<number | null>;
}

function start(): Started {
  const directory = newTestDirectory();
  const child = spawn(process.execPath, [MAIN, '--only', name], {
    env: { ...process.env, TMPDIR: directory },
    stdio: 'ignore',
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code));
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  });
  return { child, directory, ended };
}

function copiesIn(directory: string): string[] {
  return readdirSync(directory).map((entry) => join(directory, entry));
}

/** From then on the copy is built and run. */
async function mutantIsMade({ directory }: Started): Promise<void> {
  await until('a copy has the mutant', DEADLINE_MS, () => {
    const sources = copiesIn(directory).map((copy) => join(copy, file));
    return sources.some((path) => readFileSync(path, 'utf8') !== original) || undefined;
  });
}

/** The processes whose working directory is within `directory`. */
function programsIn(directory: string): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => workingDirectoryOf(pid).startsWith(directory))
    .map(Number);
}

/** Empty for a process that has ended. */
function workingDirectoryOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
