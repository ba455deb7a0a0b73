/**
 * A metric with its name and help, as a registry of prom-client and Prometheus's text format have
 * it. Owns no numbers: reads them where they are kept.
 */
import type { Sample } from './series.js';

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** Where the numbers of a metric are kept. */
export interface MetricSource {
  read(): Sample[];
  /** Forgets what was counted. */
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
  /** How a cluster's registry puts those of several processes together. */
  readonly aggregator: 'sum';
  readonly values: Sample[];
}

export class Metric {
  /** A registry of OpenMetrics takes the `_total` of a counter off, to add it again itself. */
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

  /** In Prometheus's text format, with a newline at the end. */
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
