/**
 * Debian's Prometheus scrapes three members with the rules of `ops/`: it takes every line that they
 * print, evaluates every alert, and has each name of ZooKeeper's official alerts from each member,
 * with figures that fit what happened: a load, a storm of watches, a slow disk, and an election.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type Ensemble, useServingEnsemble } from '../../harness/ensemble.js';
import { mayLack } from '../../harness/foreign.js';
import { create, exists, setData } from '../../harness/operations.js';
import { freePorts } from '../../harness/ports.js';
import { REPOSITORY } from '../../harness/product.js';
import { onSlowableDisks, slowDown } from '../../harness/slow-disk.js';
import { useClient } from '../../harness/use-client.js';
import { until } from '../../harness/wait.js';
import { OFFICIAL } from './queries.js';

const TEST_DEADLINE_MS = 180_000;
const DEADLINE_MS = 60_000;
const PROMETHEUS = '/usr/bin/prometheus';
const WATCHES = 500;
const SLOW_MS = 1200;

interface Prometheus {
  /** The values of a query by the port of the member. */
  values(query: string): Promise<ReadonlyMap<number, number>>;
  get(path: string): Promise<{ readonly data: Record<string, unknown> }>;
}

async function usePrometheus(ensemble: Ensemble): Promise<Prometheus> {
  const directory = join(ensemble.directory, 'prometheus');
  mkdirSync(directory);
  const targets = ensemble.members.map(({ metricsPort }) => `127.0.0.1:${metricsPort}`);
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [join(REPOSITORY, 'ops/prometheus/rules.yml')],
    scrape_configs: [{ job_name: 'rookery', static_configs: [{ targets }] }],
  };
  const file = join(directory, 'prometheus.yml');
  writeFileSync(file, JSON.stringify(config));
  const [port = 0] = await freePorts(1);
  const child = spawn(
    PROMETHEUS,
    [
      ...[`--config.file=${file}`, `--storage.tsdb.path=${join(directory, 'data')}`],
      ...[`--web.listen-address=127.0.0.1:${port}`, '--log.level=warn'],
    ],
    { stdio: 'inherit' },
  );
  onTestFinished(async () => {
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
  });
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    return JSON.parse(await response.text());
  };
  return {
    get,
    values: async (query) => {
      const { data } = await get(`query?query=${encodeURIComponent(query)}`);
      const found: [number, number][] = data.result.map(
        ({ metric, value }: { metric: { instance: string }; value: [number, string] }) => [
          Number(metric.instance.split(':')[1]),
          Number(value[1]),
        ],
      );
      return new Map(found);
    },
  };
}

it.skipIf(mayLack(PROMETHEUS))(
  'Prometheus has every name of the official alerts from each member, and all rules evaluate',
  async () => {
    const settings = { backupDirectory: 'backups' };
    const product = onSlowableDisks();
    const ensemble = await useServingEnsemble({ size: 3, operated: true, settings, product });
    const prometheus = await usePrometheus(ensemble);
    const ports = ensemble.members.map(({ metricsPort }) => metricsPort);
    const isUp = (count: number) =>
      until(`${count} members are scraped`, DEADLINE_MS, async () => {
        const up = await prometheus.values('up').catch(() => new Map<number, number>());
        return [...up.values()].filter((value) => value === 1).length === count || undefined;
      });
    await isUp(3);
    const former = await ensemble.leader();
    const [other] = await ensemble.followers();
    if (other === undefined) throw new Error('there is a follower');
    const client = await useClient(other);
    for (let count = 0; count < WATCHES; count++) await create(client, `/n${count}`, 'x');
    for (let count = 0; count < WATCHES; count++) await exists(client, `/n${count}`, true);
    const watched = await until('its watches are counted', DEADLINE_MS, async () => {
      const count = (await prometheus.values('watch_count')).get(other.metricsPort) ?? 0;
      return count >= WATCHES ? count : undefined;
    });
    expect(watched).toBe(WATCHES);
    const writer = await useClient(former);
    for (let count = 0; count < WATCHES; count++) await setData(writer, `/n${count}`, 'y');

    // The bound from which on a sync of the disk counts as slow is a second.
    const before = (await prometheus.values('fsynctime_sum')).get(other.metricsPort) ?? 0;
    slowDown(ensemble, other, SLOW_MS);
    await setData(writer, '/n0', 'z');
    const slow = await until('an alert tells of the slow disk', DEADLINE_MS, async () => {
      const alerts = await prometheus.values('ALERTS{alertname="RookeryHangingDisk"}');
      return alerts.size > 0 ? [...alerts.keys()] : undefined;
    });
    slowDown(ensemble, other, 0);
    expect(slow).toEqual([other.metricsPort]);
    await until('the time of the slow write is counted', DEADLINE_MS, async () => {
      const sum = (await prometheus.values('fsynctime_sum')).get(other.metricsPort) ?? 0;
      return sum >= before + SLOW_MS || undefined;
    });

    await former.kill();
    await isUp(2);
    ensemble.start([former.id]);
    await ensemble.serving();
    await isUp(3);
    await until('every official name is there from each member', DEADLINE_MS, async () => {
      for (const name of OFFICIAL) {
        const values = await prometheus.values(name);
        if (!ports.every((port) => Number.isFinite(values.get(port)))) return undefined;
      }
      return true;
    });
    const leader = await ensemble.leader();
    expect(leader.id).not.toBe(former.id);
    const counts = await prometheus.values('znode_count');
    for (const port of ports) expect(counts.get(port)).toBeGreaterThan(WATCHES);
    const elections = await prometheus.values('election_time_count');
    for (const port of ports) expect(elections.get(port)).toBeGreaterThan(0);
    const roles = await prometheus.values('rookery_role{role="leading"}');
    for (const { id, metricsPort } of ensemble.members) {
      expect(roles.get(metricsPort), `member ${id}`).toBe(id === leader.id ? 1 : 0);
    }
    const fsyncs = await prometheus.values('fsynctime_sum');
    expect(fsyncs.get(other.metricsPort)).toBeGreaterThan(0);
    expect((await prometheus.values(`jvm_memory_bytes_used{area="heap"} > 1e6`)).size).toBe(3);

    const rules = await until('each rule was evaluated', DEADLINE_MS, async () => {
      const { data } = await prometheus.get('rules');
      const groups = data['groups'] as { rules: { name: string; health: string }[] }[];
      const all = groups.flatMap((group) => group.rules);
      return all.length > 0 && all.every(({ health }) => health !== 'unknown') ? all : undefined;
    });
    expect(rules.length).toBeGreaterThan(10);
    for (const { name, health } of rules) expect(health, name).toBe('ok');
  },
  TEST_DEADLINE_MS,
);
