/**
 * Counters and histograms with labels, as in Prometheus. Each holds one series for each combination
 * of label values, up to a bound. Beyond that, values are counted under the label value 'other'.
 *
 * Computes only. `read()` returns what a registry of prom-client expects of a metric.
 */

/**
 * The bound for one metric. Labels are names of clients, operations, errors and servers, never
 * paths.
 */
const SERIES_MAX = 1_000;
const OTHER = 'other';

export type Labels = Readonly<Record<string, string | number>>;

/** One line of the text format. */
export interface Sample {
  /** Set if it differs from the metric's name: the bucket, sum or count of a histogram. */
  readonly metricName?: string;
  readonly labels: Labels;
  readonly value: number;
}

/** The series of one metric, keyed by the values of its labels. */
class SeriesMap<T> {
  readonly #labelNames: readonly string[];
  readonly #create: () => T;
  readonly #series = new Map<string, { readonly labels: Labels; readonly value: T }>();

  constructor(labelNames: readonly string[], create: () => T) {
    this.#labelNames = labelNames;
    this.#create = create;
  }

  /** `values` has one value for each label, in the order of the label names. */
  at(values: readonly string[]): { value: T } {
    const key = values.join('\0');
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size >= SERIES_MAX && values.some((value) => value !== OTHER)) {
      return this.at(values.map(() => OTHER));
    }
    const labels = Object.fromEntries(this.#labelNames.map((name, at) => [name, values[at] ?? '']));
    const fresh = { labels, value: this.#create() };
    this.#series.set(key, fresh);
    return fresh;
  }

  values(): Iterable<{ readonly labels: Labels; readonly value: T }> {
    return this.#series.values();
  }

  clear(): void {
    this.#series.clear();
  }
}

export class Counter {
  readonly #series: SeriesMap<number>;

  constructor(labelNames: readonly string[]) {
    this.#series = new SeriesMap(labelNames, () => 0);
  }

  add(values: readonly string[]): void {
    this.#series.at(values).value++;
  }

  read(): Sample[] {
    return [...this.#series.values()].map(({ labels, value }) => ({ labels, value }));
  }

  reset(): void {
    this.#series.clear();
  }
}

interface Distribution {
  /** For each bound, the number of values up to it that exceed the previous bound. */
  readonly counts: number[];
  sum: number;
  count: number;
}

export interface HistogramOptions {
  readonly name: string;
  readonly labelNames: readonly string[];
  /** Upper bounds in ascending order. The last bucket, +Inf, is added to them. */
  readonly bounds: readonly number[];
}

export class Histogram {
  readonly #options: HistogramOptions;
  readonly #series: SeriesMap<Distribution>;

  constructor(options: HistogramOptions) {
    this.#options = options;
    const { labelNames, bounds } = options;
    this.#series = new SeriesMap(labelNames, () => {
      return { counts: bounds.map(() => 0), sum: 0, count: 0 };
    });
  }

  observe(values: readonly string[], observed: number): void {
    const { value } = this.#series.at(values);
    value.sum += observed;
    value.count++;
    const bucket = this.#options.bounds.findIndex((bound) => observed <= bound);
    if (bucket !== -1) value.counts[bucket] = (value.counts[bucket] ?? 0) + 1;
  }

  read(): Sample[] {
    return [...this.#series.values()].flatMap(({ labels, value }) => this.#samples(labels, value));
  }

  reset(): void {
    this.#series.clear();
  }

  #samples(labels: Labels, { counts, sum, count }: Distribution): Sample[] {
    const { name, bounds } = this.#options;
    let below = 0;
    const buckets = bounds.map((le, at) => {
      below += counts[at] ?? 0;
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below };
    });
    return [
      ...buckets,
      { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
