/**
 * The stage of a scenario: an ensemble of processes with operators' ports, a steady load, and an
 * observer that asks what an operator would ask.
 *
 * `play` surrounds one fault: it measures from just before it until the scenario has seen what it
 * waits for, and judges what every scenario promises: no member ended that was not ended on
 * purpose, and no more elections than allowed.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Ensemble, type EnsembleOptions } from '../harness/ensemble.js';
import { httpGet, scrape } from '../harness/http.js';
import type { Member } from '../harness/member.js';
import { ROOKERY_MAIN } from '../harness/product.js';
import { ended } from '../harness/run-to-end.js';
import { nowMs, Pulse, type PulseWindow } from './pulse.js';
import type { Outcome } from './scenario.js';

const SAID_LINES_MAX = 12;
/** Of an ensemble that did not serve, so that there was no load. */
const NOTHING_SEEN: PulseWindow = {
  acknowledgedWrites: 0,
  longestWriteGapMs: 0,
  longestWaitMs: 0,
  connectionsLost: 0,
  errors: {},
};

export interface PlayBounds {
  readonly gapMsMax?: number;
  readonly waitMsMax?: number;
  readonly electionsMax?: number;
  /** Metrics of which the values are reported, by name without labels. */
  readonly metrics?: readonly string[];
}

/** What a scenario adds to an outcome while the fault lasts. */
export interface PlayNotes {
  /** Records that a promise did not hold. */
  broken(sentence: string): void;
  /** Asks `status`, `check`, `/readyz` and the metrics now. */
  observe(): Promise<void>;
  /** Records one more sentence. */
  said(sentence: string): void;
}

export class Stage {
  readonly ensemble: Ensemble;
  #pulse: Pulse | null = null;

  private constructor(ensemble: Ensemble) {
    this.ensemble = ensemble;
  }

  /** A stage on which nothing runs yet: `load` begins the load. */
  static async empty(options: EnsembleOptions = {}): Promise<Stage> {
    return new Stage(await Ensemble.create({ operated: true, ...options }));
  }

  /** The load uses the members at `loadedIds`, by default all. */
  static async set(options: EnsembleOptions = {}, loadedIds?: readonly number[]): Promise<Stage> {
    const settings = { peerTimeoutMs: 1_000, ...options.settings };
    const ensemble = await Ensemble.create({ operated: true, ...options, settings });
    try {
      ensemble.start();
      await ensemble.serving();
      const stage = new Stage(ensemble);
      await stage.load(loadedIds);
      return stage;
    } catch (error) {
      console.log(ensemble.logTails());
      await ensemble.close();
      throw error;
    }
  }

  get pulse(): Pulse {
    if (this.#pulse === null) throw new Error('the load has begun');
    return this.#pulse;
  }

  /** Begins the load; the members serve. */
  async load(ids: readonly number[] = this.ensemble.ids): Promise<void> {
    this.#pulse = await Pulse.start(ids.map((id) => this.ensemble.member(id).clientPort));
  }

  async play(
    fault: string,
    bounds: PlayBounds,
    act: (notes: PlayNotes) => Promise<void>,
  ): Promise<Outcome> {
    const [said, broken]: [string[], string[]] = [[], []];
    const logMarks = this.ensemble.members.map((member) => member.logMark());
    const fromMs = nowMs();
    const notes: PlayNotes = {
      broken: (sentence) => broken.push(sentence),
      said: (sentence) => said.push(sentence),
      observe: async () => void said.push(...(await this.#observe(bounds.metrics ?? []))),
    };
    try {
      await act(notes);
    } catch (error) {
      broken.push(error instanceof Error ? error.message : String(error));
    }
    const seen = (await this.#pulse?.window(fromMs)) ?? NOTHING_SEEN;
    const elections = this.#electionsSince(logMarks);
    const serving: number[] = [];
    for (const member of this.ensemble.running) {
      if ((await member.status()) !== undefined) serving.push(member.id);
    }
    broken.push(...judge(seen, elections, bounds));
    return { fault, seen, elections, serving, said, broken };
  }

  async strike(): Promise<void> {
    await this.#pulse?.stop();
    await this.ensemble.close();
  }

  /** Runs a command of the `rookery` command line against this ensemble. */
  async command(args: readonly string[]): Promise<{ code: number | null; said: string }> {
    const config = join(this.ensemble.directory, 'config-1.json');
    const all = [ROOKERY_MAIN, ...args, '--config', config];
    const result = await ended(spawn(process.execPath, all, { stdio: 'pipe' }));
    return { code: result.code, said: result.said.trim() };
  }

  #electionsSince(marks: readonly number[]): number {
    return this.ensemble.members.reduce((sum, member, index) => {
      const lines = member.linesSince(marks[index] ?? 0);
      return sum + lines.filter((line) => line.includes('"role.leading"')).length;
    }, 0);
  }

  async #observe(metrics: readonly string[]): Promise<string[]> {
    const status = await this.command(['status']);
    const check = await this.command(['check']);
    const said = [...labelled('status', status.said), ...labelled('check', check.said)];
    if (check.said === '') said.push('check: finds nothing');
    for (const member of this.ensemble.running) {
      said.push(...labelled(`/readyz of ${member.id}`, await readyOf(member)));
      for (const [series, value] of await scrape(member.metricsPort).catch(() => new Map())) {
        const name = series.split('{')[0] ?? '';
        if (metrics.includes(name)) said.push(`metrics of ${member.id}: ${series} ${value}`);
      }
    }
    return said;
  }
}

function judge(seen: PulseWindow, elections: number, bounds: PlayBounds): string[] {
  const { gapMsMax = Number.POSITIVE_INFINITY, waitMsMax = Number.POSITIVE_INFINITY } = bounds;
  const { electionsMax = 0 } = bounds;
  const broken: string[] = [];
  if (seen.longestWriteGapMs > gapMsMax) {
    broken.push(`no write was acknowledged for ${Math.round(seen.longestWriteGapMs)} ms`);
  }
  if (seen.longestWaitMs > waitMsMax) {
    broken.push(`a request waited for ${Math.round(seen.longestWaitMs)} ms`);
  }
  if (elections > electionsMax) broken.push(`${elections} elections`);
  return broken;
}

function labelled(label: string, text: string): string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(0, SAID_LINES_MAX).map((line) => `${label}: ${line.trimEnd()}`);
}

async function readyOf(member: Member): Promise<string> {
  const failed = (text: string) => text.split('\n').filter((line) => line.startsWith('[-]'));
  return await httpGet(member.metricsPort, '/readyz').then(
    ({ status, text }) => (status === 200 ? 'ok' : `${status} ${failed(text).join('; ')}`),
    (error: Error) => `no answer (${error.message})`,
  );
}
