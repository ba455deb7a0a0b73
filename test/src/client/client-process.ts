/**
 * Runs a process of its own with a client of the built package, which ends by itself or not at all.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { within } from '../harness/wait.js';

const SCRIPT = fileURLToPath(new URL('./fixtures/client-process.mjs', import.meta.url));
const DEADLINE_MS = 60_000;

/** What it printed when it had ended by itself. */
export async function runClient(
  what: string,
  connectString: string,
  ...more: string[]
): Promise<unknown> {
  const child = spawn(process.execPath, [SCRIPT, what, connectString, ...more]);
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  try {
    const code = await within(`the process ends (${what})`, DEADLINE_MS, ended);
    if (code !== 0) throw new Error(`code ${code}: ${errors}`);
    return JSON.parse(output);
  } finally {
    child.kill('SIGKILL');
  }
}
