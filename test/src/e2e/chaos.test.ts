/**
 * `npm run chaos` for a minute: whole processes, in namespaces, under faults of every kind.
 *
 * The test is skipped, with the reason in the report, where network namespaces cannot be created.
 * The longer form is `npm run chaos`; see test/src/chaos/main.ts.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { command } from '../chaos/command.js';
import { removeLeftovers, runNameOf, runOfNamespace } from '../chaos/namespaces.js';
import { supported } from '../chaos/supported.js';
import { newTestDirectory } from '../harness/ensemble.js';
import { skipOrFail } from '../harness/foreign.js';
import { REPOSITORY } from '../harness/product.js';
import { testSeed } from '../harness/test-seed.js';
import { until } from '../harness/wait.js';

const MAIN = join(REPOSITORY, 'test/dist/chaos/main.js');
const DEADLINE_MS = 60_000;

interface ReportFile {
  readonly valid: boolean;
  readonly steps: readonly unknown[];
  readonly workloads: readonly {
    readonly name: string;
    readonly verdict: { readonly valid: boolean | 'unknown' };
    readonly outcomes: { readonly ok: number };
  }[];
}

it('a minute of faults violates nothing that any workload checks', async ({ skip }) => {
  const support = await supported();
  if (support.kind === 'impossible')
    skipOrFail(skip, `no chaos on this machine: ${support.reason}`);
  const directory = newTestDirectory();
  const seed = `${testSeed()}`;
  const chaos = startChaos('--minutes', '1', '--seed', seed, '--keep', directory);
  const code = await chaos.ended;
  expect(code, chaos.said()).toBe(0);
  const report: ReportFile = JSON.parse(readFileSync(join(directory, 'report.json'), 'utf8'));
  expect(report.valid).toBe(true);
  expect(report.steps.length).toBeGreaterThan(0);
  expect(report.workloads.length).toBeGreaterThan(0);
  for (const { name, verdict, outcomes } of report.workloads) {
    expect(verdict.valid, `${name}: ${chaos.said()}`).toBe(true);
    expect(outcomes.ok, name).toBeGreaterThan(0);
  }
  rmSync(directory, { recursive: true });
});

it('the members of a killed run end with it, and the next run removes its namespaces', async ({
  skip,
}) => {
  const support = await supported();
  if (support.kind === 'impossible')
    skipOrFail(skip, `no chaos on this machine: ${support.reason}`);
  const directory = newTestDirectory();
  const chaos = startChaos('--minutes', '1', '--nemeses', 'pause-all', '--keep', directory);
  const run = runNameOf(chaos.child.pid ?? 0);
  // Stopped members react to no other signal than this.
  await until('members are stopped', DEADLINE_MS, () => {
    return chaos.said().includes('are stopped') || undefined;
  });
  const names = namespacesOf(run);
  expect(names.length).toBe(5);
  chaos.child.kill('SIGKILL');
  await chaos.ended;
  await until('nothing runs in the namespaces', DEADLINE_MS, async () => {
    for (const name of names) {
      if ((await command('ip', ['netns', 'pids', name])).trim() !== '') return undefined;
    }
    return true;
  });
  expect(await removeLeftovers()).toContain(run);
  expect(namespacesOf(run)).toEqual([]);
  rmSync(directory, { recursive: true });
});

it('a run that is interrupted leaves nothing behind', async ({ skip }) => {
  const support = await supported();
  if (support.kind === 'impossible')
    skipOrFail(skip, `no chaos on this machine: ${support.reason}`);
  const directory = newTestDirectory();
  const chaos = startChaos('--minutes', '1', '--keep', directory);
  const run = runNameOf(chaos.child.pid ?? 0);
  await until('a member has started', DEADLINE_MS, () => {
    return readdirSync(directory).some((name) => name.startsWith('member-')) || undefined;
  });
  chaos.child.kill('SIGTERM');
  expect(await chaos.ended).toBe(130);
  expect(namespacesOf(run)).toEqual([]);
  rmSync(directory, { recursive: true });
});

interface Started {
  readonly child: ChildProcess;
  /** The exit code; null if a signal ended the process. */
  readonly ended: Promise<number | null>;
  readonly said: () => string;
}

function startChaos(...args: readonly string[]): Started {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    // The event is not 'close': after a SIGKILL, processes that the run has started may hold the
    // pipes a little longer.
    child.once('exit', (code) => resolve(code));
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await ended;
    await removeLeftovers();
  });
  return { child, ended, said: () => said };
}

function namespacesOf(run: string): string[] {
  return readdirSync('/run/netns').filter((name) => runOfNamespace(name) === run);
}
