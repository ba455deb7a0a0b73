/**
 * One run of load: keeps all its connections busy, and counts what comes back.
 *
 * Connections are distributed over the hosts round-robin. A connection that breaks is opened again,
 * to the next host, with its session, until the time is over; what it had outstanding counts as
 * lost. The figures are those of the measured time alone, without the warm-up before it and the
 * drain after it. The time ends after the requested seconds, at `stop`, or when the workload has no
 * more requests.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { LoadConnection, SessionGoneError } from './connection.js';
import type { Host } from './dial.js';
import type { Session } from './handshake.js';
import type { HistogramData } from './histogram.js';
import type { KeySpace } from './key-space.js';
import { Pace } from './pace.js';
import { Recorder } from './recorder.js';
import { runToEnd, syncSource } from './setup.js';
import { type RequestSource, sourceOf, type Workload } from './workloads.js';

export interface LoadOptions {
  readonly hosts: readonly Host[];
  readonly workload: Workload;
  readonly space: KeySpace;
  readonly connections: number;
  /** The number of this process's first connection among all connections of the load. */
  readonly firstConnection: number;
  readonly connectionsInAll: number;
  readonly window: number;
  /** The duration; null means until the workload ends, or `stop` is called. */
  readonly seconds: number | null;
  readonly warmupSeconds: number;
  /** The rate of this process; null for as fast as possible. */
  readonly perSecond: number | null;
}

export interface LoadResult {
  /** The duration of the measurement. */
  readonly seconds: number;
  readonly operations: number;
  readonly latency: HistogramData;
  /** The number of operations completed in each tenth of a second. */
  readonly slices: readonly number[];
  /** The slowest operation of each tenth of a second, in ms. */
  readonly slowestMs: readonly number[];
  readonly longestSilenceMs: number;
  readonly silencesOver50Ms: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly lostRequests: number;
  readonly lostConnections: number;
  /**
   * These two are about the generator itself: its share of one processor, and the longest delay of
   * its event loop.
   */
  readonly generator: { readonly cpuShare: number; readonly delayMaxMs: number };
}

const READ_BYTES = 256 * 1024;
const SESSION_TIMEOUT_MS = 30_000;
const DRAIN_TIMEOUT_MS = 10_000;
const OPEN_TIMEOUT_MS = 30_000;
const REDIAL_AFTER_MS = 10;
const DELAY_RESOLUTION_MS = 5;
const PACE_TICK_MS = 1;
const FOREVER_MS = 86_400_000;

interface ConnectionSlot {
  readonly index: number;
  readonly source: RequestSource;
  connection: LoadConnection | null;
  session: Session | null;
  pace: Pace | null;
}

export class LoadRun {
  readonly #options: LoadOptions;
  readonly #recorder = new Recorder();
  readonly #readMemory = Buffer.allocUnsafeSlow(READ_BYTES);
  readonly #slots: readonly ConnectionSlot[];
  #dialled = 0;
  /** While true, connections that break are opened again. */
  #isOpen = true;
  #isRunning = false;
  #stop: () => void = () => undefined;
  readonly #stopped = new Promise<void>((resolve) => {
    this.#stop = resolve;
  });

  constructor(options: LoadOptions) {
    this.#options = options;
    const { workload, space, firstConnection, connectionsInAll: connections } = options;
    this.#dialled = firstConnection;
    this.#slots = Array.from({ length: options.connections }, (_, index) => ({
      index,
      source: sourceOf(workload, space, { connection: firstConnection + index, connections }),
      connection: null,
      session: null,
      pace: null,
    }));
  }

  /** Connects; each connection sees everything that was committed before. */
  async open(): Promise<void> {
    await Promise.all(
      this.#slots.map(async (slot) => {
        const connection = await this.#dialAnywhere(slot);
        await runToEnd(connection, syncSource(this.#options.space.root), this.#recorder);
      }),
    );
  }

  async measure(): Promise<LoadResult> {
    const { seconds, warmupSeconds } = this.#options;
    this.#isRunning = true;
    this.#setPaces();
    for (const slot of this.#slots) this.#start(slot);
    const ticks = setInterval(() => this.#tick(), PACE_TICK_MS);
    if (this.#options.perSecond === null) clearInterval(ticks);
    await Promise.race([sleep(warmupSeconds * 1000), this.#stopped]);
    const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
    delay.enable();
    const cpu = process.cpuUsage();
    const fromMs = performance.now();
    this.#recorder.measure(fromMs, fromMs + (seconds ?? FOREVER_MS / 1000) * 1000);
    await this.#ending(seconds);
    const spentUs = process.cpuUsage(cpu);
    const elapsedMs = performance.now() - fromMs;
    this.#recorder.end(performance.now());
    delay.disable();
    clearInterval(ticks);
    this.#isRunning = false;
    this.#isOpen = false;
    await this.#drain();
    const cpuShare = (spentUs.user + spentUs.system) / 1000 / elapsedMs;
    const generator = { cpuShare, delayMaxMs: delay.max / 1e6 - DELAY_RESOLUTION_MS };
    return this.#result(Math.min(seconds ?? Number.POSITIVE_INFINITY, elapsedMs / 1000), generator);
  }

  stop(): void {
    this.#stop();
  }

  async close(): Promise<void> {
    await Promise.all(this.#slots.map(({ connection }) => connection?.close()));
  }

  async #ending(seconds: number | null): Promise<void> {
    const timer = new AbortController();
    const isOver =
      seconds === null
        ? Promise.all(this.#slots.map((slot) => this.#untilExhausted(slot)))
        : sleep(seconds * 1000, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([isOver, this.#stopped]);
    timer.abort();
  }

  /** This never resolves for a workload that has no end. */
  async #untilExhausted(slot: ConnectionSlot): Promise<void> {
    for (;;) {
      const { connection } = slot;
      if (connection === null) await sleep(REDIAL_AFTER_MS);
      else await connection.drained(FOREVER_MS);
      // A connection that broke has nothing outstanding; its successor continues in its place.
      if (connection !== null && slot.connection === connection) return;
      if (!this.#isRunning) return;
    }
  }

  /** The first requests are spread over the interval, so that not all connections send at once. */
  #setPaces(): void {
    const { perSecond, connections } = this.#options;
    if (perSecond === null) return;
    const nowMs = performance.now();
    const intervalMs = (1000 * connections) / perSecond;
    for (const slot of this.#slots) {
      slot.pace = new Pace(nowMs + (slot.index * intervalMs) / connections, intervalMs);
    }
  }

  #tick(): void {
    for (const { connection } of this.#slots) connection?.tick();
  }

  async #dial(slot: ConnectionSlot): Promise<LoadConnection> {
    const { hosts, window } = this.#options;
    const host = hosts[this.#dialled++ % hosts.length];
    if (host === undefined) throw new Error('no hosts given');
    const connection = new LoadConnection({
      host,
      window,
      session: slot.session,
      sessionTimeoutMs: SESSION_TIMEOUT_MS,
      recorder: this.#recorder,
      readMemory: this.#readMemory,
      onLost: () => void this.#redial(slot),
      onEvent: () => undefined,
    });
    await connection.connected();
    slot.connection = connection;
    slot.session = connection.session;
    return connection;
  }

  /** One of the members may be down; the next one is tried then. */
  async #dialAnywhere(slot: ConnectionSlot): Promise<LoadConnection> {
    const deadlineMs = performance.now() + OPEN_TIMEOUT_MS;
    for (;;) {
      try {
        return await this.#dial(slot);
      } catch (error) {
        if (performance.now() > deadlineMs) throw error;
        await sleep(REDIAL_AFTER_MS);
      }
    }
  }

  async #redial(slot: ConnectionSlot): Promise<void> {
    slot.connection = null;
    while (this.#isOpen) {
      await sleep(REDIAL_AFTER_MS);
      try {
        await this.#dial(slot);
        this.#start(slot);
        return;
      } catch (error) {
        if (!(error instanceof SessionGoneError)) continue;
        this.#recorder.onError('sessionGone');
        slot.session = null;
      }
    }
  }

  /** A reconnect keeps the same source, because the source knows which names are used up. */
  #start(slot: ConnectionSlot): void {
    if (this.#isRunning) slot.connection?.start(slot.source, slot.pace);
  }

  async #drain(): Promise<void> {
    const drained = await Promise.all(
      this.#slots.map(({ connection }) => {
        connection?.stop();
        return connection?.drained(DRAIN_TIMEOUT_MS) ?? true;
      }),
    );
    if (drained.includes(false)) this.#recorder.onError('neverAnswered');
  }

  #result(seconds: number, generator: LoadResult['generator']): LoadResult {
    const recorder = this.#recorder;
    return {
      seconds,
      operations: recorder.operations,
      latency: recorder.latency.toData(),
      slices: recorder.slices,
      slowestMs: recorder.slowestMs,
      longestSilenceMs: recorder.longestSilenceMs,
      silencesOver50Ms: recorder.silences,
      errors: Object.fromEntries(recorder.errors),
      lostRequests: recorder.lostRequests,
      lostConnections: recorder.lostConnections,
      generator,
    };
  }
}
