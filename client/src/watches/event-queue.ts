/**
 * The events that wait for the consumer of a watch stream. Always: never more than its capacity;
 * one event too many makes it forget them all and hold the given one in their place.
 */
import type { WatchEvent } from '../api/values.js';

export class EventQueue {
  readonly #capacity: number;
  readonly #onOverflow: WatchEvent;
  #events: WatchEvent[] = [];
  /** Where the first one is: those before it have been taken. */
  #first = 0;

  constructor(capacity: number, onOverflow: WatchEvent) {
    this.#capacity = capacity;
    this.#onOverflow = onOverflow;
  }

  get length(): number {
    return this.#events.length - this.#first;
  }

  push(event: WatchEvent): void {
    if (this.length < this.#capacity) {
      this.#events.push(event);
      return;
    }
    this.clear();
    this.#events.push(this.#onOverflow);
  }

  shift(): WatchEvent | undefined {
    const event = this.#events[this.#first];
    if (event === undefined) return undefined;
    this.#first += 1;
    // Each event is moved at most once for each time that half of the queue was taken.
    if (this.#first * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
    return event;
  }

  clear(): void {
    this.#events = [];
    this.#first = 0;
  }
}
