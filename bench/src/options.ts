/**
 * Reads options of the bench commands: numbers with bounds, hosts, lists of operations.
 *
 * Throws UsageError, whose message is for whoever typed the command; the commands print it and end
 * with exit code 2. Holds no defaults: each command owns its own.
 */
import type { Host } from './connection.js';
import { OPERATIONS, type OperationName } from './requests.js';

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export function numberOption(
  name: string,
  text: string,
  bounds: { readonly min: number; readonly max: number },
): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= bounds.min && value <= bounds.max) return value;
  throw new UsageError(`--${name} ${text}: expected a number from ${bounds.min} to ${bounds.max}`);
}

export function wholeOption(
  name: string,
  text: string,
  bounds: { readonly min: number; readonly max: number },
): number {
  const value = numberOption(name, text, bounds);
  if (Number.isInteger(value)) return value;
  throw new UsageError(`--${name} ${text}: expected a whole number`);
}

/** `host:port,host:port`. */
export function hostsOption(text: string): readonly Host[] {
  return text.split(',').map((entry) => {
    const at = entry.lastIndexOf(':');
    const port = Number(entry.slice(at + 1));
    if (at > 0 && Number.isInteger(port) && port > 0 && port < 65_536) {
      return { host: entry.slice(0, at), port };
    }
    throw new UsageError(`--connect ${text}: expected host:port, several with commas`);
  });
}

export function operationsOption(text: string): readonly OperationName[] {
  return text.split(',').map((name) => {
    const known = OPERATIONS.find((operation) => operation === name);
    if (known !== undefined) return known;
    throw new UsageError(`operation ${name}: expected one of ${OPERATIONS.join(', ')}`);
  });
}

/** Runs a command; a usage error becomes its message and exit code 2. */
export async function runCommand(usage: string, command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    const isUsage =
      error instanceof UsageError ||
      (error instanceof Error &&
        'code' in error &&
        String(error.code).startsWith('ERR_PARSE_ARGS'));
    if (isUsage) process.stderr.write(`${error.message}\n\n${usage}\n`);
    else process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = isUsage ? 2 : 1;
  }
}
