/**
 * A metric with its name and help text, for a registry of prom-client and for Prometheus's text
 * format. It stores no numbers, but reads them from its source.
 */
import type { Sample } from './series.js';

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** Where the numbers of a metric are stored. */
export interface MetricSource {
  read(): Sample[];
  /** Sets all numbers back to zero. */
  reset(): void;
}

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly source: MetricSource;
}

export interface MetricValues {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  /** How a cluster's registry combines the values of several processes. */
  readonly aggregator: 'sum';
  readonly values: Sample[];
}

export class Metric {
  /**
   * Mutable, because a registry of OpenMetrics removes the `_total` of a counter and adds it again.
   */
  name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly aggregator = 'sum';
  readonly #source: MetricSource;

  constructor({ name, help, type, source }: MetricOptions) {
    this.name = name;
    this.help = help;
    this.type = type;
    this.#source = source;
  }

  async get(): Promise<MetricValues> {
    const { name, help, type, aggregator } = this;
    return { name, help, type, aggregator, values: this.#source.read() };
  }

  reset(): void {
    this.#source.reset();
  }

  /** Returns the metric in Prometheus's text format, with a newline at the end. */
  text(): string {
    const { name, help, type } = this;
    const lines = this.#source.read().map((sample) => lineOf(name, sample));
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
  }
}

function lineOf(name: string, { metricName = name, labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, of]) => `${label}="${escaped(String(of))}"`);
  const braces = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
  return `${metricName}${braces} ${value}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
