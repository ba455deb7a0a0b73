/**
 * A program that uses `startEnsemble` ends by itself once it has stopped its ensemble, and prints
 * nothing that it was not asked for. A child process runs such a program from dist, as users have
 * it; only the end of its event loop can end it.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { REPOSITORY } from '../harness/product.js';
import { within } from '../harness/wait.js';

const END_DEADLINE_MS = 30_000;

const PROGRAM = `
  import { startEnsemble } from '@rookery/server/testing';
  const size = Number(process.argv[1]);
  const ensemble = await startEnsemble({ size });
  const { id } = await ensemble.leader();
  await ensemble.kill(id);
  await ensemble.restart(id);
  await ensemble.cutOff(id);
  if (size > 1) await ensemble.leader();
  await ensemble.stop();
  process.once('exit', () => process.stdout.write('over'));
`;

interface End {
  readonly code: number | null;
  readonly said: string;
}

function run(size: number, temporary: string): Promise<End> {
  const args = ['--input-type=module', '--eval', PROGRAM, `${size}`];
  const child = spawn(process.execPath, args, {
    cwd: join(REPOSITORY, 'test'),
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, said }));
  });
}

it.each([1, 3])(
  'a program with %i members ends by itself, silently, with no file left',
  async (size) => {
    const temporary = mkdtempSync(join(tmpdir(), 'embedded-'));
    onTestFinished(() => rmSync(temporary, { recursive: true }));
    mkdirSync(join(temporary, 'others'));
    const end = await within('the end of the program', END_DEADLINE_MS, run(size, temporary));
    expect(end).toEqual({ code: 0, said: 'over' });
    expect(readdirSync(temporary)).toEqual(['others']);
  },
);
