/**
 * One run of load against an ensemble: sets the keys up, keeps all connections busy, reports.
 *
 * Connections go to the hosts in turn. A connection that breaks is opened again, to the next host,
 * with a new session, until the time is over; what it had outstanding counts as lost. The numbers
 * are those of the measured seconds alone; the warm-up before them and the drain after are not in.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Host, LoadConnection } from './connection.js';
import { Recorder } from './recorder.js';
import {
  type KeySpace,
  keysSource,
  loadSource,
  type OperationName,
  parentSource,
  type RequestSource,
} from './requests.js';

export interface LoadOptions {
  readonly hosts: readonly Host[];
  readonly operation: OperationName;
  readonly connections: number;
  readonly window: number;
  readonly valueBytes: number;
  readonly keys: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
}

export interface LoadResult {
  readonly operation: OperationName;
  readonly connections: number;
  readonly window: number;
  readonly valueBytes: number;
  readonly seconds: number;
  readonly operations: number;
  readonly perSecond: number;
  readonly latencyMs: { p50: number; p99: number; p999: number; max: number };
  /** Fewest operations in any 100 ms, as a rate. */
  readonly slowestTenthPerSecond: number;
  readonly longestSilenceMs: number;
  readonly silencesOver50Ms: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly lostRequests: number;
  readonly lostConnections: number;
  /** Of the generator itself: share of one processor, and its event loop's worst delay. */
  readonly generator: { cpuShare: number; delayMaxMs: number };
}

const READ_BYTES = 256 * 1024;
const SETUP_TIMEOUT_MS = 30_000;
const DRAIN_TIMEOUT_MS = 10_000;
const RECONNECT_AFTER_MS = 50;
const DELAY_RESOLUTION_MS = 5;

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const run = new LoadRun(options);
  await run.open();
  await run.setUp();
  const result = await run.measure();
  await run.close();
  return result;
}

class LoadRun {
  readonly #options: LoadOptions;
  readonly #recorder = new Recorder();
  readonly #readMemory = Buffer.allocUnsafeSlow(READ_BYTES);
  readonly #space: KeySpace;
  readonly #connections = new Map<number, LoadConnection>();
  readonly #sources = new Map<number, RequestSource>();
  #dialled = 0;
  #isRunning = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    // Names never used before, so that runs against one ensemble do not meet.
    const root = `/bench-${Date.now().toString(36)}-${process.pid}`;
    this.#space = { root, keys: options.keys, valueBytes: options.valueBytes };
  }

  async open(): Promise<void> {
    const indexes = Array.from({ length: this.#options.connections }, (_, index) => index);
    await Promise.all(indexes.map((index) => this.#dial(index)));
  }

  /** A connection's own create is answered after everything before it: its member has the keys. */
  async setUp(): Promise<void> {
    for (const [index, connection] of [...this.#connections].sort(([a], [b]) => a - b)) {
      if (index === 0) await this.#setUpWith(connection, keysSource(this.#space));
      await this.#setUpWith(connection, parentSource(this.#space, index));
    }
  }

  async measure(): Promise<LoadResult> {
    const { seconds, warmupSeconds } = this.#options;
    this.#isRunning = true;
    for (const [index, connection] of this.#connections) this.#start(index, connection);
    await sleep(warmupSeconds * 1000);
    const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
    delay.enable();
    const cpu = process.cpuUsage();
    const fromMs = performance.now();
    this.#recorder.measure(fromMs, fromMs + seconds * 1000);
    await sleep(seconds * 1000);
    const spentUs = process.cpuUsage(cpu);
    const elapsedMs = performance.now() - fromMs;
    delay.disable();
    this.#isRunning = false;
    await this.#drain();
    const cpuShare = (spentUs.user + spentUs.system) / 1000 / elapsedMs;
    return this.#result({ cpuShare, delayMaxMs: delay.max / 1e6 - DELAY_RESOLUTION_MS });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
  }

  async #setUpWith(connection: LoadConnection, source: RequestSource): Promise<void> {
    connection.start(source);
    const isDone = await connection.drained(SETUP_TIMEOUT_MS);
    const { errors, lostConnections } = this.#recorder;
    if (isDone && errors.size === 0 && lostConnections === 0) return;
    throw new Error(`the setup failed: ${JSON.stringify(Object.fromEntries(errors))}`);
  }

  async #dial(index: number): Promise<LoadConnection> {
    const { hosts, window } = this.#options;
    const host = hosts[this.#dialled++ % hosts.length];
    if (host === undefined) throw new Error('no hosts given');
    const connection = new LoadConnection({
      host,
      window,
      recorder: this.#recorder,
      readMemory: this.#readMemory,
      onLost: () => void this.#redial(index),
    });
    await connection.connected();
    this.#connections.set(index, connection);
    return connection;
  }

  async #redial(index: number): Promise<void> {
    this.#connections.delete(index);
    while (this.#isRunning) {
      await sleep(RECONNECT_AFTER_MS);
      try {
        this.#start(index, await this.#dial(index));
        return;
      } catch {
        this.#recorder.onError('reconnectFailed');
      }
    }
  }

  #start(index: number, connection: LoadConnection): void {
    if (!this.#isRunning) return;
    // The same source after a reconnect: it knows which names are used up.
    let source = this.#sources.get(index);
    if (source === undefined) {
      source = loadSource(this.#options.operation, this.#space, index);
      this.#sources.set(index, source);
    }
    connection.start(source);
  }

  async #drain(): Promise<void> {
    const open = [...this.#connections.values()];
    const drained = await Promise.all(
      open.map((connection) => {
        connection.stop();
        return connection.drained(DRAIN_TIMEOUT_MS);
      }),
    );
    if (drained.includes(false)) this.#recorder.onError('neverAnswered');
  }

  #result(generator: LoadResult['generator']): LoadResult {
    const { operation, connections, window, valueBytes, seconds } = this.#options;
    const recorder = this.#recorder;
    const { latency, slices } = recorder;
    const operations = latency.count;
    const ms = (percent: number) => latency.percentileUs(percent) / 1000;
    const tenths = Array.from({ length: Math.floor(seconds * 10) }, (_, at) => slices[at] ?? 0);
    return {
      operation,
      connections,
      window,
      valueBytes,
      seconds,
      operations,
      perSecond: operations / seconds,
      latencyMs: { p50: ms(50), p99: ms(99), p999: ms(99.9), max: latency.maxUs / 1000 },
      slowestTenthPerSecond: Math.min(...tenths) * 10,
      longestSilenceMs: recorder.longestSilenceMs,
      silencesOver50Ms: recorder.silences,
      errors: Object.fromEntries(recorder.errors),
      lostRequests: recorder.lostRequests,
      lostConnections: recorder.lostConnections,
      generator,
    };
  }
}
