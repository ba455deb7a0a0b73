/**
 * What `/metrics` prints, read by the rules of Prometheus's text format: each series once, of a
 * metric with a type, and every name that the official alerts of ZooKeeper ask for.
 */
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Config } from '../config/config.js';
import { checkSettings } from '../config/config-schema.js';
import { Durations } from '../measures/summary.js';
import { ServerStats, TlsFigures } from '../net/server-stats.js';
import { readExposition } from '../simulated/http/exposition.js';
import { LEADER_VIEW, memberView } from '../simulated/net/fixtures.js';
import { exposition } from './metric.js';
import { metricsRouter } from './metrics-router.js';
import { histogram } from './rookery-metrics.js';

const FREE = async () => ({ data: { bytes: 1 << 30, files: 500 }, log: null });
/** Nobody leaves, and nobody sends a body. */
const UNREAD = {
  signal: new AbortController().signal,
  readBody: () => Promise.reject(new Error('no body is read')),
};

/** As a config file with this name and nothing else would be read. */
function configNamed(ensembleName: string): Config {
  const servers = [{ id: 1, host: '127.0.0.1', clientPort: 1, peerPort: 2 }];
  const adminUsers = ['ops:1vdFRDCql3UzcxJ7kySyFCmtSF0='];
  const { settings } = checkSettings({ dataDir: 'd', servers, ensembleName, adminUsers });
  if (settings === null) throw new Error('the settings are valid');
  return settings as Config;
}

async function scrape(
  changes: Parameters<typeof memberView>[0] = {},
  stats = new ServerStats(),
  ensembleName: string | null = null,
): Promise<string> {
  const view = memberView(changes);
  const context = { view, stats, wallMs: 0, connectionCount: 3, connections: () => [] };
  const answer = await metricsRouter(
    { context: () => context },
    FREE,
    ensembleName === null ? null : configNamed(ensembleName),
  )({
    method: 'GET',
    path: '/metrics',
    query: new URLSearchParams(),
    headers: {},
    remoteAddress: '127.0.0.1',
    ...UNREAD,
  });
  expect(answer.type).toBe('text/plain; version=0.0.4; charset=utf-8');
  return String(answer.body);
}

it('is read by the rules of the text format, every series once', async () => {
  const { types, series } = readExposition(await scrape());
  expect(types.get('znode_count')).toBe('gauge');
  expect(types.get('packets_received'), 'as ZooKeeper has it').toBe('gauge');
  expect(types.get('bytes_received_count')).toBe('counter');
  expect(types.get('readlatency')).toBe('summary');
  expect(types.get('rookery_request_duration_seconds')).toBe('histogram');
  expect(series.get('num_alive_connections')).toBe(3);
  expect(series.get('readlatency{quantile="0.99"}')).toBe(0);
  expect(series.get('rookery_role{role="leading"}')).toBe(1);
  expect(series.get('rookery_ready')).toBe(1);
  expect(series.get('rookery_disk_free_bytes{dir="data"}')).toBe(1 << 30);
  expect(series.has('rookery_disk_free_bytes{dir="log"}'), 'not known, so not there').toBe(false);
  expect(series.get('rookery_disk_free_files{dir="data"}')).toBe(500);
});

it('has the name of the ensemble on every series, where one is configured', async () => {
  const { series } = readExposition(await scrape({}, new ServerStats(), 'orders-eu'));
  const without = [...series.keys()].filter((one) => !one.includes('ensemble="orders-eu"'));
  expect(series.size).toBeGreaterThan(100);
  expect(without).toEqual([]);
  expect([...series.keys()].find((one) => one.startsWith('rookery_member_info'))).toContain(
    'ensemble_id="',
  );
  const bare = readExposition(await scrape()).series;
  expect([...bare.keys()].filter((one) => one.includes('ensemble="'))).toEqual([]);
});

it('has the settings that members should have in common, and no secret of them', async () => {
  const text = await scrape({}, new ServerStats(), 'orders-eu');
  const { series } = readExposition(text);
  const names = [...series.keys()].filter((one) => one.startsWith('rookery_setting_info'));
  expect(names.length).toBeGreaterThan(30);
  expect(text).toMatch(/rookery_setting_info\{[^}]*setting="maxClientCnxns",value="(?:\d+|null)"/);
  expect(text).toMatch(/setting="adminUsers",value="1"/);
  expect(text).not.toContain('1vdFRDCql3UzcxJ7kySyFCmtSF0');
});

it('says the same start of the process at each scrape, whatever the clock does', async () => {
  const startedAt = async () =>
    readExposition(await scrape()).series.get('process_start_time_seconds');
  const before = await startedAt();
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 90_000);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(await startedAt()).toBe(before);
});

it('has what only a leader has on a leader alone', async () => {
  expect(readExposition(await scrape()).series.has('synced_followers')).toBe(false);
  const { series } = readExposition(await scrape({ leader: LEADER_VIEW }));
  expect(series.get('synced_followers')).toBe(2);
});

it('has counters that end in _total and units in seconds or bytes in its own family', async () => {
  const { types } = readExposition(await scrape());
  for (const [name, type] of types) {
    if (!name.startsWith('rookery_')) continue;
    expect(name.endsWith('_total'), `${name} is a ${type}`).toBe(type === 'counter');
    expect(name).not.toMatch(/_ms$|_millis/);
    if (type === 'histogram') expect(name).toMatch(/_seconds$/);
  }
});

it('counts each client that is not let in under one reason', async () => {
  const tls = new TlsFigures();
  tls.plainRefused = 3;
  const stats = new ServerStats({ tls });
  stats.tokenDeficit.record(1);
  // All of them: three without TLS, one without a token, two beyond the limit of their address.
  stats.connectionsRejected = 6;
  const { series } = readExposition(await scrape({}, stats));
  const counted = (reason: string) =>
    series.get(`rookery_connections_rejected_total{reason="${reason}"}`);
  expect([counted('plain'), counted('rate'), counted('limit')]).toEqual([3, 1, 2]);
});

it('a histogram is cumulative and ends with all of it', async () => {
  const durations = new Durations();
  for (const ms of [0.01, 1, 1, 50, 100_000]) durations.record(ms);
  const text = await exposition([
    histogram('h_seconds', 'For a test.', [[{ class: 'a' }, durations]]),
  ]);
  const { series } = readExposition(text);
  const buckets = [...series].filter(([name]) => name.startsWith('h_seconds_bucket'));
  const values = buckets.map(([, value]) => value);
  expect(values).toEqual(values.toSorted((a, b) => a - b));
  expect(series.get('h_seconds_bucket{class="a",le="0.000064"}')).toBe(1);
  expect(series.get('h_seconds_bucket{class="a",le="0.001024"}')).toBe(3);
  expect(series.get('h_seconds_bucket{class="a",le="+Inf"}')).toBe(5);
  expect(series.get('h_seconds_count{class="a"}')).toBe(5);
  expect(series.get('h_seconds_sum{class="a"}')).toBeCloseTo(100.05201);
});

it('takes nothing but GET and HEAD, and knows no other path', async () => {
  const context = {
    view: memberView(),
    stats: new ServerStats(),
    wallMs: 0,
    connectionCount: 0,
    connections: () => [],
  };
  const router = metricsRouter({ context: () => context }, FREE);
  const ask = (method: string, path: string) =>
    router({
      method,
      path,
      query: new URLSearchParams(),
      headers: {},
      remoteAddress: '',
      ...UNREAD,
    });
  await expect(ask('POST', '/metrics')).rejects.toMatchObject({ status: 405 });
  await expect(ask('GET', '/commands/mntr')).rejects.toMatchObject({ status: 404 });
});
