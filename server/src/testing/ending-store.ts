/**
 * Wraps a member's store so that it can end as if the process were killed.
 *
 * After `end()` nothing new reaches the disk, and pending calls never settle, like code of a
 * process that is gone. A batch that was already being written completes: a kill a moment later
 * would have left the same. Used by `seat.ts`.
 */
import type { Founding } from '../storage/data-directory.js';
import type {
  Entry,
  KeyRange,
  KeyValueDatabase,
  KeyValueOperation,
  KeyValueSnapshot,
  KeyValueStore,
} from '../storage/key-value.js';
import { EndingLife } from './ending-life.js';

export class EndingStore implements KeyValueStore {
  readonly #store: KeyValueStore;
  readonly #life = new EndingLife();

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  founding(): Promise<Founding> {
    return this.#life.run(() => this.#store.founding());
  }

  completeFounding(): Promise<void> {
    return this.#life.run(() => this.#store.completeFounding());
  }

  list(): Promise<readonly string[]> {
    return this.#life.run(() => this.#store.list());
  }

  open(name: string): Promise<KeyValueDatabase> {
    return this.#life.run(async () => {
      return new EndingDatabase(await this.#store.open(name), this.#life);
    });
  }

  destroy(name: string): Promise<void> {
    return this.#life.run(() => this.#store.destroy(name));
  }

  close(): Promise<void> {
    return this.#life.run(() => this.#store.close());
  }

  /** Resolves when everything is closed and the directory is free for the next process. */
  async end(): Promise<void> {
    await this.#life.end();
    await this.#store.close();
  }
}

class EndingDatabase implements KeyValueDatabase {
  readonly #database: KeyValueDatabase;
  readonly #life: EndingLife;

  constructor(database: KeyValueDatabase, life: EndingLife) {
    this.#database = database;
    this.#life = life;
  }

  get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#life.run(() => this.#database.get(key));
  }

  batch(
    operations: readonly KeyValueOperation[],
    options: { readonly sync: boolean },
  ): Promise<void> {
    return this.#life.run(() => this.#database.batch(operations, options));
  }

  iterate(range: KeyRange): AsyncIterable<readonly Entry[]> {
    return partsOf(this.#database.iterate(range), this.#life);
  }

  snapshot(): KeyValueSnapshot {
    const snapshot = this.#database.snapshot();
    return {
      iterate: (range) => partsOf(snapshot.iterate(range), this.#life),
      close: () => this.#life.run(() => snapshot.close()),
    };
  }

  checkFiles(): AsyncIterable<number> {
    return partsOf(this.#database.checkFiles(), this.#life);
  }

  close(): Promise<void> {
    return this.#life.run(() => this.#database.close());
  }
}

/** An iterator that the end leaves open is closed with its database. */
async function* partsOf<Part>(parts: AsyncIterable<Part>, life: EndingLife): AsyncGenerator<Part> {
  const iterator = parts[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await life.run(() => iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    if (!life.ended) await iterator.return?.();
  }
}
