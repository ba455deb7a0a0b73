/**
 * `rookery console` as a process of its own, for the tests: it is killed at the end of the test.
 */
import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { ROOKERY_MAIN } from './product.js';
import { until } from './wait.js';

const DEADLINE_MS = 60_000;

export interface Gateway {
  readonly adminPort: number;
  /** The path of the key, below which everything is. */
  readonly prefix: string;
  /** The address of the console. */
  readonly address: string;
  /** Sends Ctrl-C; resolves with the exit code. */
  interrupt(): Promise<number | null>;
}

/** `args` go to the command behind `--connect`. */
export async function useGateway(
  ports: readonly number[],
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<Gateway> {
  const connect = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const child = spawn(process.execPath, [ROOKERY_MAIN, 'console', '--connect', connect, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const found = await until('the console tells its address', DEADLINE_MS, () => {
    const match = /^http:\/\/127\.0\.0\.1:(\d+)(\/[\w-]{22})\/console\/$/m.exec(said);
    if (match === null && child.exitCode !== null) throw new Error(`it ended: ${said}`);
    return match ?? undefined;
  });
  const [address, port, prefix = ''] = found;
  const interrupt = (): Promise<number | null> => {
    child.kill('SIGINT');
    return ended;
  };
  return { adminPort: Number(port), prefix, address, interrupt };
}
