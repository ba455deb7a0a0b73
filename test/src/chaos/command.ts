/**
 * Runs the system's own programs (`ip`, `tc`, `mount`) and reports what they print when they fail.
 *
 * Arguments are passed as they are, never through a shell.
 */
import { execFile } from 'node:child_process';

const DEADLINE_MS = 20_000;

/** Resolves with standard output; rejects with the command and what it printed. */
export function command(file: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: DEADLINE_MS, maxBuffer: 16 * 1024 * 1024 };
    execFile(file, [...args], options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const said = stderr.trim() || error.message;
      reject(new Error(`${[file, ...args].join(' ')}: ${said}`, { cause: error }));
    });
  });
}
