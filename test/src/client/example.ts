/**
 * One of client/examples/ as a process, as a user runs it: what it prints, line by line, and its
 * end by Ctrl-C or kill -9. Whatever the outcome of the running test, the process ends with it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { onTestFailed, onTestFinished } from 'vitest';
import { REPOSITORY } from '../harness/product.js';
import { type Deferred, deferred, within } from '../harness/wait.js';

const DEADLINE_MS = 60_000;
export const EXAMPLES = join(REPOSITORY, 'client/examples');

export interface ExampleExit {
  readonly code: number | null;
  readonly errors: string;
}

export class Example {
  readonly lines: string[] = [];
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<ExampleExit>;
  #changed: Deferred<void> = deferred();
  /** How many lines `says` has passed over. */
  #seen = 0;
  #isOver = false;

  constructor(name: string, args: readonly string[]) {
    this.#name = [name, ...args].join(' ');
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const child = spawn(process.execPath, [join(EXAMPLES, name), ...args], { stdio: [...stdio] });
    let errors = '';
    let rest = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      this.lines.push(...lines);
      this.#notify();
    });
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      child.once('close', (code) => {
        this.#isOver = true;
        resolve({ code, errors });
        this.#notify();
      });
    });
    onTestFailed(() => console.log(`=== ${this.#name}\n${this.lines.join('\n')}\n${errors}`));
    onTestFinished(() => void child.kill('SIGKILL'));
  }

  /** The first match in a line that no earlier call has passed over; waits for it. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const match = (line: string) => pattern.exec(line) ?? undefined;
    return await within(`${this.#name} says ${pattern}`, DEADLINE_MS, this.#next(match));
  }

  /** The first line for which it is so that no earlier call has passed over; waits for it. */
  async saysSo(what: string, isSo: (line: string) => boolean): Promise<string> {
    const match = (line: string) => (isSo(line) ? line : undefined);
    return await within(`${this.#name} says that ${what}`, DEADLINE_MS, this.#next(match));
  }

  /** Resolves when it has ended by itself. */
  async ends(): Promise<ExampleExit> {
    return await within(`${this.#name} ends`, DEADLINE_MS, this.#ended);
  }

  /** Ctrl-C. */
  async interrupt(): Promise<ExampleExit> {
    this.#child.kill('SIGINT');
    return await this.ends();
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ends();
  }

  async #next<T>(probe: (line: string) => T | undefined): Promise<T> {
    for (;;) {
      const { promise } = this.#changed;
      while (this.#seen < this.lines.length) {
        const found = probe(this.lines[this.#seen++] ?? '');
        if (found !== undefined) return found;
      }
      if (this.#isOver) throw new Error(`${this.#name} has ended`);
      await promise;
    }
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = deferred();
  }
}
