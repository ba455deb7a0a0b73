/**
 * Defines a command of the shell: its name, arguments and options, and the function that runs it.
 *
 * `rookery <command>`, `rookery sh`, the completion and the documents read the same table of these
 * (table.ts). A command sees only its `Call`: it writes to `output`, never to the process, and gets
 * its client from `client()`, which connects when it is first called.
 */
import type { Client } from '@rookery/client';
import type { TlsPaths } from './client-proofs.js';
import type { Format, Output } from './output.js';

/** How an argument is completed: with paths of znodes, with names of contexts, or not at all. */
type ArgumentKind = 'path' | 'context' | 'text';

export interface ArgumentSpec {
  /** In commander's form: `<path>`, `[path]`, `[words...]`. */
  readonly usage: string;
  readonly kind: ArgumentKind;
}

export interface OptionSpec {
  /** In commander's form: `-r, --recursive`, `--depth <n>`. */
  readonly flags: string;
  readonly description: string;
  /** For whole numbers, the least and the greatest; absent for text. */
  readonly range?: readonly [min: number, max: number];
}

export interface CommandSpec {
  /** One word, or two for a command of a group: `acl get`. */
  readonly name: string;
  readonly summary: string;
  readonly args: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  /** Whether it can change znodes; if so, it has `--dry-run`. */
  readonly writes?: true;
  /**
   * False for a command that needs no ensemble, such as those of contexts; it has no `--connect`.
   */
  readonly connects?: false;
  /** True for the command of a group that is run where none of them is named. */
  readonly isDefault?: true;
  /** True for a command that always writes text of one kind, such as scripts; it has no `-o`. */
  readonly isPlain?: true;
  /** The default of `-o`; `table` if absent. */
  readonly format?: Format;
  /** Resolves with the exit code; 0 if undefined. */
  readonly run: (call: Call) => Promise<number | undefined>;
}

/** The exit codes that scripts can rely on. Those of mistakes and failures are in failures.ts. */
export const EXIT = { done: 0, failed: 1, mistake: 2, no: 3, disconnected: 4 } as const;

/** The environment of a call, as far as commands need it. */
export interface Surroundings {
  readonly output: Output;
  /** Connects at the first call; rejects with errors that failures.ts can explain. */
  readonly client: () => Promise<Client>;
  /** Another ensemble for `--to` and `--with`; closed with the command. */
  readonly other: (connect: string) => Promise<Client>;
  /** The connect string of `client()`. */
  readonly connect: () => string;
  /** How the servers are reached by TLS; null without it. */
  readonly tls: () => TlsPaths | null;
  /** The directory at which relative paths begin; `/` outside of the interactive shell. */
  readonly directory: string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Whether a person is present who can be asked. */
  readonly isInteractive: boolean;
  /** Resolves with whether the person said yes. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** Gives the terminal to another program while `run` runs. */
  readonly handOver: (run: () => Promise<void>) => Promise<void>;
  /** All of standard input. */
  readonly readInput: () => Promise<Buffer>;
  /** Whether this is a line of `rookery sh`, whose session continues after the command. */
  readonly isShell: boolean;
  readonly environment: NodeJS.ProcessEnv;
}

/** One call of a command. */
export class Call {
  readonly around: Surroundings;
  readonly format: Format;
  readonly output: Output;
  readonly #args: readonly unknown[];
  readonly #options: Readonly<Record<string, unknown>>;

  constructor(
    around: Surroundings,
    args: readonly unknown[],
    options: Readonly<Record<string, unknown>>,
  ) {
    this.around = around;
    this.output = around.output;
    this.format = around.output.format;
    this.#args = args;
    this.#options = options;
  }

  get signal(): AbortSignal {
    return this.around.signal;
  }

  get isDryRun(): boolean {
    return this.flag('dryRun');
  }

  client(): Promise<Client> {
    return this.around.client();
  }

  /** An argument, or undefined if it was left out. */
  arg(index: number): string | undefined {
    const value = this.#args[index];
    return typeof value === 'string' ? value : undefined;
  }

  /** The words of an argument that takes many. */
  words(index: number): readonly string[] {
    const value = this.#args[index];
    return Array.isArray(value) ? value.map(String) : [];
  }

  /** The path that an argument names: absolute, or from the shell's directory. */
  path(index: number): string {
    return resolvePath(this.around.directory, this.arg(index) ?? '.');
  }

  flag(name: string): boolean {
    return this.#options[name] === true;
  }

  text(name: string): string | undefined {
    const value = this.#options[name];
    return typeof value === 'string' ? value : undefined;
  }

  number(name: string): number | undefined {
    const value = this.#options[name];
    return typeof value === 'number' ? value : undefined;
  }
}

/** Like a shell's: `..` goes up and never above the root, `.` and empty segments go nowhere. */
export function resolvePath(directory: string, text: string): string {
  const segments: string[] = [];
  const whole = text.startsWith('/') ? text : `${directory}/${text}`;
  for (const segment of whole.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}
