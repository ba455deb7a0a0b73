/**
 * A program in another language that does what a test requests, line by line, so that a virtual
 * machine is started once for all tests of a file.
 *
 * A request is a line of fields separated by tabs: number, actor, operation, arguments. The answer,
 * which comes when the operation is done, is the number, `ok` or `error`, and fields. An actor is a
 * client with a session and one thread of its own: its requests are done one after the other, those
 * of different actors at the same time. The program ends with its standard input; in any case
 * close() and the end of the test's process kill it and what it has started.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { type Deferred, deferred, within } from '../harness/wait.js';

/** This detects a hang; on a loaded machine a hand-over may take seconds. */
const ANSWER_DEADLINE_MS = 120_000;
const ERRORS_LENGTH_MAX = 8_000;

export interface DriverCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** The program reported that an operation failed; the message begins with the error's class. */
export class ForeignError extends Error {
  override readonly name = 'ForeignError';
}

export type Argument = string | number | bigint;

export interface ForeignActor {
  /** Resolves with the fields of the answer; rejects with ForeignError if the operation failed. */
  call(operation: string, ...args: readonly Argument[]): Promise<readonly string[]>;
}

export class ForeignDriver {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #pending = new Map<number, Deferred<readonly string[]>>();
  readonly #ended = deferred<void>();
  readonly #killGroup: () => void;
  #calls = 0;
  #actors = 0;
  #errors = '';

  constructor({ file, args, environment }: DriverCommand) {
    this.#child = spawn(file, [...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      env: { ...process.env, ...environment },
    });
    const { pid } = this.#child;
    this.#killGroup = () => {
      try {
        if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      } catch {
        // The whole group has ended by itself.
      }
    };
    process.once('exit', this.#killGroup);
    this.#child.once('error', (error) => this.#end(String(error)));
    this.#child.once('close', (code) => this.#end(`it has ended with code ${code}`));
    this.#child.stdin.on('error', () => undefined); // The event 'close' reports its end.
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-ERRORS_LENGTH_MAX);
    });
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#answer(line));
  }

  /** The last text that it wrote to standard error. */
  get errors(): string {
    return this.#errors;
  }

  /** Returns a new actor; its client connects with its first operation. */
  actor(): ForeignActor {
    const name = `actor-${++this.#actors}`;
    return { call: (operation, ...args) => this.#call(name, operation, ...args) };
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    this.#killGroup();
    process.off('exit', this.#killGroup);
    await this.#ended.promise;
  }

  async #call(
    actor: string,
    operation: string,
    ...args: readonly Argument[]
  ): Promise<readonly string[]> {
    const id = ++this.#calls;
    const fields = [id, actor, operation, ...args].map(String);
    if (fields.some((field) => /[\t\r\n]/.test(field)))
      throw new Error('a field contains a separator');
    const answered = deferred<readonly string[]>();
    this.#pending.set(id, answered);
    this.#child.stdin.write(`${fields.join('\t')}\n`);
    return await within(fields.slice(1).join(' '), ANSWER_DEADLINE_MS, answered.promise);
  }

  #answer(line: string): void {
    const [id, outcome, ...fields] = line.split('\t');
    const answered = this.#pending.get(Number(id));
    if (answered === undefined) {
      this.#errors += `not an answer: ${line}\n`;
      return;
    }
    this.#pending.delete(Number(id));
    if (outcome === 'ok') answered.resolve(fields);
    else answered.reject(new ForeignError(fields.join(' ')));
  }

  #end(why: string): void {
    for (const answered of this.#pending.values()) {
      answered.reject(new Error(`the foreign program: ${why}\n${this.#errors}`));
    }
    this.#pending.clear();
    this.#ended.resolve();
  }
}
