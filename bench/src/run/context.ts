/**
 * What a scenario's run gets: the servers, the sizes, and loads in processes of their own.
 *
 * Whatever a run started and did not end is ended by `end`, however the run went. Roots are never
 * used twice, so that runs on one ensemble do not meet.
 */
import { type Client, connect } from '@rookery/client';
import { Agent } from '../load/agent.js';
import type { KeySpace } from '../load/key-space.js';
import type { LoadResult } from '../load/load.js';
import type { Workload } from '../load/workloads.js';
import type { Ensemble, SystemUnderTest } from '../systems/ensemble.js';
import { LoadGroup } from './load-group.js';
import type { Settings } from './settings.js';

export interface LoadRequest {
  readonly workload: Workload;
  readonly connections?: number;
  readonly window?: number;
  readonly valueBytes?: number;
  readonly keys?: number;
  /** The znodes of an earlier load; if absent, a root of its own, which is set up first. */
  readonly space?: KeySpace;
  readonly isSetUp?: boolean;
  /** The duration; null means until the workload ends, or `stop` is called. */
  readonly seconds?: number | null;
  readonly warmupSeconds?: number;
  readonly perSecond?: number | null;
  /** With 1, one process hears every answer, and so measures silences exactly. */
  readonly processes?: number;
}

export interface ContextParts {
  readonly system: SystemUnderTest;
  readonly settings: Settings;
  /** The number of generator processes for one load. */
  readonly generators: number;
  readonly onStep: (step: string) => void;
}

const CONNECTIONS = 30;
const WINDOW = 32;
const VALUE_BYTES = 100;

export class Context {
  readonly settings: Settings;
  readonly #parts: ContextParts;
  readonly #ends: (() => Promise<unknown>)[] = [];
  #roots = 0;

  constructor(parts: ContextParts) {
    this.#parts = parts;
    this.settings = parts.settings;
  }

  get system(): SystemUnderTest {
    return this.#parts.system;
  }

  /** Only for a scenario that has declared that it needs processes. */
  get ensemble(): Ensemble {
    const { ensemble } = this.#parts.system;
    if (ensemble === null)
      throw new Error('the bench did not start these servers and must not touch them');
    return ensemble;
  }

  /** Names the current step, which is shown while the run continues. */
  step(text: string): void {
    this.#parts.onStep(text);
  }

  newRoot(): string {
    return `/bench-${Date.now().toString(36)}-${process.pid}-${++this.#roots}`;
  }

  async load(request: LoadRequest): Promise<LoadResult> {
    return await (await this.startLoad(request)).result;
  }

  /** Resolves when the load runs; the end of the run ends it if the scenario did not. */
  async startLoad(request: LoadRequest): Promise<LoadGroup> {
    const { settings, generators, system } = this.#parts;
    const space = request.space ?? {
      root: this.newRoot(),
      keys: request.keys ?? settings.sizes.keys,
      valueBytes: request.valueBytes ?? VALUE_BYTES,
    };
    const group = await LoadGroup.start({
      hosts: system.hosts,
      workload: request.workload,
      space,
      isSetUp: request.isSetUp ?? request.space === undefined,
      connections: request.connections ?? CONNECTIONS,
      window: request.window ?? WINDOW,
      seconds: request.seconds === undefined ? settings.seconds : request.seconds,
      warmupSeconds: request.warmupSeconds ?? settings.warmupSeconds,
      perSecond: request.perSecond ?? null,
      processes: request.processes ?? generators,
    });
    let isOver = false;
    const over = group.result.then(
      () => undefined,
      () => undefined,
    );
    void over.then(() => {
      isOver = true;
    });
    this.#ends.push(async () => {
      if (!isOver) await group.stop();
    });
    return group;
  }

  /** Starts a generator process for purposes other than load. */
  agent(): Agent {
    const agent = new Agent();
    this.#ends.push(() => agent.end());
    return agent;
  }

  /** Opens a client for single requests around a measurement. */
  async client(): Promise<Client> {
    const { tls } = this.system.hosts[0] ?? {};
    const client = await connect(this.connectString, tls === undefined ? {} : { tls });
    this.#ends.push(() => client.close());
    return client;
  }

  get connectString(): string {
    return this.system.hosts.map(({ host, port }) => `${host}:${port}`).join(',');
  }

  /** Registers how something that a scenario started by itself is ended. */
  onEnd(end: () => Promise<unknown>): void {
    this.#ends.push(end);
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
  }
}
