/**
 * Counts the requests in flight for each path. While a count is not zero, it is uncertain which
 * watches the server has at that path. Paths with a count of zero are not stored. Used by the
 * registry.
 */
import { assert } from '@rookery/protocol';

export class PathCounts {
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#counts.size;
  }

  has(path: string): boolean {
    return this.#counts.has(path);
  }

  increment(path: string): void {
    this.#counts.set(path, (this.#counts.get(path) ?? 0) + 1);
  }

  decrement(path: string): void {
    const count = this.#counts.get(path) ?? 0;
    assert(count > 0, () => `a request at ${path} has ended more often than begun`);
    if (count === 1) this.#counts.delete(path);
    else this.#counts.set(path, count - 1);
  }
}
