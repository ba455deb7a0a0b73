/**
 * Runs one program to its end and collects its output; kills it at a deadline, or when this process
 * ends.
 *
 * The program leads a process group of its own and is killed with it: a compiler that outlived its
 * wrapper would continue to write. Only what was started here is ever killed. The workspace calls
 * it.
 */
import { spawn } from 'node:child_process';

export interface CommandResult {
  /** Null if it was killed at the deadline. */
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
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
    const child = spawn(program, args, { cwd: options.cwd, stdio, detached: true });
    const kill = () => {
      if (child.pid !== undefined) killGroup(child.pid);
    };
    const killer = setTimeout(kill, options.deadlineMs);
    // This runs before other exit listeners, which remove what the program works on.
    process.prependListener('exit', kill);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const forget = () => {
      clearTimeout(killer);
      process.off('exit', kill);
    };
    child.once('error', (error) => {
      forget();
      reject(error);
    });
    child.once('close', (code) => {
      forget();
      resolve({ code, stdout, stderr });
    });
  });
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    // All of it has ended by itself.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
