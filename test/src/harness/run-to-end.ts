/**
 * Runs a member that is expected to end by itself, and collects its output.
 *
 * One that does not end is killed at the deadline and reported as an exit without a code.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { ROOKERY_MAIN } from './product.js';

const END_DEADLINE_MS = 20_000;

export interface Ended {
  readonly code: number | null;
  /** Standard output and error together. */
  readonly said: string;
}

export function runServerToEnd(configFile: string, id: number): Promise<Ended> {
  const args = [ROOKERY_MAIN, 'server', '--config', configFile, '--id', String(id)];
  const child = spawn(process.execPath, args, { stdio: 'pipe', cwd: dirname(configFile) });
  const killer = setTimeout(() => child.kill('SIGKILL'), END_DEADLINE_MS);
  return ended(child).finally(() => clearTimeout(killer));
}

/** Resolves when the process has ended, with what it wrote to outputs that are pipes. */
export function ended(child: ChildProcess): Promise<Ended> {
  return new Promise((resolve, reject) => {
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, said }));
  });
}
