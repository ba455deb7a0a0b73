/**
 * `rookery zk`: ZooKeeper's shell, word for word: its commands, its output on the same stream, its
 * exit codes. With a command it runs that one, else the lines of standard input.
 *
 * Differences on purpose: a number that is none is one sentence and not a stack, and `version` says
 * that this is Rookery.
 */
import { createInterface } from 'node:readline';
import { AuthFailedError, type Client, type WatchEvent } from '@rookery/client';
import { OperatorError } from '@rookery/server';
import { EXIT } from '../../command/command.js';
import { openClient, type Target } from '../../command/target.js';
import { BoundedLines } from '../../machine/bounded-input.js';
import { isBrokenPipe, outputWritten, unwritable } from '../../terminal/standard-output.js';
import { visible } from '../../terminal/visible-text.js';
import { type ProcessParts, processParts } from '../one-command.js';
import { ZkArguments, ZkError, zkWords } from './arguments.js';
import { ZK_COMMANDS, type ZkPrinter } from './commands.js';
import { zkErrorText, zkEvent } from './texts.js';
import { allUsages, isZkCommand, usageOf, type ZkCommandName } from './usage.js';

const EXIT_UNKNOWN = 127;
const HISTORY_SHOWN = 10;

/** The options before the command: where to connect, how long, whether reading is enough. */
interface ZkStart {
  readonly server: string | undefined;
  readonly timeoutMs: number;
  readonly readOnly: boolean;
  readonly words: readonly string[];
}

const TIMEOUT_MS_DEFAULT = 30_000;
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

/** Throws OperatorError. */
export function zkStart(given: readonly string[]): ZkStart {
  const rest = [...given];
  let server: string | undefined;
  let timeoutMs = TIMEOUT_MS_DEFAULT;
  let readOnly = false;
  while (rest[0]?.startsWith('-') === true) {
    const option = rest.shift();
    if (option === '-r') readOnly = true;
    else if (option === '-server') {
      server = rest.shift();
      if (server === undefined) throw new OperatorError('-server: expected host:port after it.');
    } else if (option === '-timeout') {
      const text = rest.shift() ?? '';
      timeoutMs = Number(text);
      if (!/^\d+$/.test(text) || timeoutMs < 1 || timeoutMs > TIMEOUT_MS_MAX) {
        throw new OperatorError(`-timeout is a number of milliseconds, not ${text}.`);
      }
    } else if (option !== '-waitforconnection') {
      throw new OperatorError(
        `${option} is unknown: the options are -server, -timeout, -r and -waitforconnection.`,
      );
    }
  }
  return { server, timeoutMs, readOnly, words: rest };
}

interface ZkShellOptions {
  /** One command with its arguments; the lines of standard input if there are none. */
  readonly words: readonly string[];
  readonly target: Target;
  readonly version: string;
}

/** Resolves with the exit code. */
export async function runZkShell(
  options: ZkShellOptions,
  parts: ProcessParts = processParts(),
): Promise<number> {
  const failing = new AbortController();
  parts.stderr.on('error', () => undefined);
  parts.stdout.on('error', (error) => {
    // As zkCli.sh does, it goes on without a reader: commands are carried out.
    if (isBrokenPipe(error) || failing.signal.aborted) return;
    parts.stderr.write(`rookery: ${unwritable(error)}\n`);
    failing.abort();
  });
  const code = await new ZkShell(options, parts, failing.signal).run();
  await outputWritten(parts.stdout);
  return failing.signal.aborted ? EXIT.failed : code;
}

class ZkShell {
  readonly #options: ZkShellOptions;
  readonly #parts: ProcessParts;
  /** Aborted when the output cannot be written: no further command begins. */
  readonly #failing: AbortSignal;
  readonly #history: string[] = [];
  #client: Client | null = null;
  #target: Target;
  #printsWatches = true;
  #code = 0;
  #isOver = false;

  constructor(options: ZkShellOptions, parts: ProcessParts, failing: AbortSignal) {
    this.#options = options;
    this.#parts = parts;
    this.#failing = failing;
    this.#target = options.target;
  }

  async run(): Promise<number> {
    const { words } = this.#options;
    this.#out(`Connecting to ${this.#target.connect}`);
    const isOnce = words.length > 0;
    if (!isOnce) {
      this.#out('Welcome to ZooKeeper!');
      this.#out('JLine support is disabled');
    }
    try {
      // A single command that is wrong in itself is told without a connection.
      if (!isOnce) await this.#connect();
      if (isOnce) await this.#runWords(words);
      else await this.#runLines();
      return this.#code;
    } finally {
      await this.#client?.close();
    }
  }

  async #runLines(): Promise<void> {
    const signal = this.#failing;
    const input = this.#parts.stdin.pipe(new BoundedLines());
    for await (const line of createInterface({ input, signal })) {
      if (this.#isOver || signal.aborted) return;
      if (line.trim() === '') continue;
      this.#history.push(line);
      await this.#runWords(zkWords(line));
    }
    input.requireWhole();
  }

  async #runWords(words: readonly string[]): Promise<void> {
    const [name = '', ...args] = words;
    if (!isZkCommand(name)) {
      this.#error(allUsages());
      this.#error(`Command not found: Command not found ${name}`);
      this.#code = EXIT_UNKNOWN;
      return;
    }
    const before = this.#code;
    try {
      await this.#runCommand(name, args);
      if (!this.#isOver) this.#code = 0;
      else this.#code = before;
    } catch (error) {
      this.#error(zkErrorText(error));
      this.#code = 1;
    }
  }

  async #runCommand(name: ZkCommandName, words: readonly string[]): Promise<void> {
    const [first] = words;
    if (name === 'quit') {
      this.#isOver = true;
      if (this.#options.words.length > 0) await this.#connect();
      await this.#close();
    } else if (name === 'close') await this.#close();
    else if (name === 'history') this.#showHistory();
    else if (name === 'printwatches') this.#printWatches(first);
    else if (name === 'redo') await this.#redo(first);
    else if (name === 'connect') await this.#reconnect(first);
    else await this.#ask(name, words);
  }

  async #ask(name: ZkCommandName, words: readonly string[]): Promise<void> {
    const isOnce = this.#options.words.length > 0;
    if (isOnce) void new ZkArguments(name, words);
    if (isOnce) await this.#connect();
    const client = this.#client;
    if (client === null || client.state === 'closed') {
      this.#out('Not connected');
      return;
    }
    const args = new ZkArguments(name, words);
    if (name === 'version') {
      if (args.rest.length > 0) throw new ZkError(usageOf('version'));
      this.#out(`ZooKeeper CLI version: 3.8.0 (rookery ${this.#options.version})`);
      return;
    }
    if (name === 'addauth') {
      await this.#addAuth(client, args);
      return;
    }
    const command = ZK_COMMANDS[name];
    if (command === undefined) throw new ZkError(usageOf(name));
    const printer: ZkPrinter = {
      out: (line) => this.#out(line),
      error: (line) => this.#error(line),
      onEvent: (event) => this.#onEvent(event),
    };
    await command(client, args, printer);
  }

  async #addAuth(client: Client, args: ZkArguments): Promise<void> {
    const [scheme = '', auth = ''] = args.rest;
    try {
      await client.addAuth(scheme, auth);
    } catch (error) {
      if (!(error instanceof AuthFailedError)) throw error;
      this.#event('AuthFailed', 'None', null);
    }
  }

  async #connect(): Promise<void> {
    this.#client = await openClient(this.#target);
    this.#event('SyncConnected', 'None', null);
    this.#client.onState(({ state }) => {
      if (state === 'suspended') this.#event('Disconnected', 'None', null);
      if (state === 'lost') this.#event('Expired', 'None', null);
      if (state === 'connected') this.#event('SyncConnected', 'None', null);
    });
  }

  async #close(): Promise<void> {
    const client = this.#client;
    if (client === null || client.state === 'closed') return;
    this.#client = null;
    await client.close();
    this.#event('Closed', 'None', null);
  }

  async #reconnect(connect: string | undefined): Promise<void> {
    await this.#close();
    if (connect !== undefined) {
      this.#target = { ...this.#target, connect, source: 'the command connect' };
    }
    await this.#connect();
  }

  #showHistory(): void {
    const last = this.#history.length - 1;
    for (let at = Math.max(0, last - HISTORY_SHOWN); at <= last; at++) {
      this.#out(`${at} - ${this.#history[at]}`);
    }
  }

  #printWatches(word: string | undefined): void {
    if (word === undefined) this.#out(`printwatches is ${this.#printsWatches ? 'on' : 'off'}`);
    else this.#printsWatches = word === 'on';
  }

  async #redo(word: string | undefined): Promise<void> {
    if (word === undefined) return;
    if (!/^\d{1,9}$/.test(word)) throw new ZkError(usageOf('redo'));
    const line = this.#history[Number(word)];
    if (line === undefined || Number(word) >= this.#history.length - 1) {
      throw new ZkError('Command index out of range');
    }
    this.#history[this.#history.length - 1] = line;
    const [name = '', ...args] = zkWords(line);
    if (isZkCommand(name) && name !== 'redo') await this.#runCommand(name, args);
  }

  #onEvent(event: WatchEvent): void {
    const types: Readonly<Record<string, string>> = {
      created: 'NodeCreated',
      deleted: 'NodeDeleted',
      dataChanged: 'NodeDataChanged',
      childrenChanged: 'NodeChildrenChanged',
      removed: 'PersistentWatchRemoved',
    };
    const type = types[event.type];
    if (type !== undefined) this.#event('SyncConnected', type, event.path);
  }

  #event(state: string, type: string, path: string | null): void {
    if (this.#printsWatches) this.#out(zkEvent(state, type, path));
  }

  #out(line: string): void {
    this.#parts.stdout.write(`${this.#parts.stdout.isTTY ? visible(line) : line}\n`);
  }

  #error(line: string): void {
    this.#parts.stderr.write(`${visible(line)}\n`);
  }
}
