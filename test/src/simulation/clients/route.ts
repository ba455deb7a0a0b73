/**
 * Where a client connects next: mostly to another member than before.
 *
 * While a connection that it has left is still in use, sometimes back to that one's member: what it
 * sends there and what the new one sends must be told apart. It has a random stream of its own.
 * SimulatedClient calls it.
 */
import type { Random } from '../random.js';
import type { Seat } from './client-parts.js';

export class Route {
  readonly #seats: readonly Seat[];
  readonly #random: Random;
  readonly #returns: Random;
  #at = -1;

  constructor(seats: readonly Seat[], random: Random) {
    this.#seats = seats;
    this.#random = random;
    this.#returns = random.fork('returns');
  }

  /**
   * `leftAt` is the member at which a connection that was left is still in use; null if there is
   * none.
   */
  next(leftAt: number | null): Seat {
    const seats = this.#seats;
    const step = 1 + this.#random.below(Math.max(1, seats.length - 1));
    this.#at = (this.#at + step + seats.length) % seats.length;
    if (leftAt !== null && this.#returns.chance(0.5)) {
      this.#at = seats.findIndex(({ id }) => id === leftAt);
    }
    const seat = seats[this.#at];
    if (seat === undefined) throw new Error('there are members');
    return seat;
  }
}
