/**
 * Makes short histories for the tests of checks: which client did what, in order, and without
 * overlap unless `begin` is used.
 */
import type { HistoryEntry, Json } from '../history/entry.js';
import { HistoryWriter, type Pending } from '../history/history-writer.js';

export class Told {
  readonly entries: HistoryEntry[] = [];
  readonly #writer: HistoryWriter;

  constructor() {
    this.#writer = new HistoryWriter({
      write: (line) => this.entries.push(JSON.parse(line)),
      nowNs: () => this.entries.length,
    });
  }

  /** Begins an operation that the test ends later; it overlaps with what comes in between. */
  begin(client: number, f: string, value: Json): Pending {
    return this.#writer.recorder('test', client).invoke(f, value);
  }

  ok(client: number, f: string, asked: Json, value: Json = asked, ending: object = {}): this {
    this.begin(client, f, asked).ok(value, ending);
    return this;
  }

  info(client: number, f: string, asked: Json, about: Json = asked): this {
    this.begin(client, f, asked).info('ConnectionLossError: lost', { about });
    return this;
  }

  fail(client: number, f: string, asked: Json): this {
    this.begin(client, f, asked).fail('NoNodeError: none');
    return this;
  }
}
