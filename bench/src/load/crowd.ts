/**
 * Thousands of sessions that are mostly idle: they are connected, cut, resumed, made to watch, and
 * left to expire.
 *
 * Each is a LoadConnection with a window of 1 that is pinged while it is idle. Times run from just
 * before the first packet to the arrival of the last answer. At most `dialsMax` connections are
 * being opened at a time, except where all are opened at once on purpose. A connection that fails
 * is tried again at the next member, as a client does; any other failure is counted and not
 * repaired.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateFlag, CreateRequest, OpCode, PathWatchRequest } from '@rookery/protocol';
import { LoadConnection, SessionGoneError } from './connection.js';
import type { Host } from './dial.js';
import { frameOf, WORLD } from './frames.js';
import type { Session } from './handshake.js';
import { OneFrameSource } from './one-frame-source.js';
import { Recorder } from './recorder.js';

export interface CrowdOptions {
  readonly hosts: readonly Host[];
  readonly sessions: number;
  readonly sessionTimeoutMs: number;
  readonly dialsMax: number;
}

export interface CrowdTiming {
  readonly elapsedMs: number;
  /** Sessions that are gone, were refused, or got no answer. */
  readonly failures: number;
  /** What went wrong and how often, whether a retry repaired it or not. */
  readonly reasons: Readonly<Record<string, number>>;
  /** The handshakes that resumed a TLS session; absent if the step made no connections. */
  readonly tlsResumed?: number;
}

const READ_BYTES = 64 * 1024;
const ANSWER_TIMEOUT_MS = 60_000;
const PINGS_PER_TIMEOUT = 3;
const ATTEMPTS_MAX = 20;
const RETRY_AFTER_MS = 50;

export class Crowd {
  readonly #options: CrowdOptions;
  readonly #recorder = new Recorder();
  readonly #readMemory = Buffer.allocUnsafeSlow(READ_BYTES);
  readonly #connections: (LoadConnection | null)[];
  readonly #sessions: (Session | null)[];
  /** The TLS session of the last connection of each; it is kept when the sessions are closed. */
  readonly #tlsSessions: (Buffer | undefined)[] = [];
  #pings: NodeJS.Timeout | null = null;
  #onEvent: () => void = () => undefined;

  constructor(options: CrowdOptions) {
    this.#options = options;
    this.#connections = Array.from({ length: options.sessions }, () => null);
    this.#sessions = Array.from({ length: options.sessions }, () => null);
  }

  /** After `close`, new sessions resume the TLS sessions of the former connections. */
  async connect(): Promise<CrowdTiming> {
    const timing = await this.#dialAll(this.#options.dialsMax);
    const everyMs = this.#options.sessionTimeoutMs / PINGS_PER_TIMEOUT;
    this.#pings = setInterval(() => {
      for (const connection of this.#connections) connection?.ping();
    }, everyMs);
    return timing;
  }

  /** Cuts every connection and resumes every session, all at once. */
  async reconnect(): Promise<CrowdTiming> {
    this.#cut();
    return await this.#dialAll(this.#options.sessions);
  }

  /** Creates one ephemeral znode for each session, below `parent`. */
  async createEphemerals(parent: string): Promise<CrowdTiming> {
    return await this.#askAll((index) =>
      frameOf(OpCode.create, CreateRequest, {
        path: `${parent}/e${index}`,
        data: new Uint8Array(0),
        acl: WORLD,
        flags: CreateFlag.ephemeral,
      }),
    );
  }

  /** Every session reads `path` and watches it. */
  async watch(path: string): Promise<CrowdTiming> {
    const frame = frameOf(OpCode.getData, PathWatchRequest, { path, watch: true });
    return await this.#askAll(() => frame);
  }

  /** Measures from now until every session has had an event. */
  async events(): Promise<CrowdTiming> {
    const fromMs = performance.now();
    let missing = this.#options.sessions;
    await new Promise<void>((resolve) => {
      const timeout = setTimeout(resolve, ANSWER_TIMEOUT_MS);
      this.#onEvent = () => {
        missing--;
        if (missing > 0) return;
        clearTimeout(timeout);
        resolve();
      };
    });
    return { elapsedMs: performance.now() - fromMs, failures: missing, reasons: {} };
  }

  /** Cuts every connection; the sessions are left to expire. */
  abandon(): void {
    this.#stopPings();
    this.#cut();
  }

  async close(): Promise<void> {
    this.#stopPings();
    for (const [index, connection] of this.#connections.entries()) {
      this.#tlsSessions[index] = connection?.tlsSession;
    }
    await Promise.all(this.#connections.map((connection) => connection?.close()));
    this.#sessions.fill(null);
  }

  #stopPings(): void {
    if (this.#pings !== null) clearInterval(this.#pings);
  }

  #cut(): void {
    for (const [index, connection] of this.#connections.entries()) {
      connection?.abandon();
      this.#connections[index] = null;
    }
  }

  async #dialAll(dialsMax: number): Promise<CrowdTiming> {
    const fromMs = performance.now();
    const reasons: Record<string, number> = {};
    let next = 0;
    let failures = 0;
    const dialSome = async () => {
      while (next < this.#options.sessions) {
        const index = next++;
        if (!(await this.#dialWithRetries(index, reasons))) failures++;
      }
    };
    await Promise.all(Array.from({ length: dialsMax }, dialSome));
    const elapsedMs = performance.now() - fromMs;
    const tlsResumed = this.#connections.filter((one) => one?.isTlsResumed === true).length;
    return { elapsedMs, failures, reasons, tlsResumed };
  }

  /** Returns false if the session is gone, or no attempt was answered. */
  async #dialWithRetries(index: number, reasons: Record<string, number>): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      try {
        await this.#dial(index, attempt);
        return true;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        reasons[reason] = (reasons[reason] ?? 0) + 1;
        if (error instanceof SessionGoneError) return false;
        await sleep(RETRY_AFTER_MS);
      }
    }
    return false;
  }

  async #dial(index: number, attempt: number): Promise<void> {
    const { hosts, sessionTimeoutMs } = this.#options;
    const host = hosts[(index + attempt) % hosts.length];
    if (host === undefined) throw new Error('no hosts given');
    const connection = new LoadConnection({
      host,
      window: 1,
      session: this.#sessions[index] ?? null,
      tlsSession: attempt === 0 ? this.#tlsSessions[index] : undefined,
      sessionTimeoutMs,
      recorder: this.#recorder,
      readMemory: this.#readMemory,
      onLost: () => undefined,
      onEvent: () => this.#onEvent(),
    });
    await connection.connected();
    this.#connections[index] = connection;
    this.#sessions[index] = connection.session;
  }

  async #askAll(frameFor: (index: number) => Buffer): Promise<CrowdTiming> {
    const fromMs = performance.now();
    const failuresBefore = this.#failures();
    const answered = await Promise.all(
      this.#connections.map((connection, index) => {
        connection?.start(new OneFrameSource(frameFor(index)));
        return connection?.drained(ANSWER_TIMEOUT_MS) ?? false;
      }),
    );
    const unanswered = answered.filter((isAnswered) => !isAnswered).length;
    const failures = this.#failures() - failuresBefore + unanswered;
    const reasons = Object.fromEntries(this.#recorder.errors);
    return { elapsedMs: performance.now() - fromMs, failures, reasons };
  }

  #failures(): number {
    const { errors, lostConnections } = this.#recorder;
    return [...errors.values()].reduce((sum, count) => sum + count, lostConnections);
  }
}
