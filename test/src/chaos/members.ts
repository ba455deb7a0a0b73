/**
 * The members of a run: one real process each, in its own namespace, on a small disk of its own.
 *
 * Watches over them as a supervisor does: who ends without having been killed from here is a
 * finding, unless its disk was full, and is started again. Each process asks the kernel to end it
 * with ours, and its disk is a tmpfs of our own mount namespace, so nothing outlives a run. Called
 * by the run and by nemeses.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { digestOf, type MemberStatus, statusOf } from '../harness/four-letter.js';
import { type Exit, Member } from '../harness/member.js';
import { ROOKERY_MAIN } from '../harness/product.js';
import { until } from '../harness/wait.js';
import { command } from './command.js';
import type { Layout } from './namespaces.js';

export const CLIENT_PORT = 2181;
const PEER_PORT = 2888;
const TICK_TIME_MS = 500;
/** Room for a run's tree and log many times over; what fills it up is in memory. */
const DISK_MB = 96;
const RESTART_DELAY_MS = 500;
const LEVEL_DEADLINE_MS = 60_000;
const LOG_LINES_OF_A_FINDING = 12;
const FULL_DISK = /ENOSPC|no space left/i;
const CLOCK_MODULE = new URL('./member-clock.js', import.meta.url).pathname;

export interface MembersOptions {
  readonly layout: Layout;
  /** Of the run: logs and configuration; the disks are mounted below it. */
  readonly directory: string;
  /** `ROOKERY_...` variables for every member. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether members prove to each other that they know a secret. */
  readonly authenticated: boolean;
  /** Told of each end that nobody asked for. */
  readonly onFinding: (finding: string) => void;
}

export class Members {
  readonly #options: MembersOptions;
  readonly #processes = new Map<number, Member>();
  /** Those that are to run: whoever is not among them was killed from here. */
  readonly #wanted = new Set<number>();
  readonly #paused = new Set<number>();
  /** Those whose process was killed from here, until its end is seen. */
  readonly #ending = new Set<number>();
  /** Those whose disk is full: they may end by themselves. */
  readonly #excused = new Set<number>();

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  get ids(): number[] {
    return this.#options.layout.ids;
  }

  /** Where this member's data is: `tree/` and `log/` below it. */
  directory(id: number): string {
    return join(this.#options.directory, 'disks', String(id));
  }

  /** Mounts the disks and writes the configuration; starts none. */
  async prepare(): Promise<void> {
    const { directory, layout, authenticated } = this.#options;
    const secretFile = join(directory, 'peer.secret');
    writeFileSync(secretFile, randomBytes(32).toString('base64'), { mode: 0o600 });
    const config = {
      peerAuth: authenticated ? { secretFile } : 'none',
      dataDir: join(directory, 'disks'),
      tickTimeMs: TICK_TIME_MS,
      servers: layout.ids.map((id) => ({
        ...{ id, host: layout.address(id), clientPort: CLIENT_PORT, peerPort: PEER_PORT },
      })),
    };
    const configFile = join(directory, 'config.json');
    writeFileSync(configFile, `${JSON.stringify(config, null, 2)}\n`);
    for (const id of this.ids) {
      mkdirSync(this.directory(id), { recursive: true });
      const size = `size=${DISK_MB}m`;
      await command('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', this.directory(id)]);
      this.setClock(id, 0);
      this.#processes.set(id, this.#newProcess(id, configFile));
    }
  }

  isRunning(id: number): boolean {
    return this.#process(id).running;
  }

  /** Nothing happens to those that run. */
  start(ids: readonly number[] = this.ids): void {
    for (const id of ids) {
      this.#wanted.add(id);
      if (!this.#process(id).running) this.#launch(id);
    }
  }

  /** SIGKILL; resolves when they are gone. */
  async kill(ids: readonly number[]): Promise<void> {
    for (const id of ids) this.#wanted.delete(id);
    await Promise.all(
      ids.map(async (id) => {
        const process = this.#process(id);
        this.#paused.delete(id);
        if (!process.running) return;
        this.#ending.add(id);
        await process.kill();
      }),
    );
  }

  /** SIGSTOP. One that does not run stays as it is. */
  pause(ids: readonly number[]): void {
    for (const id of ids) {
      if (!this.#process(id).running) continue;
      this.#process(id).freeze();
      this.#paused.add(id);
    }
  }

  resume(ids: readonly number[] = this.ids): void {
    for (const id of ids) {
      if (this.#paused.delete(id) && this.#process(id).running) this.#process(id).thaw();
    }
  }

  /** From now on its end is no finding; it is still started again. */
  excuse(id: number): void {
    this.#excused.add(id);
  }

  /** Ends that happened before are still excused. */
  excuseNoLonger(ids: readonly number[] = this.ids): void {
    for (const id of ids) this.#excused.delete(id);
  }

  /** How far the member's clock is ahead, in its present process and those to come. */
  setClock(id: number, offsetMs: number): void {
    writeFileSync(this.#clockFile(id), String(offsetMs));
  }

  status(id: number): Promise<MemberStatus | undefined> {
    return statusOf(CLIENT_PORT, this.#options.layout.address(id));
  }

  /** The member that says it leads just now. */
  async leader(ids: readonly number[] = this.ids): Promise<number | null> {
    const modes = await Promise.all(ids.map(async (id) => (await this.status(id))?.mode));
    const index = modes.indexOf('leader');
    return ids[index] ?? null;
  }

  /** Resolves once all of these serve clients. */
  async serving(deadlineMs: number, ids: readonly number[] = this.ids): Promise<void> {
    for (const id of ids) {
      await until(`member ${id} serves`, deadlineMs, async () => {
        return (await this.status(id)) === undefined ? undefined : true;
      });
    }
  }

  /** Resolves once each of these has applied everything that was acknowledged before the call. */
  async level(ids: readonly number[]): Promise<void> {
    const zxid = await until('a member leads', LEVEL_DEADLINE_MS, async () => {
      const leader = await this.leader(ids);
      return leader === null ? undefined : (await this.status(leader))?.zxid;
    });
    for (const id of ids) {
      await until(`member ${id} has caught up`, LEVEL_DEADLINE_MS, async () => {
        const status = await this.status(id);
        return (status !== undefined && status.zxid >= zxid) || undefined;
      });
    }
  }

  /** Resolves once all are at one zxid, with what is wrong: null when their digests are equal. */
  async disagreement(deadlineMs: number): Promise<string | null> {
    return await until('all members are at one zxid', deadlineMs, async () => {
      const { layout } = this.#options;
      const digests = await Promise.all(
        this.ids.map((id) => digestOf(CLIENT_PORT, layout.address(id))),
      );
      const [first] = digests;
      const said = digests.map(({ zxid, digest }) => `${zxid.toString(16)}:${digest}`).join(' ');
      if (digests.some(({ zxid }) => zxid !== first?.zxid)) throw new Error(said);
      const areEqual = digests.every(({ digest }) => digest === first?.digest);
      return { wrong: areEqual ? null : `digests differ at one zxid: ${said}` };
    }).then(({ wrong }) => wrong);
  }

  /** SIGTERM to all; an end with another code than 0 is a finding. */
  async stop(): Promise<void> {
    this.#wanted.clear();
    this.resume();
    await Promise.all(
      this.ids.map(async (id) => {
        const process = this.#process(id);
        if (!process.running) return;
        const exit = await process.stop();
        if (exit.code !== 0) this.#report(id, `ended with ${describe(exit)} when asked to stop`);
      }),
    );
  }

  #newProcess(id: number, configFile: string): Member {
    const { layout, directory, environment } = this.#options;
    const server = ['server', '--config', configFile, '--id', String(id)];
    const node = ['--import', pathToFileURL(CLOCK_MODULE).href, ROOKERY_MAIN, ...server];
    // All of these replace themselves by the next, so the child's process id is the member's.
    const inNamespace = ['netns', 'exec', layout.namespace(id)];
    const endsWithUs = ['setpriv', '--pdeathsig', 'KILL'];
    return new Member({
      ...{ id, clientPort: CLIENT_PORT, peerPort: PEER_PORT, dataDir: this.directory(id) },
      logFile: join(directory, `member-${id}.log`),
      command: {
        file: 'ip',
        args: [...inNamespace, ...endsWithUs, process.execPath, ...node],
        environment: { ...environment, ROOKERY_CHAOS_CLOCK: this.#clockFile(id) },
      },
    });
  }

  #launch(id: number): void {
    const process = this.#process(id);
    process.start();
    process.exited.then(
      (exit) => this.#onExit(id, exit),
      (error: unknown) => this.#report(id, `could not be started: ${error}`),
    );
  }

  #onExit(id: number, exit: Exit): void {
    const wasKilled = this.#ending.delete(id);
    // Killed and started again by two nemeses in one moment: wanted, and gone as it should be.
    if (!this.#wanted.has(id)) return;
    if (!wasKilled && !this.#isExcused(id, exit)) this.#report(id, `ended with ${describe(exit)}`);
    setTimeout(() => {
      if (this.#wanted.has(id) && !this.#process(id).running) this.#launch(id);
    }, RESTART_DELAY_MS);
  }

  /** Full disks are no excuse for another end than the one that says so. */
  #isExcused(id: number, { code }: Exit): boolean {
    return this.#excused.has(id) && code === 1 && FULL_DISK.test(this.#lastLines(id));
  }

  #lastLines(id: number): string {
    const lines = this.#process(id).log().trimEnd().split('\n');
    return lines.slice(-LOG_LINES_OF_A_FINDING).join('\n    ');
  }

  #report(id: number, what: string): void {
    this.#options.onFinding(`member ${id} ${what}\n    ${this.#lastLines(id)}`);
  }

  #clockFile(id: number): string {
    return join(this.#options.directory, `clock-${id}`);
  }

  #process(id: number): Member {
    const process = this.#processes.get(id);
    if (process === undefined) throw new Error(`there is no member ${id}`);
    return process;
  }
}

function describe({ code, signal }: Exit): string {
  return signal === null ? `code ${code}` : signal;
}
