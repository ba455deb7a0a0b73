/**
 * Durability as an input: numbers the storage outputs and delays actions until they are durable.
 *
 * A delayed action belongs to the role that asked for it, and a change of roles drops all of them.
 * The storage outputs themselves are already on their way, in order, and are never dropped.
 */
import { assert } from '@rookery/protocol';
import type { Ticket } from './types.js';

interface Held {
  readonly ticket: Ticket;
  readonly run: () => void;
}

export class Tickets {
  #issued: Ticket = 0;
  #persisted: Ticket = 0;
  #held: Held[] = [];

  /** The ticket of the newest storage output. */
  get newest(): Ticket {
    return this.#issued;
  }

  issue(): Ticket {
    this.#issued += 1;
    return this.#issued;
  }

  /** Runs `action` once `ticket` and all before it are durable; at once if they already are. */
  after(ticket: Ticket, action: () => void): void {
    if (ticket <= this.#persisted) action();
    else this.#held.push({ ticket, run: action });
  }

  /** Drops the actions of the role that has ended. */
  forget(): void {
    this.#held = [];
  }

  onPersisted(ticket: Ticket): void {
    assert(ticket <= this.#issued, () => `ticket ${ticket} of ${this.#issued} was never issued`);
    assert(ticket >= this.#persisted, () => `ticket ${ticket} after ${this.#persisted} completed`);
    this.#persisted = ticket;
  }

  /**
   * Runs the due actions one by one. An action may change the role, which drops the rest.
   */
  runDue(stopped: () => boolean): void {
    while (!stopped()) {
      const index = this.#held.findIndex((held) => held.ticket <= this.#persisted);
      if (index < 0) return;
      const [held] = this.#held.splice(index, 1);
      held?.run();
    }
  }
}
