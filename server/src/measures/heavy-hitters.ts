/**
 * Finds the most frequent keys of a stream, in fixed memory: the space-saving algorithm (Metwally,
 * Agrawal and El Abbadi, Efficient Computation of Frequent and Top-k Elements in Data Streams,
 * 2005).
 *
 * There is a fixed number of counters. A key without one takes over that of the rarest key, with
 * its count, which from then on may be too much. Hence, with `capacity` counters and a `total` of
 * all weights: a key with more than `total / capacity` is always there, and no count is further
 * from the truth than that. A record is a look-up, and a pass over the counters for a new key; who
 * counts more than some thousand keys a second samples them.
 */

/** A key, with what it certainly and what it possibly counts. */
interface Hitter<Key> {
  readonly key: Key;
  readonly atLeast: number;
  readonly atMost: number;
}

export class HeavyHitters<Key extends string | number> {
  /** The sum of all weights. */
  total = 0;
  readonly #capacity: number;
  readonly #keys: Key[] = [];
  readonly #counts: Float64Array;
  /** For each counter, what it had when its key took it over. */
  readonly #inherited: Float64Array;
  readonly #counterOf = new Map<Key, number>();

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#counts = new Float64Array(capacity);
    this.#inherited = new Float64Array(capacity);
  }

  /** `weight` is above 0. */
  record(key: Key, weight: number): void {
    this.total += weight;
    const counter = this.#counterOf.get(key) ?? this.#newCounter(key);
    this.#counts[counter] = (this.#counts[counter] ?? 0) + weight;
  }

  /** All keys that have a counter, in no order. */
  *hitters(): Generator<Hitter<Key>, void> {
    for (const [counter, key] of this.#keys.entries()) {
      const atMost = this.#counts[counter] ?? 0;
      yield { key, atMost, atLeast: atMost - (this.#inherited[counter] ?? 0) };
    }
  }

  #newCounter(key: Key): number {
    const free = this.#keys.length;
    const counter = free < this.#capacity ? free : this.#rarest();
    const former = this.#keys[counter];
    if (former !== undefined) this.#counterOf.delete(former);
    this.#keys[counter] = key;
    this.#inherited[counter] = this.#counts[counter] ?? 0;
    this.#counterOf.set(key, counter);
    return counter;
  }

  #rarest(): number {
    let rarest = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let counter = 0; counter < this.#capacity; counter++) {
      const count = this.#counts[counter] ?? 0;
      if (count >= least) continue;
      rarest = counter;
      least = count;
    }
    return rarest;
  }
}
