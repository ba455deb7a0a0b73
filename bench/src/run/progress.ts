/**
 * Shows progress while the bench runs: which run, which step of it, and how long everything will
 * take.
 *
 * On a terminal, the line of the current run is rewritten in place; elsewhere each run is one line
 * when it ends. The remaining time is measured where a run of the scenario has ended, and estimated
 * otherwise.
 */
import { formatValue } from '../report/units.js';
import type { Measurement } from '../scenarios/scenario.js';
import type { PlannedRun } from './schedule.js';
import type { Settings } from './settings.js';

export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** The time to start and stop an ensemble of its own. */
const FRESH_SECONDS = 5;
const FIGURES_SHOWN = 4;
const CLEAR_LINE = '\r\u001b[K';

export class Progress {
  readonly #planned: readonly PlannedRun[];
  readonly #settings: Settings;
  readonly #output: ProgressOutput;
  /** The duration of the last run, by scenario and system. */
  readonly #seconds = new Map<string, number>();
  #ended = 0;
  #current: PlannedRun | null = null;

  constructor(planned: readonly PlannedRun[], settings: Settings, output: ProgressOutput) {
    this.#planned = planned;
    this.#settings = settings;
    this.#output = output;
  }

  /** The estimated time for all runs that have not ended, in seconds. */
  get secondsLeft(): number {
    return this.#planned.slice(this.#ended).reduce((sum, run) => {
      const { scenario } = run;
      const guess = scenario.secondsAbout(this.#settings) + (scenario.isFresh ? FRESH_SECONDS : 0);
      return sum + (this.#seconds.get(keyOf(run)) ?? guess);
    }, 0);
  }

  onStart(run: PlannedRun): void {
    this.#current = run;
    this.#show('');
  }

  onStep(step: string): void {
    this.#show(`: ${step}`);
  }

  onEnd(measured: Measurement | null, elapsedSeconds: number): void {
    const run = this.#current;
    if (run === null) return;
    this.#seconds.set(keyOf(run), elapsedSeconds);
    this.#ended++;
    this.#line(`${labelOf(run)}  ${measured === null ? 'FAILED' : describe(run, measured)}`);
  }

  onFailure(text: string): void {
    this.#line(text);
  }

  #show(step: string): void {
    if (this.#output.isTTY !== true || this.#current === null) return;
    const at = `[${this.#ended + 1}/${this.#planned.length}]`;
    const left = `about ${formatDuration(this.secondsLeft)} left`;
    this.#output.write(`${CLEAR_LINE}${at} ${labelOf(this.#current)}${step}, ${left}`);
  }

  #line(text: string): void {
    const isTerminal = this.#output.isTTY === true;
    const at = `[${this.#ended}/${this.#planned.length}, ${formatDuration(this.secondsLeft)} left] `;
    this.#output.write(`${isTerminal ? CLEAR_LINE : at}${text}\n`);
  }
}

export function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}

function keyOf({ scenario, system }: PlannedRun): string {
  return `${scenario.name} ${system}`;
}

function labelOf({ scenario, system, round }: PlannedRun): string {
  const which = round === 0 ? 'warm-up' : `round ${round}`;
  return `${scenario.name} ${system} ${which}`;
}

function describe({ scenario }: PlannedRun, measured: Measurement): string {
  const shown = scenario.figures.flatMap(({ key, title, unit }) => {
    const value = measured.values[key];
    return value === undefined ? [] : [`${title} ${formatValue(value, unit)}`];
  });
  const parts = shown.slice(0, FIGURES_SHOWN);
  if (measured.generatorShare !== null) {
    parts.push(`generator ${Math.round(100 * measured.generatorShare)} %`);
  }
  return [...parts, ...measured.troubles.map((trouble) => `!! ${trouble}`)].join('  ');
}
