/**
 * Carries out one chaos run inside the clients' namespace, from empty disks to the report.
 *
 * First, members are started and workloads set up without faults. Then strikes alternate with quiet
 * times while workloads and probes run. In the end everything is healed, the final reads are made,
 * the members must agree, and the histories are checked. A step ends when all members serve again,
 * because the run also tests that they come back in time. Called by inside.ts.
 */
import { appendFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../harness/wait.js';
import { Random } from '../simulation/random.js';
import { Availability } from './availability.js';
import { free } from './disks.js';
import { nsFromNow } from './history/history-writer.js';
import { CLIENT_PORT, Members } from './members.js';
import type { Layout } from './namespaces.js';
import { type Field, NEMESES, type Nemesis } from './nemeses/index.js';
import { Network, type WeatherMaker } from './network.js';
import type { ChaosOptions } from './options.js';
import { Plan, type Step } from './plan.js';
import { Probes } from './probes.js';
import { type Report, reportOf, type StepDone } from './report.js';
import { describeSecurity, makeSecurity, planSecurity, type Security } from './security.js';
import { WorkloadRuns } from './workload-runs.js';
import { allWorkloads } from './workloads/all.js';
import type { ConnectTarget } from './workloads/workload.js';

const SERVING_DEADLINE_MS = 60_000;
const AGREEMENT_DEADLINE_MS = 30_000;
/** How long each part of the end may take; abandoned sessions expire in it, and clients give up. */
const END_DEADLINE_MS = 60_000;
/** A queue grows with the run, and its end is read element by element. */
const FINAL_READS_MS_PER_MINUTE = 15_000;
/** Sizes so small that logs are purged all the time, and a member that was away gets a snapshot. */
const TUNINGS = [
  { segment: 64, keep: 128, checkpoint: 64, window: 32 },
  { segment: 256, keep: 1_024, checkpoint: 512, window: 256 },
] as const;
const CONNECT_OPTIONS = {
  sessionTimeoutMs: 4_000,
  connectTimeoutMs: 1_000,
  operationTimeoutMs: 5_000,
  reconnectDelayMaxMs: 500,
} as const;

export interface RunSetup {
  readonly options: ChaosOptions;
  readonly layout: Layout;
  readonly directory: string;
  readonly weather: WeatherMaker | null;
  readonly without: readonly string[];
  /** Prints one line of progress. */
  readonly say: (line: string) => void;
}

export class ChaosRun {
  readonly #setup: RunSetup;
  readonly #members: Members;
  readonly #network: Network;
  readonly #nemeses: readonly Nemesis[];
  readonly #plan: Plan;
  readonly #workloads: WorkloadRuns;
  readonly #probes: Probes;
  readonly #availability = new Availability();
  readonly #findings: string[] = [];
  readonly #steps: StepDone[] = [];

  constructor(setup: RunSetup) {
    const { options, layout, directory } = setup;
    this.#setup = setup;
    const random = new Random(options.seed);
    const onFinding = (finding: string) => this.#onFinding(finding);
    const environment = tuningOf(random.fork('tuning'));
    const plan = planSecurity(random);
    setup.say(describeSecurity(plan));
    const security = makeSecurity(plan, { directory, addressOf: (id) => layout.address(id) });
    this.#members = new Members({ layout, directory, environment, security, onFinding });
    this.#network = new Network(layout, setup.weather);
    this.#nemeses = NEMESES.filter(
      ({ name, needs }) =>
        (options.nemeses?.includes(name) ?? true) &&
        (needs !== 'weather' || setup.weather !== null),
    );
    this.#plan = new Plan(this.#nemeses, random.fork('plan'));
    const target = targetOf(layout, security.connectOptions);
    const workloads = allWorkloads().filter(
      ({ name }) => options.workloads?.includes(name) ?? true,
    );
    this.#workloads = new WorkloadRuns({
      workloads,
      directory,
      target,
      onFinding,
      random: random.fork('workloads'),
      nowNs: nsFromNow(),
    });
    this.#probes = new Probes(target, this.#availability);
  }

  async run(): Promise<Report> {
    const { options, directory, without, say } = this.#setup;
    await this.#members.prepare();
    this.#members.start();
    await this.#members.serving(SERVING_DEADLINE_MS);
    await within('the set-up of workloads', SERVING_DEADLINE_MS, this.#workloads.setup());
    await within('the start of probes', SERVING_DEADLINE_MS, this.#probes.start());
    this.#workloads.start();
    const beganMs = performance.now();
    const endMs = beganMs + options.minutes * 60_000;
    while (performance.now() < endMs && (await this.#step(this.#plan.next(), beganMs, endMs))) {
      // The run ends with a step after which the members did not come back.
    }
    const lastedMs = performance.now() - beganMs;
    await this.#end();
    say('checking the histories');
    const report = reportOf(
      {
        options,
        directory,
        without,
        lastedMs,
        steps: this.#steps,
        workloads: await this.#workloads.check(),
        findings: this.#findings,
      },
      this.#nemeses.map(({ name }) => name),
    );
    if (!report.valid) this.#keepDisks();
    writeFileSync(join(directory, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
    return report;
  }

  /** Returns false if the members did not come back. */
  async #step(step: Step, beganMs: number, endMs: number): Promise<boolean> {
    await sleep(Math.max(0, Math.min(step.calmMs, endMs - performance.now())));
    if (performance.now() >= endMs) return true;
    const kind = step.strikes.map(({ nemesis }) => nemesis).join(' + ');
    const struckMs = performance.now();
    const notes: string[] = [];
    const missed: string[] = [];
    const note = (text: string) => {
      notes.push(text);
      this.#tell(performance.now() - beganMs, `${kind}: ${text}`);
    };
    await Promise.all(
      step.strikes.map(async ({ nemesis, random, holdMs }) => {
        const field = this.#field(note, () => missed.push(nemesis));
        try {
          await this.#nemesis(nemesis).strike(field, random, holdMs);
        } catch (error) {
          missed.push(nemesis);
          this.#onFinding(`${nemesis} failed: ${error}`);
        }
      }),
    );
    const healedMs = performance.now();
    await this.#heal();
    const isBack = await this.#areServing(kind);
    const nowMs = performance.now();
    this.#members.excuseNoLonger();
    const done: StepDone = {
      kind,
      notes,
      missed,
      atMs: struckMs - beganMs,
      lastedMs: nowMs - struckMs,
      recoveryMs: nowMs - healedMs,
      unavailableMs: this.#availability.longestGapMs(struckMs, nowMs),
    };
    this.#steps.push(done);
    const line = `all serve again; ${Math.round(done.unavailableMs)} ms without a write at most`;
    if (isBack) this.#tell(nowMs - beganMs, line);
    return isBack;
  }

  async #heal(): Promise<void> {
    await this.#network.healAll();
    this.#members.resume();
    for (const id of this.#members.ids) {
      free(this.#members.directory(id));
      this.#members.setClock(id, 0);
    }
    this.#members.start();
  }

  async #areServing(after: string): Promise<boolean> {
    try {
      await this.#members.serving(SERVING_DEADLINE_MS);
      return true;
    } catch (error) {
      this.#onFinding(`after ${after}, with everything healed: ${error}`);
      return false;
    }
  }

  /** A part that does not end in time is a finding; the later parts are done all the same. */
  async #end(): Promise<void> {
    await this.#inTime('the workloads end', this.#workloads.stop());
    await this.#inTime('the probes end', this.#probes.stop());
    const readsMs = END_DEADLINE_MS + this.#setup.options.minutes * FINAL_READS_MS_PER_MINUTE;
    await this.#inTime('the final reads', this.#workloads.finish(), readsMs);
    await this.#inTime('the members agree', this.#agree());
    await this.#inTime('the members stop', this.#members.stop());
  }

  async #agree(): Promise<void> {
    const wrong = await this.#members.disagreement(AGREEMENT_DEADLINE_MS);
    if (wrong !== null) this.#onFinding(wrong);
  }

  async #inTime(what: string, work: Promise<void>, deadlineMs = END_DEADLINE_MS): Promise<void> {
    await within(what, deadlineMs, work).catch((error: unknown) => {
      this.#onFinding(`at the end: ${error}`);
    });
  }

  #field(note: (text: string) => void, onMiss: () => void): Field {
    const pause = async (ms: number) => {
      await sleep(ms);
    };
    const miss = (text: string) => {
      onMiss();
      note(text);
    };
    return { members: this.#members, network: this.#network, pause, note, miss };
  }

  #nemesis(name: string): Nemesis {
    const nemesis = this.#nemeses.find((candidate) => candidate.name === name);
    if (nemesis === undefined) throw new Error(`there is no nemesis ${name}`);
    return nemesis;
  }

  #onFinding(finding: string): void {
    this.#findings.push(finding);
    this.#setup.say(`FOUND: ${finding}`);
  }

  #tell(atMs: number, text: string): void {
    this.#setup.say(`${(atMs / 1_000).toFixed(1).padStart(6)} s  ${text}`);
    const line = JSON.stringify({ atMs: Math.round(atMs), text });
    appendFileSync(join(this.#setup.directory, 'faults.jsonl'), `${line}\n`);
  }

  /**
   * Copies the disks, which end with this process; they are evidence of a run that found something.
   */
  #keepDisks(): void {
    for (const id of this.#members.ids) {
      const kept = join(this.#setup.directory, 'disks-at-the-end', String(id));
      mkdirSync(kept, { recursive: true });
      cpSync(this.#members.directory(id), kept, { recursive: true });
    }
  }
}

/** The rest between two rounds of the scrub: damage is to be found while the next step waits. */
const SCRUB_REST_MS = 1_000;

function tuningOf(random: Random): Record<string, string> {
  const { segment, keep, checkpoint, window } = random.pick(TUNINGS);
  return {
    ROOKERY_LOG_SEGMENT_BYTES: String(segment * 1_024),
    ROOKERY_LOG_KEEP_BYTES: String(keep * 1_024),
    ROOKERY_CHECKPOINT_LOG_BYTES: String(checkpoint * 1_024),
    ROOKERY_WINDOW_BYTES: String(window * 1_024),
    ROOKERY_SCRUB_REST_MS: String(SCRUB_REST_MS),
  };
}

function targetOf(layout: Layout, security: Security['connectOptions']): ConnectTarget {
  const servers = layout.ids.map((id) => `${layout.address(id)}:${CLIENT_PORT}`);
  return { connectString: servers.join(','), options: { ...CONNECT_OPTIONS, ...security } };
}
