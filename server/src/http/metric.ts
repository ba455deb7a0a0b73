/**
 * A metric as prom-client writes it: its figures are read from the member and copied at once, and
 * nothing of them is kept between two scrapes.
 */
import Registry, { type Sample, type Written } from 'prom-client/lib/registry.js';

export type { Sample } from 'prom-client/lib/registry.js';

export interface Metric {
  readonly name: string;
  get(): Promise<Written>;
}

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

export function metric(written: Written): Metric {
  return { name: written.name, get: () => Promise.resolve(written) };
}

/** A value for each set of labels. */
type Labelled = readonly (readonly [labels: Sample['labels'], value: number])[];

export function gauge(name: string, help: string, value: number): Metric {
  return gauges(name, help, [[{}, value]]);
}

export function gauges(name: string, help: string, values: Labelled): Metric {
  return metric({ name, help, type: 'gauge', values: samplesOf(values) });
}

export function counter(name: string, help: string, value: number): Metric {
  return counters(name, help, [[{}, value]]);
}

export function counters(name: string, help: string, values: Labelled): Metric {
  return metric({ name, help, type: 'counter', values: samplesOf(values) });
}

function samplesOf(values: Labelled): Sample[] {
  return values.map(([labels, value]) => ({ labels, value }));
}

/**
 * Returns the metrics in Prometheus's text format, each sample with `labels` beside its own. No two
 * metrics may have the same name.
 */
export function exposition(
  metrics: readonly Metric[],
  labels: Sample['labels'] = {},
): Promise<string> {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  for (const one of metrics) registry.registerMetric(one);
  return registry.metrics();
}
