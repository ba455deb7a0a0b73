/**
 * A steady load of a few small clients, and what each instant of it was like.
 *
 * For every port there are a writer and a reader, each with one request under way at a time. A
 * client whose connection ends resumes its session at the next port. The load runs in a worker
 * thread, so that whatever a scenario does in its own thread never delays it. Times are from the
 * system's monotonic clock, which all threads share (`nowMs`).
 */
import { Worker } from 'node:worker_threads';
import { deferred, within } from '../harness/wait.js';

const WORKER = new URL('./pulse-worker.js', import.meta.url);
const ANSWER_DEADLINE_MS = 30_000;

/** What the clients saw between two instants. */
export interface PulseWindow {
  readonly acknowledgedWrites: number;
  /** The longest time in which no write of any client was acknowledged. */
  readonly longestWriteGapMs: number;
  /** The longest time that one answered request took; a lost connection counts until the retry. */
  readonly longestWaitMs: number;
  readonly connectionsLost: number;
  /** How often each error code was the answer, and how long the refusals of writes lasted. */
  readonly errors: Readonly<Record<string, number>>;
}

/** Milliseconds of the system's monotonic clock. */
export function nowMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

export class Pulse {
  readonly #worker: Worker;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** Resolves once every client has written. */
  static async start(ports: readonly number[]): Promise<Pulse> {
    const worker = new Worker(WORKER, { workerData: { ports } });
    const pulse = new Pulse(worker);
    await pulse.#ask('started');
    return pulse;
  }

  window(fromMs: number, toMs = nowMs()): Promise<PulseWindow> {
    return this.#ask('window', { fromMs, toMs });
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  async #ask<T>(kind: string, question: object = {}): Promise<T> {
    const answer = deferred<T>();
    const onMessage = (message: { kind: string; value: T }) => {
      if (message.kind === kind) answer.resolve(message.value);
    };
    const onError = (error: Error) => answer.reject(error);
    this.#worker.on('message', onMessage);
    this.#worker.on('error', onError);
    this.#worker.postMessage({ kind, ...question });
    try {
      return await within(`the load answers ${kind}`, ANSWER_DEADLINE_MS, answer.promise);
    } finally {
      this.#worker.off('message', onMessage);
      this.#worker.off('error', onError);
    }
  }
}
