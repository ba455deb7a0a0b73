/**
 * The meta record of an open directory: its current value, and its changes one after the other.
 */
import type { Background } from './background.js';
import type { Meta, MetaStore } from './meta.js';

export class KeptMeta {
  readonly #store: MetaStore;
  readonly #background: Background;
  #value: Meta;
  #isKnown: boolean;
  #writes: Promise<void> = Promise.resolve();

  /** `isKnown` is false if the record was lost; then nothing overwrites it before a `change`. */
  constructor(store: MetaStore, background: Background, value: Meta, isKnown: boolean) {
    this.#store = store;
    this.#background = background;
    this.#value = value;
    this.#isKnown = isKnown;
  }

  get value(): Meta {
    return this.#value;
  }
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Changes the record. Durable when resolved. */
  async change(change: Partial<Meta>): Promise<void> {
    this.#writes = this.#writes.then(async () => {
      await this.#store.write({ ...this.#value, ...change });
      // What was remembered during the write stays, and the next write makes it durable.
      this.#value = { ...this.#value, ...change };
      this.#isKnown = true;
    });
    await this.#writes;
  }

  /** Changes the value at once and makes it durable in background; a crash may lose it before. */
  remember(change: Partial<Meta>): void {
    this.#value = { ...this.#value, ...change };
    if (this.#isKnown) this.#background.run(() => this.change({}));
  }

  /** Reads what is on disk. Throws DamagedError. */
  async check(): Promise<void> {
    await this.#store.check();
  }

  /** Writes the record into a new database, after the changes before it. Durable when resolved. */
  async writeAnew(): Promise<void> {
    this.#writes = this.#writes.then(() => this.#store.writeAnew(this.#value));
    await this.#writes;
  }

  async close(): Promise<void> {
    await this.#store.close();
  }
}
