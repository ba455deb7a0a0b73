/**
 * `rookery sh`: the commands of the table line by line, in one session, with a directory, a history
 * and completion.
 *
 * On a terminal it goes on whatever happens to the connection. Without one it runs the lines of
 * standard input and stops at the first that fails, with its exit code.
 */
import { createInterface, type Interface } from 'node:readline';
import { createClient } from '@rookery/client';
import { OperatorError } from '@rookery/server';
import { type CommandSpec, EXIT } from '../../command/command.js';
import type { Format, Output } from '../../command/output.js';
import {
  clientOptionsOf,
  openClient,
  type Target,
  type TargetOptions,
  targetOf,
} from '../../command/target.js';
import { whyNotConnected } from '../../command/why-not-connected.js';
import { BoundedLines } from '../../machine/bounded-input.js';
import { isDeceiving, visible } from '../../terminal/visible-text.js';
import { outputOf, type ProcessParts, processParts } from '../one-command.js';
import { completed, prepareCompletion } from './completion.js';
import { ConnectionTalk } from './connection-talk.js';
import { HISTORY_LINES_MAX, History, isHarmless } from './history.js';
import { BUILT_INS, LineRunner } from './line-runner.js';

/** Resolves with the exit code. */
export async function runShell(
  options: TargetOptions,
  specs: readonly CommandSpec[],
  parts: ProcessParts = processParts(),
): Promise<number> {
  const target = targetOf(options, parts.environment);
  const client = createClient(target.connect, clientOptionsOf(target));
  try {
    const shell = new Shell({ target, specs, parts, client });
    return parts.stdin.isTTY === true ? await shell.interact() : await shell.runInput();
  } finally {
    await client.close();
  }
}

interface ShellParts {
  readonly target: Target;
  readonly specs: readonly CommandSpec[];
  readonly parts: ProcessParts;
  readonly client: ReturnType<typeof createClient>;
}

class Shell {
  readonly #parts: ShellParts;
  readonly #runner: LineRunner;
  readonly #history: History;
  readonly #lines: Interface;
  /** Standard input when it is not a terminal. */
  readonly #script = new BoundedLines();
  /** The newest first. */
  #typed: readonly string[] = [];
  #running: AbortController | null = null;

  constructor(given: ShellParts) {
    const { parts, specs, client, target } = given;
    this.#parts = given;
    this.#history = new History(parts.environment);
    const isTerminal = parts.stdin.isTTY === true;
    this.#lines = createInterface({
      input: isTerminal ? parts.stdin : parts.stdin.pipe(this.#script),
      output: isTerminal ? parts.stdout : undefined,
      terminal: isTerminal,
      history: isTerminal ? this.#history.load() : [],
      historySize: HISTORY_LINES_MAX,
      removeHistoryDuplicates: true,
      completer: isTerminal ? (line, done) => this.#complete(line, done) : undefined,
    });
    this.#lines.on('history', (lines: readonly string[]) => {
      this.#typed = lines.filter(isHarmless);
    });
    const opened: Promise<{ close(): Promise<void> }>[] = [];
    this.#runner = new LineRunner({
      specs,
      client,
      outputFor: (format) => this.#output(format),
      around: {
        other: (connect) => {
          const opening = openClient({ ...target, connect, source: 'the other ensemble' });
          opened.push(opening);
          return opening;
        },
        connect: () => target.connect,
        tls: () => target.tls,
        isInteractive: isTerminal,
        confirm: (question) => this.#ask(question),
        handOver: (run) => this.#handOver(run),
        readInput: async () => {
          throw new OperatorError('Within the shell, standard input is the shell itself.');
        },
        environment: parts.environment,
      },
    });
    this.#lines.once('close', async () => {
      for (const other of await Promise.allSettled(opened)) {
        if (other.status === 'fulfilled') await other.value.close();
      }
    });
  }

  async interact(): Promise<number> {
    const { client, target } = this.#parts;
    const talk = new ConnectionTalk(client, target, (sentence) => this.#say(sentence));
    client.onState(({ state }) => {
      // If it fails, the first completion of a large directory takes a little longer.
      if (state === 'connected') prepareCompletion(client).catch(() => undefined);
    });
    this.#lines.on('SIGINT', () => this.#onInterrupt());
    const ended = new Promise<void>((resolve) => this.#lines.once('close', resolve));
    this.#say(`Connecting to ${target.connect}. "help" lists the commands, Tab completes.`);
    let queue = Promise.resolve();
    this.#lines.on('line', (line) => {
      queue = queue.then(() => this.#runLine(line));
    });
    this.#prompt();
    await ended;
    await queue;
    talk.close();
    if (this.#typed.length > 0 && !this.#history.save(this.#typed)) {
      this.#say('The history cannot be kept.');
    }
    return 0;
  }

  /** Lines of a script. */
  async runInput(): Promise<number> {
    for await (const line of this.#lines) {
      const code = await this.#runner.run(line, new AbortController().signal);
      if (code === EXIT.disconnected) await this.#explain();
      if (this.#runner.isOver || code !== 0) return code;
    }
    this.#script.requireWhole();
    return 0;
  }

  /** Says why there is no connection, if there is none. */
  async #explain(): Promise<void> {
    const { client, target } = this.#parts;
    if (client.state === 'connected') return;
    await this.#output('table').talk(await whyNotConnected({ ...target, timeoutMs: null }));
  }

  async #runLine(line: string): Promise<void> {
    if (this.#runner.isOver) return;
    this.#running = new AbortController();
    await this.#runner.run(line, this.#running.signal);
    this.#running = null;
    if (this.#runner.isOver) this.#lines.close();
    else this.#prompt();
  }

  #prompt(): void {
    this.#lines.setPrompt(`rookery:${this.#runner.directory}> `);
    this.#lines.prompt();
  }

  #onInterrupt(): void {
    if (this.#running !== null) {
      this.#running.abort();
      return;
    }
    this.#parts.parts.stdout.write('^C\n');
    // Ctrl-U and Ctrl-K: what was typed goes.
    this.#lines.write(null, { ctrl: true, name: 'u' });
    this.#lines.write(null, { ctrl: true, name: 'k' });
    this.#prompt();
  }

  /** A sentence between the lines; what was being typed appears again below it. */
  #say(text: string): void {
    const sentence = visible(text);
    const { stdout } = this.#parts.parts;
    if (this.#running !== null) {
      stdout.write(`${sentence}\n`);
      return;
    }
    stdout.write(`\r\u001b[K${sentence}\n`);
    this.#lines.prompt(true);
  }

  #output(format: Format): Output {
    return outputOf(format, this.#parts.parts);
  }

  #complete(line: string, done: (error: null, result: [string[], string]) => void): void {
    const { specs, client } = this.#parts;
    const { directory } = this.#runner;
    completed(line, { specs, builtIns: BUILT_INS, directory, client }).then(
      // A name that would show as another one has to be typed.
      ([names, part]) => done(null, [names.filter((name) => !isDeceiving(name)), part]),
      // A directory that has gone, or that may not be read, completes nothing.
      () => done(null, [[], line]),
    );
  }

  #ask(question: string): Promise<boolean> {
    return new Promise((resolve) => {
      this.#lines.question(`${question} [y/N] `, (answer) => {
        resolve(/^y(es)?$/i.test(answer.trim()));
      });
    });
  }

  async #handOver(run: () => Promise<void>): Promise<void> {
    this.#lines.pause();
    try {
      await run();
    } finally {
      this.#lines.resume();
    }
  }
}
