/**
 * Answers at the metrics port: `/metrics`, and the probes. It is harmless: it takes GET and HEAD,
 * changes nothing, and shows neither a path nor a session nor an address.
 */
import type { Config } from '../config/config.js';
import type { WordContext } from '../net/four-letter/context.js';
import type { DirectorySpaces } from './free-space.js';
import { healthAnswer, isReady, probeOf } from './health.js';
import type { HttpAnswer, HttpRequest } from './http-port.js';
import { HttpError } from './http-port.js';
import { CONTENT_TYPE, exposition } from './metric.js';
import { rookeryMetrics } from './rookery-metrics.js';
import { settingMetrics } from './setting-metrics.js';
import { zooKeeperMetrics } from './zookeeper-metrics.js';

export function metricsRouter(
  member: { context(): WordContext },
  freeSpace: () => Promise<DirectorySpaces>,
  config: Config | null = null,
): (request: HttpRequest) => Promise<HttpAnswer> {
  const ensemble = config?.ensembleName ?? null;
  const labels = ensemble === null ? {} : { ensemble };
  const settings = config === null ? [] : [settingMetrics(config)];
  let scrape: Promise<string> | null = null;
  const render = async (): Promise<string> => {
    const free = await freeSpace();
    const context = member.context();
    const ready = isReady({ health: context.view.health });
    const own = rookeryMetrics(context, { free, ready });
    const metrics = [...zooKeeperMetrics(context), ...own, ...settings];
    return await exposition(metrics, labels);
  };
  return async (request) => {
    const { method, path } = request;
    requireReading(method);
    const probe = probeOf(path);
    if (probe !== null) return healthAnswer(request, { health: member.context().view.health });
    if (path !== '/metrics') throw new HttpError(404, `There is no ${path}.`);
    // Concurrent scrapes share one render.
    scrape ??= render().finally(() => {
      scrape = null;
    });
    return { status: 200, type: CONTENT_TYPE, body: await scrape };
  };
}

export function requireReading(method: string): void {
  if (method === 'GET' || method === 'HEAD') return;
  throw new HttpError(405, `Expected GET or HEAD, got ${method}.`, { allow: 'GET, HEAD' });
}
