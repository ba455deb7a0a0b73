/**
 * A real terminal of 80 x 24 for programs that draw: a tmux server of its own, without the user's
 * settings, which ends with the test.
 */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { newTestDirectory } from './ensemble.js';
import { ROOKERY_MAIN } from './product.js';
import { until } from './wait.js';

export const TMUX = '/usr/bin/tmux';

const run = promisify(execFile);
const DEADLINE_MS = 60_000;
const PRESS_MS = 1_000;

export class Terminal {
  readonly #socket: string;

  private constructor(socket: string) {
    this.#socket = socket;
  }

  /** Runs `rookery` with these arguments; `environment` is all that it gets. */
  static async start(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<Terminal> {
    const directory = newTestDirectory();
    const terminal = new Terminal(join(directory, 'tmux'));
    const variables = { HOME: directory, PATH: process.env['PATH'] ?? '', ...environment };
    const command = [
      ...['env', '-i', 'TERM=screen', 'LANG=C.UTF-8'],
      ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      ...[process.execPath, ROOKERY_MAIN, ...args],
    ];
    const line = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    // What it printed stays on the screen when it ends, with its exit code below.
    const script = `${line}; echo "[ended with $?]"; sleep 600`;
    await terminal.#tmux('-f', '/dev/null', 'new-session', '-d', '-x', '80', '-y', '24', script);
    onTestFinished(async () => {
      await terminal.#tmux('kill-server').catch(() => undefined);
      rmSync(directory, { recursive: true, force: true });
    });
    return terminal;
  }

  /** Types text; nothing in it is a name of a key. */
  async type(text: string): Promise<void> {
    await this.#tmux('send-keys', '-l', text);
  }

  /** Presses keys by tmux's names: Enter, Tab, C-c, Up. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#tmux('send-keys', ...keys);
  }

  async enter(line: string): Promise<void> {
    await this.type(line);
    await this.press('Enter');
  }

  /**
   * Presses a key until the pattern is on the screen. Each press gets a second for its effect:
   * keys that arrive together are taken for pasted text.
   */
  async pressUntil(key: string, pattern: RegExp): Promise<void> {
    await until(`${pattern} is on the screen`, DEADLINE_MS, async () => {
      await this.press(key);
      return await this.shows(pattern, PRESS_MS);
    });
  }

  /** The 24 lines, without spaces at their ends. */
  async screen(): Promise<string> {
    const text = await this.#tmux('capture-pane', '-p');
    return text
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .trimEnd();
  }

  /** Resolves with the screen once the pattern is on it. */
  async shows(pattern: RegExp, deadlineMs = DEADLINE_MS): Promise<string> {
    let last = '';
    try {
      return await until(`${pattern} is on the screen`, deadlineMs, async () => {
        last = await this.screen();
        return pattern.test(last) ? last : undefined;
      });
    } catch (cause) {
      throw new Error(`${pattern} is not on the screen:\n${last}`, { cause });
    }
  }

  async #tmux(...args: readonly string[]): Promise<string> {
    const { stdout } = await run(TMUX, ['-S', this.#socket, ...args]);
    return stdout;
  }
}
