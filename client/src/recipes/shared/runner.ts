/**
 * What runs in the background for as long as its object is open: started once, in one session of
 * the client after the other, until it is stopped or what the server answers ends it.
 *
 * Owns the running and its end, and lets others wait for what it does by `changes`. The attempt is
 * begun anew in each session. Always: nothing of it runs any more when stop() has resolved. Used by
 * the recipes that follow the tree.
 */
import type { Client } from '../../api/client.js';
import { Changes, untilSo } from './changes.js';
import { RecipeStateError, WaitTimeoutError } from './errors.js';
import type { Within } from './persist.js';
import type { WaitOptions } from './wait-scope.js';
import { inSession } from './waiting.js';

export class Runner {
  /** Notified by the attempt of what others may wait for, and at the end. */
  readonly changes = new Changes();
  readonly #client: Client;
  readonly #path: string;
  readonly #attempt: (within: Within) => Promise<void>;
  readonly #closing = new AbortController();
  #running: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  /** `path` is for messages. */
  constructor(client: Client, path: string, attempt: (within: Within) => Promise<void>) {
    this.#client = client;
    this.#path = path;
    this.#attempt = attempt;
  }

  /** What has ended it, null while it works. */
  get failure(): unknown {
    return this.#failure?.error ?? null;
  }

  get isStopped(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Idempotent; RecipeStateError once stopped. */
  start(): void {
    if (this.isStopped) throw this.#stoppedError();
    this.#running ??= this.#run();
  }

  /** Idempotent; resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#closing.abort();
    this.changes.notify();
    await this.#running;
  }

  /** The first value that is not null; throws the failure, or RecipeStateError once stopped. */
  async until<T>(options: WaitOptions, read: () => T | null): Promise<T> {
    return await untilSo(this.#client, this.changes, { ...options, path: this.#path }, () => {
      const value = read();
      if (value !== null) return value;
      if (this.#failure !== null) throw this.#failure.error;
      if (this.isStopped) throw this.#stoppedError();
      return null;
    });
  }

  #stoppedError(): RecipeStateError {
    return new RecipeStateError(this.#path, 'closed');
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const timeoutError = () => new WaitTimeoutError(this.#path, 0);
    try {
      const wait = { signal, timeoutError, onSessionLost: 'rejoin' } as const;
      await inSession(this.#client, wait, this.#attempt);
    } catch (error) {
      if (!signal.aborted) this.#failure = { error };
    } finally {
      this.changes.notify();
    }
  }
}
