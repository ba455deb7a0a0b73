/**
 * The members of a run. Each is a real process in its own network namespace, with a small disk of
 * its own.
 *
 * This class supervises them: a member that ends without having been killed by the run is a
 * finding, unless its disk was full, and is started again. Each process asks the kernel to end it
 * with this one, and its disk is a tmpfs in this process's mount namespace, so nothing outlives a
 * run. Called by the run and by nemeses.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { digestOf, type MemberStatus, statusOf } from '../harness/four-letter.js';
import { type Exit, Member } from '../harness/member.js';
import { ROOKERY_MAIN } from '../harness/product.js';
import { until } from '../harness/wait.js';
import { command } from './command.js';
import type { Layout } from './namespaces.js';
import type { Security } from './security.js';

export const CLIENT_PORT = 2181;
const PEER_PORT = 2888;
const TICK_TIME_MS = 500;
/** Many times the tree and the log of a run. Full disks take this much memory. */
const DISK_MB = 96;
const RESTART_DELAY_MS = 500;
const LEVEL_DEADLINE_MS = 60_000;
const LOG_LINES_OF_A_FINDING = 12;
const FULL_DISK = /ENOSPC|no space left/i;
const CLOCK_MODULE = new URL('./member-clock.js', import.meta.url).pathname;

export interface MembersOptions {
  readonly layout: Layout;
  /** The run's directory, for logs and configuration; the disks are mounted below it. */
  readonly directory: string;
  /** The `ROOKERY_...` variables that every member gets. */
  readonly environment: Readonly<Record<string, string>>;
  readonly security: Pick<Security, 'settingsOf'>;
  /** Called for each member that ended although the run did not end it. */
  readonly onFinding: (finding: string) => void;
}

export class Members {
  readonly #options: MembersOptions;
  readonly #processes = new Map<number, Member>();
  /** The members that should run; the run has killed the others. */
  readonly #wanted = new Set<number>();
  readonly #paused = new Set<number>();
  /** The members whose process the run has killed, until the process has ended. */
  readonly #ending = new Set<number>();
  /** The members whose disk is full; they may end by themselves. */
  readonly #excused = new Set<number>();

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  get ids(): number[] {
    return this.#options.layout.ids;
  }

  /** The directory with this member's `tree/` and `log/`. */
  directory(id: number): string {
    return join(this.#options.directory, 'disks', String(id));
  }

  /** Mounts the disks and writes the configuration; starts no member. */
  async prepare(): Promise<void> {
    const { directory, layout, security } = this.#options;
    const config = {
      dataDir: join(directory, 'disks'),
      tickTimeMs: TICK_TIME_MS,
      servers: layout.ids.map((id) => ({
        id,
        host: layout.address(id),
        clientPort: CLIENT_PORT,
        peerPort: PEER_PORT,
      })),
    };
    for (const id of this.ids) {
      const configFile = join(directory, `config-${id}.json`);
      const own = { ...config, ...security.settingsOf(id) };
      writeFileSync(configFile, `${JSON.stringify(own, null, 2)}\n`);
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

  /** Starts these members; those that run stay as they are. */
  start(ids: readonly number[] = this.ids): void {
    for (const id of ids) {
      this.#wanted.add(id);
      if (!this.#process(id).running) this.#launch(id);
    }
  }

  /** Kills these members with SIGKILL; resolves when their processes have ended. */
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

  /** Stops these processes with SIGSTOP; a member that does not run stays as it is. */
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

  /** From now on the member may end without a finding; it is still started again. */
  excuse(id: number): void {
    this.#excused.add(id);
  }

  /** Ends the excuse of these members; what happened before stays excused. */
  excuseNoLonger(ids: readonly number[] = this.ids): void {
    for (const id of ids) this.#excused.delete(id);
  }

  /** Sets how far the member's clock is ahead, in this process of the member and later ones. */
  setClock(id: number, offsetMs: number): void {
    writeFileSync(this.#clockFile(id), String(offsetMs));
  }

  /** The present length of the member's log, for `hasLogged`. */
  logMark(id: number): number {
    return this.#process(id).logMark();
  }

  hasLogged(id: number, pattern: RegExp, mark: number): boolean {
    return this.#process(id)
      .linesSince(mark)
      .some((line) => pattern.test(line));
  }

  status(id: number): Promise<MemberStatus | undefined> {
    return statusOf(CLIENT_PORT, this.#options.layout.address(id));
  }

  /** Resolves with the member that reports that it leads; null if none does. */
  async leader(ids: readonly number[] = this.ids): Promise<number | null> {
    const modes = await Promise.all(ids.map(async (id) => (await this.status(id))?.mode));
    const index = modes.indexOf('leader');
    return ids[index] ?? null;
  }

  /** Resolves once all these members serve clients. */
  async serving(deadlineMs: number, ids: readonly number[] = this.ids): Promise<void> {
    for (const id of ids) {
      await until(`member ${id} serves`, deadlineMs, async () => {
        return (await this.status(id)) === undefined ? undefined : true;
      });
    }
  }

  /** Resolves once each member has applied everything that was acknowledged before the call. */
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

  /**
   * Resolves once all are at one zxid: with null if their digests are equal, else with the problem.
   */
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

  /** Ends all members with SIGTERM; any exit code but 0 is a finding. */
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
    // Each of these programs replaces itself by the next, so the child's process id is the
    // member's.
    const inNamespace = ['netns', 'exec', layout.namespace(id)];
    const endsWithUs = ['setpriv', '--pdeathsig', 'KILL'];
    return new Member({
      id,
      clientPort: CLIENT_PORT,
      peerPort: PEER_PORT,
      dataDir: this.directory(id),
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
    // Two nemeses may kill and start a member at one moment; it is then gone although it should
    // run.
    if (!this.#wanted.has(id)) return;
    if (!wasKilled && !this.#isExcused(id, exit)) this.#report(id, `ended with ${describe(exit)}`);
    setTimeout(() => {
      if (this.#wanted.has(id) && !this.#process(id).running) this.#launch(id);
    }, RESTART_DELAY_MS);
  }

  /** A full disk excuses only the exit code that reports a full disk. */
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
