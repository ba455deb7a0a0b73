/**
 * Runs a program of a foreign client to its end and returns its output.
 *
 * The program leads a process group of its own, which is killed as a whole when the deadline passes
 * or the test ends, because such programs start others. The tests of foreign clients call it.
 */
import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';

export interface CommandOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly deadlineMs: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
}

export interface Outcome {
  /** Null if a signal ended it, as the deadline does. */
  readonly code: number | null;
  /** Standard output and error in the order of their arrival. */
  readonly output: string;
}

export async function runCommand(options: CommandOptions): Promise<Outcome> {
  const child = spawn(options.file, [...options.args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    cwd: options.directory,
    env: { ...process.env, ...options.environment },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`cannot start ${options.file}`);
  const killGroup = () => {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The whole group has ended by itself.
    }
  };
  process.once('exit', killGroup);
  const deadline = setTimeout(killGroup, options.deadlineMs);
  onTestFinished(() => {
    clearTimeout(deadline);
    process.off('exit', killGroup);
    killGroup();
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(deadline);
      resolve({ code, output });
    });
  });
}
