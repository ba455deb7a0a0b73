/**
 * One load spread over several generator processes, and its results as if it were one.
 *
 * One of the processes first creates the znodes that the workload needs. Connections are
 * distributed evenly. The fewest silences that any process heard are what counts: while one process
 * hears answers, the system is not silent.
 */
import { Agent } from '../load/agent.js';
import type { Host } from '../load/dial.js';
import { Histogram } from '../load/histogram.js';
import type { KeySpace } from '../load/key-space.js';
import type { LoadOptions, LoadResult } from '../load/load.js';
import type { Workload } from '../load/workloads.js';

export interface GroupOptions {
  readonly hosts: readonly Host[];
  readonly workload: Workload;
  readonly space: KeySpace;
  /** False if the znodes exist already. */
  readonly isSetUp: boolean;
  readonly connections: number;
  readonly window: number;
  readonly seconds: number | null;
  readonly warmupSeconds: number;
  readonly perSecond: number | null;
  readonly processes: number;
}

export class LoadGroup {
  readonly #agents: readonly Agent[];
  readonly #result: Promise<LoadResult>;

  private constructor(agents: readonly Agent[]) {
    this.#agents = agents;
    this.#result = this.#run();
  }

  /** Resolves when the load runs. */
  static async start(options: GroupOptions): Promise<LoadGroup> {
    const agents = Array.from(
      { length: Math.min(options.processes, options.connections) },
      () => new Agent(),
    );
    try {
      if (options.isSetUp) await agents[0]?.call('setUp', options);
      let firstConnection = 0;
      const opened = shares(options.connections, agents.length).map((connections, index) => {
        const part = partOf(options, { firstConnection, connections });
        firstConnection += connections;
        return agents[index]?.call('openLoad', part);
      });
      await Promise.all(opened);
    } catch (error) {
      await Promise.all(agents.map((agent) => agent.end()));
      throw error;
    }
    return new LoadGroup(agents);
  }

  /** Resolves when the load has ended by itself, or by `stop`. */
  get result(): Promise<LoadResult> {
    return this.#result;
  }

  async stop(): Promise<LoadResult> {
    await Promise.all(this.#agents.map((agent) => agent.call('stopLoad')));
    return await this.#result;
  }

  async #run(): Promise<LoadResult> {
    try {
      const results = await Promise.all(this.#agents.map((agent) => agent.call('measureLoad')));
      await Promise.all(this.#agents.map((agent) => agent.call('closeLoad')));
      return merged(results);
    } finally {
      await Promise.all(this.#agents.map((agent) => agent.end()));
    }
  }
}

function partOf(
  options: GroupOptions,
  seats: { readonly firstConnection: number; readonly connections: number },
): LoadOptions {
  const { hosts, workload, space, window, seconds, warmupSeconds, perSecond } = options;
  const share = seats.connections / options.connections;
  return {
    hosts,
    workload,
    space,
    window,
    seconds,
    warmupSeconds,
    ...seats,
    connectionsInAll: options.connections,
    perSecond: perSecond === null ? null : perSecond * share,
  };
}

/** Returns shares that are as even as whole numbers allow. */
export function shares(total: number, parts: number): readonly number[] {
  return Array.from(
    { length: parts },
    (_, index) => Math.floor(((index + 1) * total) / parts) - Math.floor((index * total) / parts),
  );
}

export function merged(results: readonly LoadResult[]): LoadResult {
  const slices: number[] = [];
  const slowestMs: number[] = [];
  const errors: Record<string, number> = {};
  for (const result of results) {
    for (const [at, count] of result.slices.entries()) slices[at] = (slices[at] ?? 0) + count;
    for (const [at, ms] of result.slowestMs.entries()) {
      slowestMs[at] = Math.max(slowestMs[at] ?? 0, ms);
    }
    for (const [name, count] of Object.entries(result.errors)) {
      errors[name] = (errors[name] ?? 0) + count;
    }
  }
  const sum = (of: (result: LoadResult) => number) =>
    results.reduce((all, one) => all + of(one), 0);
  const max = (of: (result: LoadResult) => number) => Math.max(...results.map(of));
  return {
    seconds: max((result) => result.seconds),
    operations: sum((result) => result.operations),
    latency: Histogram.of(results.map((result) => result.latency)).toData(),
    slices,
    slowestMs,
    longestSilenceMs: Math.min(...results.map((result) => result.longestSilenceMs)),
    silencesOver50Ms: Math.min(...results.map((result) => result.silencesOver50Ms)),
    errors,
    lostRequests: sum((result) => result.lostRequests),
    lostConnections: sum((result) => result.lostConnections),
    generator: {
      cpuShare: max((result) => result.generator.cpuShare),
      delayMaxMs: max((result) => result.generator.delayMaxMs),
    },
  };
}
