/**
 * The members of an ensemble as child processes, which are started, watched and stopped together.
 *
 * A member that dies is reported and started again after a pause; the others
 * continue, as they would on machines of their own. One that was told to stop, and did so cleanly,
 * stays stopped, because somebody stopped it on purpose. A member that refuses its first start
 * because of the operator's mistake (exit code 2) ends the whole run, because the same person
 * configured all members. Members have a channel to this process and stop by themselves when it is
 * gone, so none is ever left behind.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { closeSync, fstatSync, mkdirSync, renameSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { addressText } from '@rookery/protocol';
import {
  isEveryAddress,
  loadEnsembleConfig,
  memoryLimit,
  openContinuedFileSync,
  type ServerAddress,
} from '@rookery/server';
import type { Logger } from 'pino';
import { serviceOf } from '../machine/ports.js';
import { askWord } from '../status/four-letter-word.js';
import { parseStatus } from '../status/server-status.js';
import { memberLines } from '../terminal/log-output.js';
import type { EnsemblePlan } from './ensemble-file.js';
import { commandOf, welcomeText } from './welcome.js';

/**
 * Together with the time that npm and the shell take, everything has ended within 2 s of a Ctrl-C.
 */
const STOP_TIMEOUT_MS = 1500;
const POLL_INTERVAL_MS = 50;
const POLL_TIMEOUT_MS = 1000;
/**
 * An election takes well under a second. After this time, the output says which members are
 * missing.
 */
const SLOW_START_MS = 15_000;
const MEGABYTE = 1 << 20;
const EXIT_FAILURE = 1;
const EXIT_MISTAKE = 2;

interface Member {
  readonly address: ServerAddress;
  readonly process: ChildProcess;
}

interface End {
  readonly code: number | null;
  readonly signal: string | null;
}

interface EnsembleOutput {
  /** A person reads the output: it is printed for one. */
  readonly isForPeople: boolean;
  /** The directory of the members' log files; null for the standard output. */
  readonly logDir: string | null;
}

export class Ensemble {
  readonly #main: string;
  readonly #plan: EnsemblePlan;
  readonly #output: EnsembleOutput;
  readonly #logger: Logger;
  readonly #running = new Map<number, Member>();
  readonly #environment: Readonly<Record<string, string>>;
  readonly #nodeOptions: readonly string[] = [];
  readonly #restarts = new Map<number, Restarts>();
  /** Members that are started again once their pause is over. */
  readonly #pausing = new Map<number, NodeJS.Timeout>();
  #exitCode = 0;
  #stopping = false;
  #allGone: () => void = () => {};

  /** `main` is the file that Node runs for the `rookery` command. */
  constructor(main: string, plan: EnsemblePlan, output: EnsembleOutput, logger: Logger) {
    this.#main = main;
    this.#plan = plan;
    this.#output = output;
    this.#logger = logger;
    const { bytes, heapBytes } = memoryLimit();
    // All members share the memory that this process may use.
    const shareBytes = Math.floor(bytes / plan.servers.length);
    this.#environment = {
      // If each of its threads had an arena, glibc would take 30 MB more for a large tree.
      MALLOC_ARENA_MAX: '1',
      ROOKERY_MEMORY_BYTES: `${shareBytes}`,
    };
    if (heapBytes > shareBytes) this.#nodeOptions = [heapOption(shareBytes)];
  }

  /** Starts all members; resolves with the exit code when none is left. */
  async run(): Promise<number> {
    const gone = new Promise<void>((resolve) => {
      this.#allGone = resolve;
    });
    // The two pipes of each member all end at the standard output.
    setMaxListeners(0, process.stdout);
    for (const address of this.#plan.servers) this.#start(address);
    await Promise.race([gone, this.#announce()]);
    await gone;
    return this.#exitCode;
  }

  /** Asks all members to stop, and kills those that have not stopped after a while. */
  stop(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#logger.info({ members: this.#running.size }, 'ensemble.stopping');
    for (const pause of this.#pausing.values()) clearTimeout(pause);
    this.#pausing.clear();
    if (this.#running.size === 0) this.#allGone();
    for (const { process: child } of this.#running.values()) child.kill('SIGTERM');
    setTimeout(() => this.#killRest(), STOP_TIMEOUT_MS).unref();
  }

  #start(address: ServerAddress): void {
    const { configPath } = this.#plan;
    const args = [
      ...this.#nodeOptions,
      this.#main,
      'server',
      '--config',
      configPath,
      '--id',
      `${address.id}`,
    ];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...this.#environment, ...process.env },
    });
    this.#connectOutput(child, address.id);
    child.once('error', (error) => this.#logger.error({ err: error }, 'ensemble.spawn-failed'));
    // 'close' follows the last line of its output; 'exit' would not wait for it.
    child.once('close', (code, signal) => this.#onEnd(address, { code, signal }));
    this.#running.set(address.id, { address, process: child });
  }

  /**
   * What a member prints besides its log, such as the reason why it cannot start, is always shown.
   */
  #connectOutput(child: ChildProcess, id: number): void {
    const { logDir } = this.#output;
    child.stderr?.pipe(memberLines(id)).pipe(process.stdout, { end: false });
    if (logDir === null) {
      child.stdout?.pipe(memberLines(id)).pipe(process.stdout, { end: false });
    } else {
      child.stdout?.pipe(memberLogFile(join(logDir, `member-${id}.log`)));
    }
  }

  #onEnd(address: ServerAddress, end: End): void {
    this.#running.delete(address.id);
    if (!this.#stopping) this.#onDeath(address, end);
    else if (end.code !== 0) this.#exitCode ||= EXIT_FAILURE;
    if (this.#running.size + this.#pausing.size > 0) return;
    if (!this.#stopping) this.#exitCode ||= EXIT_FAILURE;
    this.#allGone();
  }

  #onDeath(address: ServerAddress, end: End): void {
    const { id } = address;
    const facts = { member: id, ...end, left: this.#running.size };
    if (end.code === 0) {
      this.#logger.warn(facts, 'ensemble.member-stopped');
      return;
    }
    const isFirstStart = !this.#restarts.has(id);
    const restarts = this.#restarts.get(id) ?? new Restarts();
    this.#restarts.set(id, restarts);
    if (end.code === EXIT_MISTAKE) {
      // At a restart the cause concerns this member alone: its port was taken meanwhile, or its
      // disk is gone.
      this.#logger.error(facts, isFirstStart ? 'ensemble.member-died' : 'ensemble.member-given-up');
      if (!isFirstStart) return;
      this.#exitCode = EXIT_MISTAKE;
      this.stop();
      return;
    }
    const restartInMs = restarts.next(performance.now());
    if (restartInMs === null) {
      const limits = { restarts: RESTARTS_MAX, withinMs: WITHIN_MS };
      this.#logger.error({ ...facts, ...limits }, 'ensemble.member-given-up');
      return;
    }
    this.#logger.error({ ...facts, restartInMs }, 'ensemble.member-died');
    const pause = setTimeout(() => {
      this.#pausing.delete(id);
      this.#start(address);
    }, restartInMs);
    this.#pausing.set(id, pause);
  }

  #killRest(): void {
    for (const [id, { process: child }] of this.#running) {
      this.#logger.error({ member: id, afterMs: STOP_TIMEOUT_MS }, 'ensemble.member-killed');
      child.kill('SIGKILL');
    }
  }

  /**
   * Waits until all members serve, except those that were given up. Then it prints the connect
   * string alone on a line, or for people everything that they want to know.
   */
  async #announce(): Promise<void> {
    const startedMs = performance.now();
    let warned = false;
    for (;;) {
      const waiting = await this.#notServing();
      if (this.#stopping || this.#running.size + this.#pausing.size === 0) return;
      const elapsedMs = Math.round(performance.now() - startedMs);
      if (waiting.length === 0) {
        return await this.#welcome(elapsedMs);
      }
      if (!warned && elapsedMs > SLOW_START_MS) {
        warned = true;
        this.#logger.warn({ waiting, elapsedMs }, 'ensemble.not-serving-yet');
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    }
  }

  async #welcome(elapsedMs: number): Promise<void> {
    const { servers, configPath } = this.#plan;
    const members = this.#running.size;
    const connect = servers
      .map(({ host, clientHost = host, clientPort }) => addressText(clientHost, clientPort))
      .join(',');
    if (!this.#output.isForPeople) {
      this.#logger.info({ members, elapsedMs }, 'ensemble.serving');
      process.stdout.write(`${connect}\n`);
      return;
    }
    const { dataDir } = loadEnsembleConfig(configPath);
    const leader = await this.#leader();
    const { logDir } = this.#output;
    const command = commandOf(process.argv[1] ?? 'rookery', process.cwd());
    const where = { connect, console: this.#console(), configPath, dataDir, logDir };
    process.stdout.write(welcomeText({ command, members, leader, elapsedMs, ...where }));
  }

  /** The address of the console, at the first member that has an admin port. */
  #console(): string | null {
    const { servers, adminHost } = this.#plan;
    const port = servers.find(({ adminPort }) => adminPort !== undefined)?.adminPort;
    const host = isEveryAddress(adminHost) ? 'localhost' : adminHost;
    return port === undefined ? null : `http://${addressText(host, port)}/console/`;
  }

  async #leader(): Promise<number | null> {
    for (const { address } of this.#running.values()) {
      const { id, host, clientHost = host, clientPort: port } = address;
      const server = { host: clientHost, port };
      const text = await askWord(server, 'srvr', POLL_TIMEOUT_MS).catch(() => '');
      if (parseStatus(text)?.mode === 'leader') return id;
    }
    return null;
  }

  async #notServing(): Promise<number[]> {
    const members = [...this.#running.values()];
    const answers = await Promise.all(
      members.map(({ address }) => serviceOf(address, POLL_TIMEOUT_MS)),
    );
    const silent = members.filter((_, index) => answers[index] !== 'serving');
    return [...this.#pausing.keys(), ...silent.map((member) => member.address.id)];
  }
}

/** The heap gets half of the member's memory, because the tree is outside the heap. */
function heapOption(memoryBytes: number): string {
  return `--max-old-space-size=${Math.max(1, Math.floor(memoryBytes / 2 / MEGABYTE))}`;
}

export const RESTARTS_MAX = 5;
export const WITHIN_MS = 60_000;
const FIRST_PAUSE_MS = 500;

/**
 * Decides when a member that ended is started again, and when restarts are given up.
 *
 * The pause doubles with each end within a minute, so that a member that ends at once, because of
 * its disk or a bug, does not keep the machine busy. After five restarts within a minute the next
 * end is the last one. Pure: it is told the time.
 */
export class Restarts {
  /** The times of the restarts that were decided in the last minute. */
  #recent: readonly number[] = [];

  /**
   * Called when a member has ended. Returns how long to wait before it is started again, in ms;
   * null to give up.
   */
  next(nowMs: number): number | null {
    this.#recent = this.#recent.filter((atMs) => nowMs - atMs < WITHIN_MS);
    const { length } = this.#recent;
    if (length >= RESTARTS_MAX) return null;
    this.#recent = [...this.#recent, nowMs];
    return FIRST_PAUSE_MS * 2 ** length;
  }
}

const FILE_BYTES_MAX = 10 << 20;

/**
 * Writes the log of one member of `rookery ensemble` to a file, while the terminal shows something
 * else.
 *
 * It is bounded: a file that has reached FILE_BYTES_MAX becomes `<name>.old` and replaces the one
 * before. Lines that cannot be written (a full disk) are dropped, and the member continues.
 *
 * Throws the system's error when the file cannot be opened.
 */
export function memberLogFile(path: string, bytesMax = FILE_BYTES_MAX): Writable {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let file = openContinuedFileSync(path);
  let bytes = fstatSync(file).size;
  const append = (chunk: Uint8Array): void => {
    if (bytes >= bytesMax) {
      closeSync(file);
      renameSync(path, `${path}.old`);
      file = openContinuedFileSync(path);
      bytes = 0;
    }
    bytes += writeSync(file, chunk);
  };
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      try {
        append(chunk);
      } catch {
        // There is no better place to report the failure.
      }
      done();
    },
    final(done) {
      closeSync(file);
      done();
    },
  });
}
