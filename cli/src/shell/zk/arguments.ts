/**
 * Takes lines and arguments apart as ZooKeeper's shell does: quotes hold whole words together, an
 * option is a single letter behind a dash and may stand anywhere, an unknown one is an error.
 */
import { usageOf, ZK_ARGUMENTS_MIN, ZK_OPTIONS, type ZkCommandName } from './usage.js';

/** What the shell prints on standard error, and goes on. */
export class ZkError extends Error {
  override readonly name = 'ZkError';
}

export function zkWords(line: string): readonly string[] {
  return [...line.matchAll(/\s*([^"']\S*|"[^"]*"|'[^']*')\s*/g)].map(([, word = '']) => {
    return /^(".*"|'.*')$/s.test(word) ? word.slice(1, -1) : word.trim();
  });
}

export class ZkArguments {
  /** The words that are no options. */
  readonly rest: readonly string[];
  readonly #options = new Map<string, string>();

  /** Throws ZkError, with the usage where an argument is missing. */
  constructor(name: ZkCommandName, words: readonly string[]) {
    const { flags, values } = ZK_OPTIONS[name] ?? { flags: '', values: '' };
    const rest: string[] = [];
    for (let at = 0; at < words.length; at++) {
      const word = words[at] ?? '';
      const letter = word.slice(1);
      if (flags + values === '' || !/^-[A-Za-z]/.test(word)) rest.push(word);
      else if (letter.length === 1 && flags.includes(letter)) this.#options.set(letter, '');
      else if (letter.length === 1 && values.includes(letter)) {
        const value = words[++at];
        if (value === undefined) {
          throw new ZkError(
            `org.apache.commons.cli.MissingArgumentException: Missing argument for option: ${letter}`,
          );
        }
        this.#options.set(letter, value);
      } else {
        throw new ZkError(
          `org.apache.commons.cli.UnrecognizedOptionException: Unrecognized option: ${word}`,
        );
      }
    }
    this.rest = rest;
    if (rest.length < (ZK_ARGUMENTS_MIN[name] ?? 0)) throw new ZkError(usageOf(name));
  }

  has(letter: string): boolean {
    return this.#options.has(letter);
  }

  value(letter: string): string | undefined {
    return this.#options.get(letter);
  }

  /** A whole number; -1 if the option is not there. Throws ZkError. */
  version(): number {
    return wholeNumber(this.#options.get('v') ?? '-1');
  }
}

/** Throws ZkError. */
export function wholeNumber(text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw new ZkError(`${JSON.stringify(text)} is not a number.`);
}
