/**
 * `rookery ensemble` starts a member again that died, leaves one alone that was told to stop, and
 * leaves nothing behind when it ends. The command runs with a config file of the test's own; the
 * test finds members by the process ids in the log, and kills and stops them from outside.
 */
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { newTestDirectory } from '../../harness/ensemble.js';
import { statusOf } from '../../harness/four-letter.js';
import { freePorts } from '../../harness/ports.js';
import { ROOKERY_MAIN } from '../../harness/product.js';
import { deferred, until, within } from '../../harness/wait.js';

const DEADLINE_MS = 60_000;

interface Line {
  readonly msg?: string;
  readonly member?: number;
  readonly processId?: number;
}

/** The running command, and the lines of its log so far. */
async function useSupervised() {
  const directory = newTestDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const ports = await freePorts(6);
  const servers = [1, 2, 3].map((id) => ({
    id,
    host: '127.0.0.1',
    clientPort: ports[id - 1],
    peerPort: ports[id + 2],
  }));
  const config = join(directory, 'ensemble.json');
  writeFileSync(config, JSON.stringify({ dataDir: join(directory, 'data'), servers }));
  const child = spawn(process.execPath, [ROOKERY_MAIN, 'ensemble', '--config', config]);
  const exited = deferred<number | null>();
  child.once('exit', (code) => exited.resolve(code));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  onTestFinished(({ task }) => {
    if (task.result?.state === 'fail') console.log(said.slice(-20_000));
    child.kill('SIGKILL');
  });
  const lines = () => said.split('\n').flatMap((line): Line[] => parsed(line));
  const seen = (msg: string, member?: number) =>
    lines().filter((line) => line.msg === msg && (member === undefined || line.member === member));
  const serving = async (id: number) => {
    const port = ports[id - 1] ?? 0;
    await until(`member ${id} serves`, DEADLINE_MS, async () => await statusOf(port));
  };
  const pidOf = (id: number) => seen('server.start', id).at(-1)?.processId ?? 0;
  return { child, exited, seen, serving, pidOf, ports };
}

/** Empty for text that is not a complete line of a log. */
function parsed(line: string): Line[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? [value] : [];
  } catch {
    return [];
  }
}

it('a member that dies is started again, and one that was told to stop is not', async () => {
  const { child, exited, seen, serving, pidOf, ports } = await useSupervised();
  await until('all serve', DEADLINE_MS, () => seen('ensemble.serving').length > 0 || undefined);

  const first = pidOf(2);
  process.kill(first, 'SIGKILL');
  await until('it is logged', DEADLINE_MS, () => seen('ensemble.member-died', 2)[0]);
  await until(
    'it is started',
    DEADLINE_MS,
    () => seen('server.start', 2).length === 2 || undefined,
  );
  await serving(2);
  expect(pidOf(2)).not.toBe(first);
  expect(seen('ensemble.member-died', 2)).toMatchObject([
    { signal: 'SIGKILL', left: 2, restartInMs: 500 },
  ]);

  process.kill(pidOf(3), 'SIGTERM');
  await until('it is logged', DEADLINE_MS, () => seen('ensemble.member-stopped', 3)[0]);
  await serving(1);
  expect(seen('server.start', 3)).toHaveLength(1);

  child.kill('SIGTERM');
  expect(await within('the end', DEADLINE_MS, exited.promise)).toBe(0);
  for (const port of ports.slice(0, 3)) expect(await statusOf(port)).toBeUndefined();
});

it('a member that dies again and again is given up, and the others continue', async () => {
  const { child, exited, seen, serving, pidOf } = await useSupervised();
  await until('all serve', DEADLINE_MS, () => seen('ensemble.serving').length > 0 || undefined);
  for (let starts = 1; starts <= 6; starts++) {
    await until('it is started', DEADLINE_MS, () => seen('server.start', 3)[starts - 1]);
    process.kill(pidOf(3), 'SIGKILL');
  }
  const [given] = await until('it is given up', DEADLINE_MS, () => {
    const lines = seen('ensemble.member-given-up', 3);
    return lines.length > 0 ? lines : undefined;
  });
  expect(given).toMatchObject({ signal: 'SIGKILL', restarts: 5, withinMs: 60_000, left: 2 });
  for (const id of [1, 2]) await serving(id);
  expect(seen('server.start', 3)).toHaveLength(6);
  child.kill('SIGTERM');
  expect(await within('the end', DEADLINE_MS, exited.promise)).toBe(0);
});
