/**
 * Runs a command of the machine (npm, tsc, a program of a user's) to its end, with a deadline
 * against hangs. Never throws for what the command says: its exit code and output are the outcome.
 */
import { execFile } from 'node:child_process';

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

export interface Outcome {
  /** Null when a signal ended it, as at the deadline. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly cwd: string;
  readonly deadlineMs: number;
}

export function runCommand(
  file: string,
  args: readonly string[],
  { cwd, deadlineMs }: CommandOptions,
): Promise<Outcome> {
  const options = { cwd, timeout: deadlineMs, maxBuffer: OUTPUT_BYTES_MAX };
  return new Promise((resolve) => {
    const child = execFile(file, [...args], options, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, stdout, stderr });
    });
  });
}

const UNREACHABLE = /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH/;

/** Whether npm failed for want of a network or a registry, which is no fault of ours. */
export function isRegistryUnreachable({ code, stderr }: Outcome): boolean {
  return code !== 0 && UNREACHABLE.test(stderr);
}
