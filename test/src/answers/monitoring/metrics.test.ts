/**
 * What monitoring sees of real members: the names that alerts and dashboards use, in each role,
 * with plausible values; and the probes, while a majority is lost.
 */
import { rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { newTestDirectory, useServingEnsemble } from '../../harness/ensemble.js';
import { httpGet, scrape } from '../../harness/http.js';
import { create, exists } from '../../harness/operations.js';
import { useClient } from '../../harness/use-client.js';
import { until } from '../../harness/wait.js';
import { TestAuthority } from '../../simulated.js';
import { alertQueries, dashboardQueries, namesIn, OFFICIAL } from './queries.js';

const TEST_DEADLINE_MS = 120_000;
const DEADLINE_MS = 30_000;
const EXPIRIES = [
  'rookery_tls_certificate_expiry_seconds',
  'rookery_tls_authority_expiry_seconds',
  'rookery_tls_revocation_list_expiry_seconds',
  'rookery_peer_tls_certificate_expiry_seconds',
  'rookery_peer_tls_authority_expiry_seconds',
  'rookery_peer_tls_revocation_list_expiry_seconds',
];

it(
  'members print every name that an alert or the dashboard uses, with plausible values',
  async () => {
    const directory = newTestDirectory();
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const authority = new TestAuthority(directory);
    const { certFile, keyFile } = authority.server();
    const files = { certFile, keyFile, caFile: authority.caFile };
    const lists = { crlFiles: [authority.revocationList('list')] };
    const settings = {
      backupDirectory: 'backups',
      auditFile: 'audit.jsonl',
      tls: { ...files, ...lists },
      peerAuth: { tls: { ...files, ...lists } },
    };
    const ensemble = await useServingEnsemble({ operated: true, secure: true, settings });
    const [leader, [follower]] = [await ensemble.leader(), await ensemble.followers()];
    if (follower === undefined) throw new Error('there is a follower');
    const client = await useClient(follower);
    await exists(client, '/n', true);
    for (const name of ['/n', '/n/1', '/n/2']) await create(client, name);
    const [led, followed] = [await scrape(leader.metricsPort), await scrape(follower.metricsPort)];
    const bare = new Set([...led.keys(), ...followed.keys()].map((key) => key.replace(/\{.*/, '')));
    const queries = [...alertQueries(), ...dashboardQueries()];
    expect(queries.length).toBeGreaterThan(40);
    for (const query of queries) {
      const names = namesIn(query);
      if (!query.startsWith('up')) expect(names.length, query).toBeGreaterThan(0);
      for (const name of names) expect(bare, query).toContain(name);
    }
    for (const seen of [led, followed]) {
      for (const name of EXPIRIES) expect(seen.get(name), name).toBeGreaterThan(Date.now() / 1000);
    }
    for (const name of OFFICIAL) {
      for (const seen of [led, followed]) expect(seen.has(name), name).toBe(true);
    }
    for (const seen of [led, followed]) {
      for (const name of ['fsynctime_count', 'election_time_count', 'propagation_latency_count']) {
        expect(seen.get(name), name).toBeGreaterThan(0);
      }
      expect(seen.get('rookery_fsync_duration_seconds_sum')).toBeGreaterThan(0);
      // Each create takes 20 bytes of its proposal's header, 28 of its own head, and the rest.
      expect(seen.get('rookery_log_appended_bytes_total')).toBeGreaterThan(3 * 48);
      expect(seen.get('rookery_ready')).toBe(1);
    }
    expect(led.get('rookery_role{role="leading"}')).toBe(1);
    expect(led.get('quorum_ack_latency_count')).toBeGreaterThanOrEqual(3);
    expect(followed.get('rookery_role{role="following"}')).toBe(1);
    expect(followed.get('node_created_watch_count_count')).toBe(1);
    expect([led.has('synced_followers'), followed.has('synced_followers')]).toEqual([true, false]);
    expect(followed.get('rookery_zxid{stage="applied"}')).toBeGreaterThan(2 ** 32);
  },
  TEST_DEADLINE_MS,
);

it(
  'a member without its quorum is live and not ready, and ready again with it',
  async () => {
    const ensemble = await useServingEnsemble({ operated: true });
    const [leader, followers] = [await ensemble.leader(), await ensemble.followers()];
    const [left] = followers;
    if (left === undefined) throw new Error('there is a follower');
    expect(await httpGet(left.metricsPort, '/readyz')).toMatchObject({ status: 200, text: 'ok\n' });
    for (const member of [leader, ...followers.slice(1)]) await member.kill();
    const alone = await until('it is not ready', DEADLINE_MS, async () => {
      const reply = await httpGet(left.metricsPort, '/readyz');
      expect((await httpGet(left.adminPort, '/livez')).status, 'it is live all the time').toBe(200);
      return reply.status === 503 ? reply : undefined;
    });
    expect(alone.text).toContain('[-]leader failed: it has neither led nor followed for ');
    expect((await httpGet(left.metricsPort, '/readyz?exclude=leader')).status).toBe(200);
    expect((await scrape(left.metricsPort)).get('rookery_ready')).toBe(0);
    ensemble.start([leader.id]);
    await until('it is ready again', DEADLINE_MS, async () => {
      expect((await httpGet(left.metricsPort, '/livez')).status).toBe(200);
      return (await httpGet(left.metricsPort, '/readyz')).status === 200;
    });
  },
  TEST_DEADLINE_MS,
);
