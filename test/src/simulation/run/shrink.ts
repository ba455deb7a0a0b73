/**
 * Shrinks a failing run: fewer faults, fewer clients, a shorter time, fewer members, while the same
 * property breaks.
 *
 * Faults are omitted by delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating
 * Failure-Inducing Input"): halves, then quarters, until no single one can be omitted. It is
 * bounded by a number of runs. It knows nothing about a run but its result, so that tests can
 * supply one of their own.
 */
import type { RunOptions } from './options.js';
import { planOf } from './plan.js';
import type { RunResult } from './verdict.js';

export interface ShrinkSetup {
  readonly run: (options: RunOptions) => Promise<RunResult>;
  readonly runsMax: number;
  /** Called for each smaller run that still fails. */
  readonly onSmaller?: (options: RunOptions) => void;
}

export interface Shrunk {
  readonly options: RunOptions;
  readonly result: RunResult;
  readonly runs: number;
}

/** `result` is the result of `options`: a failure. */
export async function shrink(
  options: RunOptions,
  result: RunResult,
  setup: ShrinkSetup,
): Promise<Shrunk> {
  return await new Shrinking(options, result, setup).toEnd();
}

class Shrinking {
  readonly #setup: ShrinkSetup;
  readonly #property: string;
  #options: RunOptions;
  #result: RunResult;
  #runs = 0;

  constructor(options: RunOptions, result: RunResult, setup: ShrinkSetup) {
    if (result.failure === null) throw new Error('a run that passed cannot be shrunk');
    this.#setup = setup;
    this.#property = result.failure.property;
    this.#options = options;
    this.#result = result;
  }

  async toEnd(): Promise<Shrunk> {
    await this.#cutTail();
    for (;;) {
      const before = this.#options;
      await this.#dropFaults();
      await this.#dropClients();
      await this.#shorten();
      await this.#dropMembers();
      if (this.#options === before || this.#isSpent) break;
    }
    return { options: this.#options, result: this.#result, runs: this.#runs };
  }

  get #isSpent(): boolean {
    return this.#runs >= this.#setup.runsMax;
  }

  /** Keeps the options if the run still breaks the same property. */
  async #try(change: Partial<RunOptions>): Promise<boolean> {
    if (this.#isSpent) return false;
    this.#runs += 1;
    const options = { ...this.#options, ...change };
    const result = await this.#setup.run(options);
    if (result.failure?.property !== this.#property) return false;
    this.#options = options;
    this.#result = result;
    this.#setup.onSmaller?.(options);
    return true;
  }

  /** What comes after the failure cannot be its cause, provided it broke in the safety phase. */
  async #cutTail(): Promise<void> {
    const durationMs = Math.ceil(this.#result.simulatedMs);
    if (durationMs < this.#options.durationMs) await this.#try({ durationMs });
    await this.#try({ only: indicesOf(this.#options) });
    if (this.#options.quorumFirst) await this.#try({ quorumFirst: false });
  }

  async #dropFaults(): Promise<void> {
    let indices = indicesOf(this.#options);
    let size = indices.length;
    while (size > 0 && !this.#isSpent) {
      const before = indices.length;
      for (let from = 0; from < indices.length; ) {
        const only = [...indices.slice(0, from), ...indices.slice(from + size)];
        if (await this.#try({ only })) indices = only;
        else from += size;
      }
      if (size === 1 && indices.length === before) return;
      size = Math.min(indices.length, Math.ceil(size / 2));
    }
  }

  async #dropClients(): Promise<void> {
    await this.#lower(1, this.#options.clients.count, (count) => ({
      clients: { ...this.#options.clients, count },
    }));
  }

  async #shorten(): Promise<void> {
    await this.#lower(100, this.#options.durationMs, (durationMs) => ({ durationMs }));
  }

  async #dropMembers(): Promise<void> {
    const { members } = this.#options;
    for (let fewer = 1; fewer < members; fewer++) {
      if (await this.#try({ members: fewer })) return;
    }
  }

  /**
   * Returns the least number that still fails, where a failure of one implies a failure of all
   * above it.
   */
  async #lower(
    least: number,
    now: number,
    change: (value: number) => Partial<RunOptions>,
  ): Promise<void> {
    let [low, high] = [least, now];
    while (low < high && !this.#isSpent) {
      const middle = Math.floor((low + high) / 2);
      if (await this.#try(change(middle))) high = middle;
      else low = Math.max(middle + 1, Math.ceil(low + (high - low) / 4));
    }
  }
}

function indicesOf(options: RunOptions): readonly number[] {
  return planOf(options)
    .map((fault) => fault.index)
    .sort((a, b) => a - b);
}
