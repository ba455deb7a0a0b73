/**
 * The local members of one system under test: they are started, stopped, killed, frozen, wiped and
 * measured here.
 *
 * They use only loopback, and ports and a directory of their own. Members are numbered from 0.
 * Nothing here decides what is measured; `SystemUnderTest` is what scenarios see of servers,
 * whether the bench started them or somebody else.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../load/dial.js';
import { ManagedProcess } from './managed-process.js';
import { type EnsembleOptions, type MemberPlan, missingFor, planMembers } from './plan.js';
import { untilServing } from './serving.js';
import { type MemberState, statesOf } from './srvr.js';

export interface EnsembleFacts {
  /** Added up over all members. */
  readonly cpuSeconds: number;
  readonly residentBytes: readonly number[];
  /** The highest memory of each member since it was started. */
  readonly peakResidentBytes: readonly number[];
}

/** `ensemble` is null if the servers were running before; the bench must not touch them then. */
export interface SystemUnderTest {
  readonly name: string;
  readonly hosts: readonly Host[];
  readonly ensemble: Ensemble | null;
}

const START_TIMEOUT_MS = 120_000;
const ASK_AGAIN_MS = 50;

export class Ensemble {
  /** Removes everything that the ensemble has on disk. */
  readonly directory: string;
  readonly #system: string;
  readonly #plans: readonly MemberPlan[];
  readonly #processes: readonly ManagedProcess[];

  private constructor(options: EnsembleOptions) {
    this.directory = options.directory;
    this.#system = options.system;
    this.#plans = planMembers(options);
    this.#processes = this.#plans.map(({ command, prepare }, index) => {
      prepare();
      return new ManagedProcess(command, join(options.directory, `${index + 1}.log`));
    });
  }

  /** Resolves once every member serves; otherwise it throws an error that says what is missing. */
  static async start(options: EnsembleOptions): Promise<Ensemble> {
    const missing = missingFor(options.system, options.baseline);
    if (missing !== null) throw new Error(missing);
    const ensemble = new Ensemble(options);
    try {
      await ensemble.untilServing();
    } catch (error) {
      await ensemble.stop();
      throw error;
    }
    return ensemble;
  }

  get hosts(): readonly Host[] {
    return this.#plans.map(({ host }) => host);
  }

  facts(): EnsembleFacts {
    const facts = this.#processes.map((member) => member.facts());
    return {
      cpuSeconds: facts.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
      residentBytes: facts.map(({ residentBytes }) => residentBytes),
      peakResidentBytes: facts.map(({ peakResidentBytes }) => peakResidentBytes),
    };
  }

  /** Counts the blocks that the data of all members takes, so that holes do not count. */
  diskBytes(): number {
    return this.#plans.reduce((sum, { dataDirectory }) => sum + bytesUnder(dataDirectory), 0);
  }

  /** The number of members that ended without being asked to. */
  get membersEnded(): number {
    return this.#processes.filter((member) => member.hasFailed).length;
  }

  /** The last output of members that ended by themselves; empty if there are none. */
  get failureOutput(): string {
    const ended = this.#processes.filter((member) => member.hasFailed);
    return ended.map((member) => `${member.ending}\n${member.lastOutput}`).join('\n');
  }

  /** The states of these members; null for one that does not answer, or does not serve. */
  async statesOf(members: readonly number[]): Promise<readonly (MemberState | null)[]> {
    return await statesOf(this.hosts.filter((_, index) => members.includes(index)));
  }

  /** Returns the leader; waits for one if there is none. */
  async leader(): Promise<number> {
    const deadlineMs = performance.now() + START_TIMEOUT_MS;
    while (performance.now() < deadlineMs) {
      const states = await statesOf(this.hosts);
      const leader = states.findIndex((state) => state?.mode === 'leader');
      if (leader !== -1) return leader;
      await sleep(ASK_AGAIN_MS);
    }
    throw new Error(`${this.#system} has no leader`);
  }

  async kill(member: number): Promise<void> {
    await this.#process(member).kill();
  }

  freeze(member: number): void {
    this.#process(member).signal('SIGSTOP');
  }

  thaw(member: number): void {
    this.#process(member).signal('SIGCONT');
  }

  startAgain(member: number): void {
    this.#process(member).startAgain();
  }

  /** Removes all data of a member that is not running. */
  wipe(member: number): void {
    const plan = this.#plans[member];
    if (plan === undefined) throw new Error(`there is no member ${member}`);
    if (this.#process(member).isRunning) throw new Error(`member ${member} still runs`);
    rmSync(plan.dataDirectory, { recursive: true, force: true });
    plan.prepare();
  }

  /** Ends all members in the way an operator would. */
  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((member) => member.stop()));
  }

  /** Must be called after `stop`. */
  startAll(): void {
    for (const member of this.#processes) member.startAgain();
  }

  /** Resolves when these members, or all, grant sessions to clients. */
  async untilServing(members: readonly number[] = [...this.#plans.keys()]): Promise<void> {
    const deadlineMs = performance.now() + START_TIMEOUT_MS;
    await Promise.all(members.map((member) => this.#untilServing(member, deadlineMs)));
  }

  async #untilServing(member: number, deadlineMs: number): Promise<void> {
    const host = this.#plans[member]?.host;
    if (host === undefined) throw new Error(`there is no member ${member}`);
    for (;;) {
      const process = this.#process(member);
      if (process.hasFailed || performance.now() >= deadlineMs) {
        throw new Error(`${this.#system} does not serve:\n${process.lastOutput}`);
      }
      const slice = Math.min(deadlineMs, performance.now() + 1000);
      if (await untilServing(host, slice)) return;
    }
  }

  #process(member: number): ManagedProcess {
    const process = this.#processes[member];
    if (process === undefined) throw new Error(`there is no member ${member}`);
    return process;
  }
}

/** A file may vanish meanwhile. */
function bytesUnder(directory: string): number {
  let bytes = 0;
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const stat = statSync(join(directory, name), { throwIfNoEntry: false });
    if (stat?.isFile() === true) bytes += stat.blocks * 512;
  }
  return bytes;
}
