/**
 * A conversation with an interactive command-line client: lines in, expected output out.
 *
 * `expect` waits for a pattern in what was printed since the last match, standard output and error
 * together, and continues after it; so the order of the outputs is checked as well. `close` kills
 * the process and must be called.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { deferred, within } from './wait.js';

const EXPECT_DEADLINE_MS = 20_000;

export class Conversation {
  readonly #child: ChildProcess;
  readonly #lookers = new Set<() => void>();
  #printed = '';
  #consumed = 0;

  constructor(file: string, args: readonly string[]) {
    this.#child = spawn(file, [...args], { stdio: 'pipe' });
    this.#child.stdin?.on('error', () => undefined);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.#onText(text));
    }
    this.#child.on('error', (error) => this.#onText(`\n${error.message}\n`));
  }

  say(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  async expect(pattern: RegExp): Promise<RegExpExecArray> {
    const found = deferred<RegExpExecArray>();
    const look = () => {
      const match = pattern.exec(this.#printed.slice(this.#consumed));
      if (match === null) return;
      this.#lookers.delete(look);
      this.#consumed += match.index + match[0].length;
      found.resolve(match);
    };
    this.#lookers.add(look);
    look();
    return await within(`${pattern} printed`, EXPECT_DEADLINE_MS, found.promise).catch((cause) => {
      this.#lookers.delete(look);
      throw new Error(`${pattern} is not in: ${this.#printed.slice(this.#consumed)}`, { cause });
    });
  }

  /** Sends the line and waits for its effect. */
  async ask(line: string, pattern: RegExp): Promise<RegExpExecArray> {
    this.say(line);
    return await this.expect(pattern);
  }

  async close(): Promise<void> {
    const gone = deferred<void>();
    this.#child.once('exit', () => gone.resolve());
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await gone.promise;
  }

  #onText(text: string): void {
    this.#printed += text;
    for (const look of [...this.#lookers]) look();
  }
}
