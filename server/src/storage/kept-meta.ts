/**
 * The meta record of an open directory: what it says now, and its changes, one after the other.
 */
import type { Background } from './background.js';
import type { Meta, MetaStore } from './meta.js';

export class KeptMeta {
  readonly #store: MetaStore;
  readonly #background: Background;
  #value: Meta;
  #isKnown: boolean;
  #writes: Promise<void> = Promise.resolve();

  /** `isKnown`: false where the record was lost; nothing is written over it before a `change`. */
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

  /** Durable, and the value, when it resolves. */
  async change(change: Partial<Meta>): Promise<void> {
    this.#writes = this.#writes.then(async () => {
      await this.#store.write({ ...this.#value, ...change });
      // What was remembered while it was written stays; the next write makes that durable.
      this.#value = { ...this.#value, ...change };
      this.#isKnown = true;
    });
    await this.#writes;
  }

  /** The value at once; durable in background: until then a crash forgets it. */
  remember(change: Partial<Meta>): void {
    this.#value = { ...this.#value, ...change };
    if (this.#isKnown) this.#background.run(() => this.change({}));
  }

  async close(): Promise<void> {
    await this.#store.close();
  }
}
