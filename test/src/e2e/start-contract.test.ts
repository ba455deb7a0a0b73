/**
 * The steps of a new user: clone, `npm start`, Ctrl-C, `npm start` again.
 *
 * The test works on a real clone of what is committed, without node_modules; it needs the default
 * ports and whatever npm needs to install. `ROOKERY_SKIP_START=1` skips it where it cannot run.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { newTestDirectory } from '../harness/ensemble.js';
import { statusOf } from '../harness/four-letter.js';
import { httpGet } from '../harness/http.js';
import { create, getData } from '../harness/operations.js';
import { REPOSITORY } from '../harness/product.js';
import { deferred, until, within } from '../harness/wait.js';
import { WireClient } from '../harness/wire-client.js';

const PORTS = [2181, 2182, 2183];
const ADMIN_PORT = 2981;
const CONNECT_STRING = /127\.0\.0\.1:2181,127\.0\.0\.1:2182,127\.0\.0\.1:2183/;
/** Installing and building: half a minute on a quiet machine, minutes beside all other tests. */
const FIRST_START_DEADLINE_MS = 600_000;
const SECOND_START_DEADLINE_MS = 120_000;
/** Generous: this guards against a hang and measures nothing. */
const STOP_DEADLINE_MS = 60_000;
/** What npm installs are many thousands of files. */
const REMOVAL_DEADLINE_MS = 300_000;
const TEST_DEADLINE_MS = 900_000;

it.skipIf(process.env['ROOKERY_SKIP_START'] === '1')(
  'npm start on a fresh clone serves on the default ports, stops on Ctrl-C and keeps its data',
  async () => {
    for (const port of PORTS) expect(await statusOf(port), `port ${port} is free`).toBeUndefined();
    const directory = newTestDirectory();
    const remove = () => rmSync(directory, { recursive: true, force: true });
    onTestFinished(remove, REMOVAL_DEADLINE_MS);
    const clone = join(directory, 'clone');
    execFileSync('git', ['clone', '--quiet', REPOSITORY, clone]);

    const first = useNpmStart(clone);
    await first.serving(FIRST_START_DEADLINE_MS);
    const writer = await WireClient.connect({ port: 2181 });
    await create(writer, '/kept', 'over a restart');
    const page = await httpGet(ADMIN_PORT, '/console/');
    expect([page.status, page.text.slice(0, 15)]).toEqual([200, '<!doctype html>']);
    await writer.drop();
    await first.interrupt();

    const second = useNpmStart(clone);
    await second.serving(SECOND_START_DEADLINE_MS);
    const reader = await WireClient.connect({ port: 2183 });
    expect((await getData(reader, '/kept')).data).toBe('over a restart');
    await reader.drop();
    await second.interrupt();
  },
  TEST_DEADLINE_MS,
);

interface NpmStart {
  /** Resolves when the connect string is printed and all three members serve. */
  serving(deadlineMs: number): Promise<void>;
  /** Sends Ctrl-C as a terminal does; resolves when no process is left. */
  interrupt(): Promise<void>;
}

function useNpmStart(directory: string): NpmStart {
  // The process has a group of its own, as in a terminal: Ctrl-C reaches every process in it.
  const child = spawn('npm', ['start'], { cwd: directory, detached: true, stdio: 'pipe' });
  const exited = deferred<void>();
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  child.once('exit', () => exited.resolve());
  onTestFinished(({ task }) => {
    if (task.result?.state === 'fail') console.log(said.slice(-20_000));
    signalGroup(child, 'SIGKILL');
  });
  return {
    async serving(deadlineMs) {
      const seen = await until('the connect string is printed', deadlineMs, () => {
        if (CONNECT_STRING.test(said)) return 'serves';
        return child.exitCode === null ? undefined : `ended with ${child.exitCode}`;
      });
      expect(seen, 'npm start').toBe('serves');
      for (const port of PORTS) expect(await statusOf(port), `port ${port}`).toBeDefined();
    },
    async interrupt() {
      signalGroup(child, 'SIGINT');
      await within('the end of npm start', STOP_DEADLINE_MS, exited.promise);
      expect(child.exitCode, 'a clean stop').toBe(0);
      expect(() => process.kill(-(child.pid ?? 0), 0), 'no process is left').toThrow('ESRCH');
      for (const port of PORTS) expect(await statusOf(port), `port ${port}`).toBeUndefined();
    },
  };
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // The group has ended already, which was the purpose of the signal.
  }
}
