/**
 * Durability as an input: numbers storage outputs and holds back what must wait for them.
 *
 * A held action belongs to the role that held it: on a role change all are forgotten, while the
 * storage outputs themselves stay (they are already on their way, in order).
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

  /** Runs `action` once `ticket` and all before it are durable: at once if they are. */
  after(ticket: Ticket, action: () => void): void {
    if (ticket <= this.#persisted) action();
    else this.#held.push({ ticket, run: action });
  }

  /** What the role before held back is not said any more. */
  forget(): void {
    this.#held = [];
  }

  onPersisted(ticket: Ticket): void {
    assert(ticket <= this.#issued, () => `ticket ${ticket} of ${this.#issued} was never issued`);
    assert(ticket >= this.#persisted, () => `ticket ${ticket} after ${this.#persisted} completed`);
    this.#persisted = ticket;
  }

  /**
   * Runs the actions that are due, one by one: an action may change the role and forget the rest.
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
