/**
 * The latest of what an endless iterator gives, for those who look when it suits them: reads it in
 * the background until stopped. Used by the recipes that follow something while they do other work.
 */
import { Changes } from './changes.js';

export class Latest<T> {
  /** Notified of each value and of the end. */
  readonly changes = new Changes();
  readonly #controller = new AbortController();
  readonly #running: Promise<void>;
  #value: { readonly value: T } | null = null;
  #failure: { readonly error: unknown } | null = null;

  /** `open` is given the signal that ends the iterator. */
  constructor(open: (signal: AbortSignal) => AsyncIterable<T>) {
    this.#running = this.#run(open(this.#controller.signal));
  }

  /** Null before the first; throws what the iterator has thrown. */
  get value(): T | null {
    if (this.#failure !== null) throw this.#failure.error;
    return this.#value === null ? null : this.#value.value;
  }

  async stop(): Promise<void> {
    this.#controller.abort();
    await this.#running;
  }

  async #run(values: AsyncIterable<T>): Promise<void> {
    try {
      for await (const value of values) {
        this.#value = { value };
        this.changes.notify();
      }
    } catch (error) {
      this.#failure = { error };
      this.changes.notify();
    }
  }
}
