/**
 * A member's process, which is started, restarted, signalled and measured here, and certainly
 * ended.
 *
 * Every process is ended when the bench itself exits, whatever the reason. Facts come from Linux's
 * /proc; elsewhere they are 0. The output of all its incarnations goes to one file.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';

const KILL_AFTER_MS = 30_000;
/** USER_HZ of every Linux on which Node runs. */
const CLOCK_TICKS_PER_SECOND = 100;

export interface ProcessFacts {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  /** The highest resident memory that it ever had. */
  readonly peakResidentBytes: number;
}

const NOTHING: ProcessFacts = {
  cpuSeconds: 0,
  residentBytes: 0,
  peakResidentBytes: 0,
};

export class ManagedProcess {
  readonly #command: readonly string[];
  readonly #logFile: string;
  readonly #killOnExit = () => this.#child.kill('SIGKILL');
  #child: ChildProcess;
  /** The bench requested the end of the process. */
  #isEnded = false;

  constructor(command: readonly string[], logFile: string) {
    this.#command = command;
    this.#logFile = logFile;
    this.#child = this.#spawn();
    process.prependListener('exit', this.#killOnExit);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Whether it ended although nobody requested it. */
  get hasFailed(): boolean {
    return !this.isRunning && !this.#isEnded;
  }

  /** Describes how it ended. */
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
      const stat = this.#proc('stat');
      // The command's name may contain spaces; the fields after it do not.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const ticks = Number(fields[11]) + Number(fields[12]);
      const status = this.#proc('status');
      return {
        cpuSeconds: ticks / CLOCK_TICKS_PER_SECOND,
        residentBytes: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024,
        peakResidentBytes: Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024,
      };
    } catch {
      return NOTHING;
    }
  }

  /** Freezes or resumes the process. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name);
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Ends the process in the way an operator would. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
    process.off('exit', this.#killOnExit);
  }

  /** Must be called after its end. */
  startAgain(): void {
    if (this.isRunning) throw new Error('the process still runs');
    this.#isEnded = false;
    process.off('exit', this.#killOnExit);
    process.prependListener('exit', this.#killOnExit);
    this.#child = this.#spawn();
  }

  #spawn(): ChildProcess {
    const [program = '', ...parameters] = this.#command;
    const output = openSync(this.#logFile, 'a');
    const child = spawn(program, parameters, { stdio: ['ignore', output, output] });
    closeSync(output);
    // The program may not exist: its exit code says so, as for one that fails at once.
    child.on('error', () => undefined);
    return child;
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    // A process that had ended by itself keeps the state of one that failed.
    if (!this.isRunning) return;
    this.#isEnded = true;
    const ended = once(this.#child, 'exit');
    this.#child.kill(signal);
    // A frozen process ends only once it runs again.
    this.#child.kill('SIGCONT');
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), KILL_AFTER_MS);
    await ended;
    clearTimeout(kill);
  }

  #proc(name: string): string {
    return readFileSync(`/proc/${this.#child.pid}/${name}`, 'utf8');
  }
}
