/**
 * Runs scenarios on the systems alternately, round by round, and collects what they measured.
 *
 * Within a scenario the rounds alternate between the systems. Where ensembles are shared, a round
 * that does not count comes first, because a JVM compiles. Ensembles live as long as scenarios of
 * their kind follow each other. A run that fails is reported and left out, and the others continue.
 * The system that is not being measured is idle.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from '../report/results.js';
import { GENERATOR_SHARE_MAX } from '../scenarios/load-figures.js';
import type { Measurement, Scenario } from '../scenarios/scenario.js';
import { Ensemble, type SystemUnderTest } from '../systems/ensemble.js';
import { SYSTEMS, type SystemName } from '../systems/plan.js';
import { isElectionBetween, statesOf } from '../systems/srvr.js';
import { readProcessorTime, STOLEN_SHARE_MAX, stolenShare } from '../systems/stolen-time.js';
import { Context } from './context.js';
import type { Progress } from './progress.js';
import type { PlannedRun } from './schedule.js';
import type { Settings } from './settings.js';

export interface RunnerOptions {
  readonly settings: Settings;
  readonly directory: string;
  readonly basePort: number;
  readonly generators: number;
  readonly profileDirectory: string | null;
  /** Whether the members' directories are kept. */
  readonly isKept: boolean;
  /** The products whose ensembles are started, or servers that are running already. */
  readonly systems: readonly SystemName[] | SystemUnderTest;
  /** The checkout that the system `baseline` runs; null if there is none. */
  readonly baseline: string | null;
}

interface Shared {
  /** Ensembles of other kinds are no longer needed. */
  readonly kind: string;
  readonly ensemble: Ensemble;
}

/** More than ADMIN_PORT, which is the largest distance between two ports of a member. */
const PORTS_PER_SYSTEM = 500;

export class Runner {
  readonly #options: RunnerOptions;
  readonly #progress: Progress;
  readonly #shared = new Map<SystemName, Shared>();
  readonly #runs: Run[] = [];
  #ensembles = 0;

  constructor(options: RunnerOptions, progress: Progress) {
    this.#options = options;
    this.#progress = progress;
  }

  /**
   * `onRuns` receives all runs made so far after each run, because a long bench may be interrupted.
   */
  async runAll(
    planned: readonly PlannedRun[],
    onRuns: (runs: readonly Run[]) => void,
  ): Promise<readonly Run[]> {
    try {
      for (const { scenario, system, round } of planned) {
        const startedMs = performance.now();
        this.#progress.onStart({ scenario, system, round });
        const measured = await this.#runOnce(scenario, system);
        this.#progress.onEnd(measured, (performance.now() - startedMs) / 1000);
        if (measured === null || round === 0) continue;
        this.#runs.push({ scenario: scenario.name, system, round, measurement: measured });
        onRuns(this.#runs);
      }
    } finally {
      await this.#stopShared();
    }
    return this.#runs;
  }

  async #runOnce(scenario: Scenario, system: string): Promise<Measurement | null> {
    let ensemble: Ensemble | null = null;
    try {
      const subject = await this.#subject(scenario, system);
      ensemble = subject.ensemble;
      return await this.#measure(scenario, subject);
    } catch (error) {
      this.#progress.onFailure(error instanceof Error ? (error.stack ?? '') : String(error));
      // The ensemble may be in any state, so nothing else may be measured on it.
      await this.#stopShared();
      return null;
    } finally {
      if (ensemble !== null && ensemble.failureOutput !== '') {
        this.#progress.onFailure(ensemble.failureOutput);
      }
      if (ensemble !== null && scenario.isFresh) await this.#remove(ensemble);
    }
  }

  async #measure(scenario: Scenario, system: SystemUnderTest): Promise<Measurement> {
    const { settings, generators } = this.#options;
    const onStep = (step: string) => this.#progress.onStep(step);
    const context = new Context({ system, settings, generators, onStep });
    try {
      const before = await statesOf(system.hosts);
      const timeBefore = readProcessorTime();
      const measured = await scenario.run(context);
      const stolen = stolenShare(timeBefore, readProcessorTime());
      const after = await statesOf(system.hosts);
      const troubles = [...measured.troubles];
      if (!scenario.isDisruptive && isElectionBetween(before, after)) troubles.push('ELECTION');
      const share = measured.generatorShare;
      if (share !== null && share > GENERATOR_SHARE_MAX) {
        troubles.push(`the generator was busy (${Math.round(100 * share)} % of a processor)`);
      }
      if (stolen !== null && stolen > STOLEN_SHARE_MAX) {
        troubles.push(
          `the machine's host kept ${Math.round(100 * stolen)} % of the processor time`,
        );
      }
      return { ...measured, troubles, stolenShare: stolen };
    } finally {
      await context.end();
    }
  }

  async #subject(scenario: Scenario, name: string): Promise<SystemUnderTest> {
    const { systems } = this.#options;
    if ('hosts' in systems) return systems;
    const system = systems.find((one) => one === name);
    if (system === undefined) throw new Error(`there is no system ${name}`);
    if (scenario.isFresh) {
      await this.#stopShared();
      const ensemble = await this.#start(scenario, system);
      return { name, hosts: ensemble.hosts, ensemble };
    }
    const { members, javaHeapMegabytes, memberSettings } = scenario;
    const kind = JSON.stringify([members, javaHeapMegabytes, memberSettings]);
    for (const [other, shared] of this.#shared) {
      if (shared.kind === kind) continue;
      await this.#remove(shared.ensemble);
      this.#shared.delete(other);
    }
    const ensemble = this.#shared.get(system)?.ensemble ?? (await this.#start(scenario, system));
    this.#shared.set(system, { kind, ensemble });
    return { name, hosts: ensemble.hosts, ensemble };
  }

  async #start(scenario: Scenario, system: SystemName): Promise<Ensemble> {
    const { directory, basePort, baseline, profileDirectory } = this.#options;
    const { members, javaHeapMegabytes, isRookeryOnly } = scenario;
    // An earlier build may not know the ports for operators, and ZooKeeper has none.
    const mayHavePorts = system === 'rookery' || isRookeryOnly;
    const memberSettings = mayHavePorts
      ? scenario.memberSettings
      : { ...scenario.memberSettings, isOperated: false };
    this.#progress.onStep('starting');
    // The directory is named after the scenario for which the ensemble was started; others may
    // share it.
    const name = `${++this.#ensembles}-${system}-${scenario.name}`;
    return await Ensemble.start({
      system,
      baseline,
      directory: join(directory, name),
      members,
      basePort: basePort + PORTS_PER_SYSTEM * SYSTEMS.indexOf(system),
      javaHeapMegabytes,
      memberSettings,
      profileDirectory: profileDirectory === null ? null : join(profileDirectory, name),
    });
  }

  async #stopShared(): Promise<void> {
    for (const { ensemble } of this.#shared.values()) await this.#remove(ensemble);
    this.#shared.clear();
  }

  async #remove(ensemble: Ensemble): Promise<void> {
    await ensemble.stop();
    if (!this.#options.isKept) rmSync(ensemble.directory, { recursive: true, force: true });
  }
}
