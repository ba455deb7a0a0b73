/**
 * The events that wait for the consumer of a watch stream. There are never more than its capacity:
 * one event too many replaces all of them by a given event.
 */
import type { WatchEvent } from '../api/values.js';

export class EventQueue {
  readonly #capacity: number;
  readonly #onOverflow: WatchEvent;
  #events: WatchEvent[] = [];
  /** The index of the first event; those before it were already read. */
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
    // Compacting only when half of the array was read keeps the cost per event constant.
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
