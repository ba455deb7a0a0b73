/**
 * What the members of Rookery say of themselves at their metrics ports, which they have where a
 * scenario asks for `isOperated`; those of the baseline only in scenarios without ZooKeeper.
 */
import type { Host } from '../load/dial.js';
import { METRICS_PORT } from './plan.js';

/** Returns a member's metrics in Prometheus's text format. Rejects if it does not answer. */
export async function metricsOf({ host, port }: Host): Promise<string> {
  const response = await fetch(`http://${host}:${port + METRICS_PORT}/metrics`);
  const text = await response.text();
  if (!response.ok) throw new Error(`a scrape was answered ${response.status}`);
  return text;
}

/** Returns the value of a metric without labels, or NaN if there is none of this name. */
export function metricIn(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? Number.NaN : Number(line.slice(name.length));
}
