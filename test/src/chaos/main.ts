/**
 * `npm run chaos` tests real members under real faults; `--help` prints the options.
 *
 * It makes the network namespaces, runs inside.ts in one of them, and removes them whatever
 * happens. It first removes what killed runs have left. Exit codes: 0 when all is well; 1 on a
 * violation, or when a run of this length should have tested more (report.ts); 2 when the arguments
 * are wrong or the machine cannot run it; 130 when it was interrupted.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { REPOSITORY } from '../harness/product.js';
import type { Handed } from './inside.js';
import {
  Layout,
  makeNamespaces,
  removeLeftovers,
  removeNamespaces,
  runNameOf,
} from './namespaces.js';
import { NEMESES } from './nemeses/index.js';
import { type ChaosOptions, commandOf, parseOptions, USAGE, UsageError } from './options.js';
import { supported } from './supported.js';
import { allWorkloads } from './workloads/all.js';

const EXIT_CANNOT = 2;
const EXIT_INTERRUPTED = 130;
const STOP_DEADLINE_MS = 10_000;
const INSIDE = new URL('./inside.js', import.meta.url).pathname;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) return say(USAGE, 0);
  const known = {
    nemeses: NEMESES.map(({ name }) => name),
    workloads: allWorkloads().map(({ name }) => name),
  };
  let options: ChaosOptions | 'list';
  try {
    options = parseOptions(args, known, () => randomInt(2 ** 32));
  } catch (error) {
    if (error instanceof UsageError) return say(`chaos: ${error.message}\n${USAGE}`, EXIT_CANNOT);
    throw error;
  }
  if (options === 'list') {
    const { nemeses, workloads } = known;
    return say(`nemeses: ${nemeses.join(', ')}\nworkloads: ${workloads.join(', ')}`, 0);
  }
  const support = await supported();
  if (support.kind === 'impossible') {
    return say(`chaos: not possible on this machine: ${support.reason}`, EXIT_CANNOT);
  }
  for (const run of await removeLeftovers()) say(`removed what run ${run} had left`, 0);
  const run = runNameOf(process.pid);
  const directory = resolve(options.keep ?? join(REPOSITORY, 'test/.work', `chaos-${run}`));
  say(`seed ${options.seed}: ${commandOf(options)}`, 0);
  const { weather, without } = support;
  return await runInNamespaces({ options, run, directory, weather, without });
}

async function runInNamespaces(handed: Handed): Promise<number> {
  const { options, run, directory } = handed;
  const layout = new Layout(run, options.members);
  let child: ChildProcess | null = null;
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stop.abort();
      if (child !== null) end(child);
    });
  }
  let code: number | null = null;
  try {
    mkdirSync(directory, { recursive: true });
    await makeNamespaces(layout);
    if (stop.signal.aborted) return EXIT_INTERRUPTED;
    child = spawnInside(layout, handed);
    code = await exitOf(child);
    return code;
  } finally {
    await removeNamespaces(run);
    if (code === 0 && options.keep === null) rmSync(directory, { recursive: true });
  }
}

/** The process ends with this one, even if this one is killed. */
function spawnInside(layout: Layout, handed: Handed): ChildProcess {
  const inNamespace = ['netns', 'exec', layout.namespace('clients')];
  const endsWithUs = ['setpriv', '--pdeathsig', 'KILL'];
  // A workload freezes clients on purpose, and each of them would warn about it.
  const node = [process.execPath, '--disable-warning=ROOKERY_LAG'];
  const inside = [...node, INSIDE, JSON.stringify(handed)];
  return spawn('ip', [...inNamespace, ...endsWithUs, ...inside], { stdio: 'inherit' });
}

function end(child: ChildProcess): void {
  child.kill('SIGTERM');
  setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS).unref();
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? EXIT_INTERRUPTED));
  });
}

function say(text: string, code: number): number {
  console.log(text);
  return code;
}
