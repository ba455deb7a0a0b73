/**
 * How much of everything a run does. `--quick` makes all of it small, to see that it works.
 *
 * Scenarios take their sizes from here, so that a figure's size is stated in one place.
 */
export interface Settings {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  /** The duration of a sustained load. */
  readonly minutes: number;
  readonly isQuick: boolean;
  readonly sizes: Sizes;
}

export interface Sizes {
  /** The usual number of keys. */
  readonly keys: number;
  /** A tree large enough to matter for restarts, memory and disk. */
  readonly manyZnodes: number;
  /** The tree under a load during which checkpoints are written. */
  readonly checkpointZnodes: number;
  readonly hotChildren: number;
  readonly sessions: number;
  /** Calls and watches for the measurement of the client library. */
  readonly clientCalls: number;
  readonly clientWatches: number;
  /** How often one run repeats what takes only a moment: failovers, changes of a watched znode. */
  readonly repetitions: number;
}

const FULL: Sizes = {
  keys: 1000,
  manyZnodes: 1_000_000,
  checkpointZnodes: 100_000,
  hotChildren: 100_000,
  sessions: 3000,
  clientCalls: 100_000,
  clientWatches: 10_000,
  repetitions: 5,
};

const QUICK: Sizes = {
  keys: 200,
  manyZnodes: 5000,
  checkpointZnodes: 2000,
  hotChildren: 2000,
  sessions: 100,
  clientCalls: 2000,
  clientWatches: 500,
  repetitions: 1,
};

export function settingsOf(options: {
  readonly rounds: number | undefined;
  readonly seconds: number | undefined;
  readonly warmup: number | undefined;
  readonly minutes: number | undefined;
  readonly quick: boolean;
}): Settings {
  const { quick } = options;
  return {
    rounds: options.rounds ?? (quick ? 1 : 5),
    seconds: options.seconds ?? (quick ? 0.5 : 5),
    warmupSeconds: options.warmup ?? (quick ? 0.2 : 1),
    minutes: options.minutes ?? (quick ? 0.05 : 10),
    isQuick: quick,
    sizes: quick ? QUICK : FULL,
  };
}
