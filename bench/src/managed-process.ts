/**
 * A process that the bench has started: its facts while it runs, and its certain end.
 *
 * Every one of them is ended when the bench itself exits, whatever the reason. Facts come from
 * Linux's /proc; elsewhere they are 0. Output goes to a file of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';

const KILL_AFTER_MS = 8000;
/** USER_HZ of every Linux that Node runs on. */
const CLOCK_TICKS_PER_SECOND = 100;

export interface ProcessFacts {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

export class ManagedProcess {
  readonly #child: ChildProcess;
  readonly #logFile: string;
  readonly #killOnExit = () => this.#child.kill('SIGKILL');

  constructor(command: readonly string[], logFile: string) {
    this.#logFile = logFile;
    const [program = '', ...parameters] = command;
    const output = openSync(logFile, 'a');
    this.#child = spawn(program, parameters, { stdio: ['ignore', output, output] });
    closeSync(output);
    process.on('exit', this.#killOnExit);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** How it ended. */
  get ending(): string {
    const { pid, exitCode, signalCode } = this.#child;
    return `process ${pid} ended with ${signalCode ?? `code ${exitCode}`} (${this.#logFile})`;
  }

  /** The end of its output, for an error message. */
  get lastOutput(): string {
    return readFileSync(this.#logFile, 'utf8').split('\n').slice(-12).join('\n');
  }

  facts(): ProcessFacts {
    try {
      const stat = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8');
      // The command's name may hold spaces; the fields after it do not.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const ticks = Number(fields[11]) + Number(fields[12]);
      const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
      const residentKb = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
      return { cpuSeconds: ticks / CLOCK_TICKS_PER_SECOND, residentBytes: residentKb * 1024 };
    } catch {
      return { cpuSeconds: 0, residentBytes: 0 };
    }
  }

  async stop(): Promise<void> {
    if (this.isRunning) {
      const ended = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      const kill = setTimeout(() => this.#child.kill('SIGKILL'), KILL_AFTER_MS);
      await ended;
      clearTimeout(kill);
    }
    process.off('exit', this.#killOnExit);
  }
}
