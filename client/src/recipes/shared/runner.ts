/**
 * Runs a task in the background for as long as its object is open: it is started once, and runs
 * until it is stopped or an error of the server ends it.
 *
 * It owns the run and its end, and lets others wait for progress with `changes`. When stop() has
 * resolved, nothing of it runs any more. Used by the recipes that work in the background.
 */
import type { Client } from '../../api/client.js';
import { ClientClosedError } from '../../api/errors.js';
import type { Supervised } from './background-recipe.js';
import { Changes, waitUntil } from './changes.js';
import { RecipeStateError, WaitTimeoutError } from './errors.js';
import { type BackgroundStatus, type FailureListener, Failures } from './failures.js';
import type { Within } from './persist.js';
import type { WaitOptions } from './wait-scope.js';
import { inSession } from './waiting.js';

/** Works until the signal is aborted. A rejection before that is the failure. */
export type Task = (signal: AbortSignal) => Promise<void>;

export interface RunnerOptions {
  readonly client: Client;
  /** The class of the recipe and its path, for messages. */
  readonly recipe: string;
  readonly path: string;
  readonly task: Task;
}

export class Runner implements Supervised {
  /** Notified by the task of progress that others may wait for, and at the end. */
  readonly changes = new Changes();
  readonly #options: RunnerOptions;
  readonly #failures: Failures;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#failures = new Failures({ ...options, log: options.client.log });
  }

  get status(): BackgroundStatus {
    if (this.isStopped) return 'closed';
    if (this.#failures.last !== null) return 'failed';
    return this.#running === null ? 'idle' : 'running';
  }

  get failure(): unknown {
    return this.#failures.last?.error ?? null;
  }

  onFailure(listener: FailureListener): () => void {
    return this.#failures.listen(listener);
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Whether it has ended because it was stopped. */
  get hasEndedWell(): boolean {
    return this.isStopped && this.#failures.last === null;
  }

  /** Throws RecipeStateError once stopped. Calling it again has no effect. */
  start(): void {
    if (this.isStopped) throw this.#stoppedError();
    this.#running ??= this.#run();
  }

  /** Resolves when nothing runs any more. Calling it again has no effect. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.changes.notify();
    await this.#running;
  }

  /** Another part of the same object has failed. */
  fail(error: unknown): void {
    if (this.isStopped || this.#failures.last !== null) return;
    this.#failures.tell(error, { isAwaited: this.changes.waiterCount > 0 });
    this.changes.notify();
  }

  /**
   * Resolves with the first value that is not null. Rejects with the failure, or with
   * RecipeStateError once stopped.
   */
  async until<T>(options: WaitOptions, read: () => T | null): Promise<T> {
    const { client, path } = this.#options;
    return await waitUntil(client, this.changes, { ...options, path }, () => {
      const value = read();
      if (value !== null) return value;
      if (this.#failures.last !== null) throw this.#failures.last.error;
      if (this.isStopped) throw this.#stoppedError();
      if (client.state === 'closed') throw new ClientClosedError();
      return null;
    });
  }

  #stoppedError(): RecipeStateError {
    return new RecipeStateError(this.#options.path, 'closed');
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      await this.#options.task(signal);
    } catch (error) {
      this.fail(error);
    } finally {
      this.changes.notify();
    }
  }
}

/** A task that makes the attempt in each session of the client, one after the other. */
export function inEachSession(
  client: Client,
  path: string,
  attempt: (within: Within) => Promise<void>,
): Task {
  const timeoutError = () => new WaitTimeoutError(path, 0);
  return async (signal) => {
    await inSession(client, { signal, timeoutError, onSessionLost: 'rejoin' }, attempt);
  };
}
