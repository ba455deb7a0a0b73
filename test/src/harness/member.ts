/**
 * One member of an ensemble under test: a real process, its signals and its log file.
 *
 * It owns the child process and none of its data. At most one process per member runs at a time;
 * `start` after an end makes the next incarnation, whose log continues in the same file. Only
 * Ensemble creates a member, and kills it at the end of the test.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { type MemberStatus, statusOf } from './four-letter.js';
import { type Command, ROOKERY_MAIN } from './product.js';
import { type Deferred, deferred, until, within } from './wait.js';

/** This guards against a hang and measures nothing. */
const STOP_DEADLINE_MS = 60_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface MemberOptions {
  readonly id: number;
  readonly clientPort: number;
  readonly secureClientPort?: number | undefined;
  readonly peerPort: number;
  readonly metricsPort?: number | undefined;
  readonly adminPort?: number | undefined;
  /** The directory of this member's data; `Ensemble.wipe` removes it completely. */
  readonly dataDir: string;
  readonly logFile: string;
  readonly command: Command;
}

export class Member {
  readonly id: number;
  readonly clientPort: number;
  readonly peerPort: number;
  /** 0 if it has none. */
  readonly secureClientPort: number;
  readonly metricsPort: number;
  readonly adminPort: number;
  readonly dataDir: string;
  readonly logFile: string;
  readonly #command: Command;
  #child: ChildProcess | undefined;
  #exit: Deferred<Exit> = deferred();

  constructor(options: MemberOptions) {
    this.id = options.id;
    this.clientPort = options.clientPort;
    this.secureClientPort = options.secureClientPort ?? 0;
    this.metricsPort = options.metricsPort ?? 0;
    this.adminPort = options.adminPort ?? 0;
    this.peerPort = options.peerPort;
    this.dataDir = options.dataDir;
    this.logFile = options.logFile;
    this.#command = options.command;
  }

  get running(): boolean {
    return this.#child !== undefined;
  }

  get pid(): number {
    return this.#running().pid ?? 0;
  }

  /** How the present process ends; every start makes a new promise. */
  get exited(): Promise<Exit> {
    return this.#exit.promise;
  }

  /** `main` is the program of another build, instead of that under test. */
  start(environment: Readonly<Record<string, string>> = {}, main = ROOKERY_MAIN): void {
    if (this.#child !== undefined) throw new Error(`member ${this.id} runs already`);
    appendFileSync(this.logFile, `--- start ${new Date().toISOString()}\n`);
    const log = openSync(this.logFile, 'a');
    const args = this.#command.args.map((arg) => (arg === ROOKERY_MAIN ? main : arg));
    const child = spawn(this.#command.file, args, {
      stdio: ['ignore', log, log],
      env: { ...process.env, ...this.#command.environment, ...environment },
    });
    closeSync(log);
    const exit = deferred<Exit>();
    const onParentExit = () => child.kill('SIGKILL');
    process.once('exit', onParentExit);
    child.once('error', (error) => exit.reject(error));
    child.once('exit', (code, signal) => {
      process.off('exit', onParentExit);
      if (this.#child === child) this.#child = undefined;
      appendFileSync(this.logFile, `--- end ${new Date().toISOString()} ${signal ?? code}\n`);
      exit.resolve({ code, signal });
    });
    this.#child = child;
    this.#exit = exit;
  }

  /** Sends SIGTERM and waits for the exit; an end that takes too long is a failure. */
  stop(): Promise<Exit> {
    return this.#signalled('SIGTERM');
  }

  /** Sends SIGKILL: nothing that the process had in memory survives. */
  kill(): Promise<Exit> {
    return this.#signalled('SIGKILL');
  }

  freeze(): void {
    this.#running().kill('SIGSTOP');
  }

  thaw(): void {
    this.#running().kill('SIGCONT');
  }

  status(): Promise<MemberStatus | undefined> {
    return statusOf(this.clientPort);
  }

  /** Empty before the first start. */
  log(): string {
    return existsSync(this.logFile) ? readFileSync(this.logFile, 'utf8') : '';
  }

  /** Returns what was logged since `mark`, without the harness's own lines. */
  linesSince(mark: number): string[] {
    const lines = this.log().slice(mark).split('\n');
    return lines.filter((line) => line !== '' && !line.startsWith('---'));
  }

  /** The present length of the log: a mark for `waitForLog` and `linesSince` to start from. */
  logMark(): number {
    return this.log().length;
  }

  /** Waits for the first match in what was logged since `mark`. */
  waitForLog(pattern: RegExp, deadlineMs: number, mark = 0): Promise<RegExpExecArray> {
    return until(`member ${this.id} logs ${pattern}`, deadlineMs, () => {
      return pattern.exec(this.log().slice(mark)) ?? undefined;
    });
  }

  async #signalled(signal: NodeJS.Signals): Promise<Exit> {
    const exited = this.exited;
    this.#running().kill(signal);
    return await within(`member ${this.id} ends after ${signal}`, STOP_DEADLINE_MS, exited);
  }

  #running(): ChildProcess {
    if (this.#child === undefined) throw new Error(`member ${this.id} does not run`);
    return this.#child;
  }
}
