/** The totals over all runs of a campaign: seeds, requests, simulated time, faults by kind. */
import { MARK_NAMES, MARKS, type Mark } from './marks.js';
import type { RunResult } from './verdict.js';

export class Totals {
  seeds = 0;
  requests = 0;
  simulatedMs = 0;
  steps = 0;
  applied = 0;
  watchEvents = 0;
  overheard = 0;
  /** The slowest of all runs, from the healing of everything. */
  slowestConvergenceMs = 0;
  /** The runs in which a quorum was healed first, and the longest time until it served. */
  quorums = 0;
  slowestQuorumMs = 0;
  /** By mark, how often it was seen and in how many runs. */
  readonly #marks = new Map<Mark, { readonly times: number; readonly runs: number }>();
  readonly #begun = new Map<string, number>();
  readonly #leftOut = new Map<string, number>();

  add(result: RunResult): void {
    this.seeds += 1;
    this.requests += result.requests;
    this.simulatedMs += result.simulatedMs;
    this.steps += result.counts.steps;
    this.applied += result.counts.applied;
    this.watchEvents += result.counts.watchEvents;
    this.overheard += result.counts.overheard;
    this.slowestConvergenceMs = Math.max(this.slowestConvergenceMs, result.convergedAfterMs);
    this.quorums += result.quorumServedAfterMs > 0 ? 1 : 0;
    this.slowestQuorumMs = Math.max(this.slowestQuorumMs, result.quorumServedAfterMs);
    for (const [mark, count] of result.marks) {
      const { times, runs } = this.#marks.get(mark) ?? { times: 0, runs: 0 };
      this.#marks.set(mark, { times: times + count, runs: runs + 1 });
    }
    addAll(this.#begun, result.begun);
    addAll(this.#leftOut, result.leftOut);
  }

  /** The named events that no run has seen. */
  get unseen(): readonly Mark[] {
    return MARK_NAMES.filter((mark) => !this.#marks.has(mark));
  }

  get faults(): number {
    return sum(this.#begun);
  }

  /** One line, for progress. */
  line(tookMs: number): string {
    const perMinute = Math.round(this.requests / (tookMs / 60_000));
    return [
      `${this.seeds} seeds`,
      `${this.requests} requests (${perMinute} a minute)`,
      `${(this.simulatedMs / 60_000).toFixed(1)} min simulated in ${(tookMs / 60_000).toFixed(1)}`,
      `${this.faults} faults`,
    ].join(', ');
  }

  text(tookMs: number): string {
    const kinds = [...this.#begun.keys(), ...this.#leftOut.keys()];
    const faults = [...new Set(kinds)].sort().map((kind) => {
      const begun = this.#begun.get(kind) ?? 0;
      const leftOut = this.#leftOut.get(kind) ?? 0;
      return `  ${kind.padEnd(20)} ${begun}${leftOut > 0 ? ` (${leftOut} left out)` : ''}`;
    });
    const seen = [
      `${this.steps} steps of cores`,
      `${this.applied} transactions applied`,
      `${this.watchEvents} watch events`,
      `${this.overheard} things told where clients had left`,
      `${this.quorums} quorums healed first`,
      `the slowest served after ${(this.slowestQuorumMs / 1000).toFixed(1)} s`,
      `slowest convergence ${(this.slowestConvergenceMs / 1000).toFixed(1)} s simulated`,
    ].join(', ');
    return [this.line(tookMs), seen, ...faults, ...this.#coverage()].join('\n');
  }

  #coverage(): readonly string[] {
    return MARK_NAMES.map((mark) => {
      const { times, runs } = this.#marks.get(mark) ?? { times: 0, runs: 0 };
      const share = Math.round((100 * runs) / Math.max(1, this.seeds));
      const seen = runs === 0 ? 'never' : `${times} times, in ${share} % of the seeds`;
      return `  ${mark.padEnd(22)} ${seen.padEnd(34)} ${MARKS[mark]}`;
    });
  }

  json(tookMs: number): Record<string, unknown> {
    const { seeds, requests, simulatedMs, steps, applied, watchEvents, overheard } = this;
    const { slowestConvergenceMs, quorums, slowestQuorumMs } = this;
    return {
      seeds,
      requests,
      simulatedMs,
      tookMs,
      steps,
      applied,
      watchEvents,
      overheard,
      slowestConvergenceMs,
      quorums,
      slowestQuorumMs,
      faults: Object.fromEntries(this.#begun),
      leftOut: Object.fromEntries(this.#leftOut),
      marks: Object.fromEntries(this.#marks),
    };
  }
}

function addAll(totals: Map<string, number>, counts: ReadonlyMap<string, number>): void {
  for (const [kind, count] of counts) totals.set(kind, (totals.get(kind) ?? 0) + count);
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((all, count) => all + count, 0);
}
