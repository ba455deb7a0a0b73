/**
 * The requests that were sent on a connection and not answered, first in first out.
 */
import type { Request } from './request.js';

const COMPACT_AT = 1024;

export class InFlight {
  /** None before the head: what is answered is not kept until the array is cut. */
  #requests: (Request | null)[] = [];
  #head = 0;

  get size(): number {
    return this.#requests.length - this.#head;
  }

  get first(): Request | undefined {
    return this.#requests[this.#head] ?? undefined;
  }

  push(request: Request): void {
    this.#requests.push(request);
  }

  dropFirst(): void {
    this.#requests[this.#head] = null;
    this.#head++;
    if (this.#head === this.#requests.length) {
      this.#requests.length = 0;
      this.#head = 0;
    } else if (this.#head >= COMPACT_AT && this.#head * 2 >= this.#requests.length) {
      // Amortised: each request is moved at most once for every one that left.
      this.#requests = this.#requests.slice(this.#head);
      this.#head = 0;
    }
  }

  /** Empties it. */
  takeAll(): Request[] {
    const all = this.#requests.filter((request) => request !== null);
    this.#requests = [];
    this.#head = 0;
    return all;
  }
}
