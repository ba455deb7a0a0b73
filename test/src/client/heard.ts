/**
 * What a watcher of a test has been told, and waiting for what it will be. Passive: it calls
 * nobody and ends nothing.
 */
import type { WatchEvent, Watcher } from '@rookery/client';
import { deferred, within } from '../harness/wait.js';

const EVENT_DEADLINE_MS = 40_000;

export class Heard {
  readonly events: WatchEvent[] = [];
  readonly #waiting = new Set<() => void>();
  readonly watcher: Watcher = (event) => {
    this.events.push(event);
    for (const look of [...this.#waiting]) look();
  };

  /** Their types, in order. */
  get types(): WatchEvent['type'][] {
    return this.events.map(({ type }) => type);
  }

  /** Resolves with the events once there are this many, past ones counted. */
  async count(atLeast: number): Promise<readonly WatchEvent[]> {
    await this.until(`${atLeast} events`, () => this.events.length >= atLeast);
    return this.events;
  }

  /** Resolves with the first event of the type, past or future. */
  async first(type: WatchEvent['type']): Promise<WatchEvent> {
    const found = () => this.events.find((event) => event.type === type);
    await this.until(`an event ${type}`, () => found() !== undefined);
    const event = found();
    if (event === undefined) throw new Error('it was there a moment ago');
    return event;
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    const reached = deferred<void>();
    const look = () => {
      if (holds()) reached.resolve();
    };
    this.#waiting.add(look);
    look();
    try {
      await within(
        `${what}, told so far: ${this.types.join(' ')}`,
        EVENT_DEADLINE_MS,
        reached.promise,
      );
    } finally {
      this.#waiting.delete(look);
    }
  }
}
