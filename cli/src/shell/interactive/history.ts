/**
 * The lines that were typed, kept from one shell to the next in
 * `$XDG_STATE_HOME/rookery/history` (by default below `~/.local/state`), for this user alone. Lines
 * with credentials are never among them.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { replaceOwnFile } from '@rookery/server';

export const HISTORY_LINES_MAX = 1000;

export class History {
  readonly #file: string;

  constructor(environment: NodeJS.ProcessEnv) {
    const configured = environment['XDG_STATE_HOME'] ?? '';
    const home = environment['HOME'] ?? homedir();
    const state = configured === '' ? join(home, '.local/state') : configured;
    this.#file = join(state, 'rookery/history');
  }

  /** The newest first, as node:readline wants them; none if there is no such file. */
  load(): string[] {
    try {
      const lines = readFileSync(this.#file, 'utf8').split('\n');
      return lines
        .filter((line) => line !== '')
        .reverse()
        .slice(0, HISTORY_LINES_MAX);
    } catch {
      return [];
    }
  }

  /** Gives false where they cannot be kept; that is no reason to fail. */
  save(newestFirst: readonly string[]): boolean {
    const lines = newestFirst.filter(isHarmless).slice(0, HISTORY_LINES_MAX).reverse();
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      replaceOwnFile(this.#file, `${lines.join('\n')}\n`);
      return true;
    } catch {
      return false;
    }
  }
}

/**
 * Whether the line has no credentials: no `addauth`, however it is quoted, and nothing that looks
 * like its arguments behind a mistyped name.
 */
export function isHarmless(line: string): boolean {
  const bare = line.replace(/["'\\]/g, '').toLowerCase();
  return !bare.includes('addauth') && !/\b(?:digest|sasl)\s+[^\s:]+:/.test(bare);
}
