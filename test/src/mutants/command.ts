/**
 * Runs one program to its end and collects what it said; kills it at a deadline.
 *
 * Only the process that was started here is ever killed. Called by the workspace.
 */
import { spawn } from 'node:child_process';

export interface CommandResult {
  /** Null when it was killed at the deadline. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function runCommand(
  command: readonly string[],
  options: { readonly cwd: string; readonly deadlineMs: number },
): Promise<CommandResult> {
  const [program = process.execPath, ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: options.cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const killer = setTimeout(() => child.kill('SIGKILL'), options.deadlineMs);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(killer);
      resolve({ code, stdout, stderr });
    });
  });
}
