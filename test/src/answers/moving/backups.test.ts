/**
 * Scheduled backups of real members: one follower takes one, which is sound and holds what was
 * written before; what stands against one is an event, a gauge and a line in the log.
 */
import { execFile } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statfsSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type Ensemble, useServingEnsemble } from '../../harness/ensemble.js';
import { httpGet, scrape } from '../../harness/http.js';
import type { Member } from '../../harness/member.js';
import { create } from '../../harness/operations.js';
import { ROOKERY_MAIN } from '../../harness/product.js';
import { useClient } from '../../harness/use-client.js';
import { until } from '../../harness/wait.js';

const TEST_DEADLINE_MS = 120_000;
/** The longest slot: the one that is now began months ago, and no test meets its end. */
const EVERY_MINUTES = 366 * 24 * 60;
const SAVED = 'rookery_backups_total{result="saved"}';

const run = promisify(execFile);

async function figure(member: Member, name: string): Promise<number | undefined> {
  return (await scrape(member.metricsPort)).get(name);
}

function backupsOf(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.endsWith('.gz'));
}

/** More than the disk of the members has free, of which a tenth, that a start needs, is there. */
function reserveAboveFree(): number {
  const { bavail, bsize } = statfsSync(import.meta.dirname);
  return 2 * bavail * bsize;
}

/** Their config gets these settings at the next start. */
function configure(ensemble: Ensemble, settings: object): void {
  for (const id of ensemble.ids) {
    const file = join(ensemble.directory, `config-${id}.json`);
    const config = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...config, ...settings }));
  }
}

it(
  'one follower takes the backup that is due, it holds what was written, and old ones go',
  async () => {
    const ensemble = await useServingEnsemble({ size: 3, operated: true });
    const client = await useClient(ensemble.member(1));
    for (let count = 0; count < 100; count++) await create(client, `/n${count}`, `${count}`);
    await Promise.all(ensemble.members.map((member) => member.stop()));
    const backups = join(ensemble.directory, 'backups');
    const old = join(backups, 'snapshot.1.gz');
    mkdirSync(backups);
    writeFileSync(old, '');
    utimesSync(old, 1, 1);
    const backupEveryMinutes = EVERY_MINUTES;
    configure(ensemble, { backupDirectory: 'backups', backupEveryMinutes, backupsKept: 1 });
    ensemble.start();
    await ensemble.serving();
    const followers = await ensemble.followers();
    const saved = await until('a follower has taken a backup', TEST_DEADLINE_MS, async () => {
      const counts = await Promise.all(followers.map((member) => figure(member, SAVED)));
      return counts.includes(1) ? counts : undefined;
    });
    expect(saved.toSorted()).toEqual([0, 1]);
    expect(await figure(await ensemble.leader(), SAVED)).toBe(0);
    const [name = '', ...others] = backupsOf(backups);
    expect([name, others]).toEqual([expect.not.stringMatching('snapshot.1.gz'), []]);
    const verify = [ROOKERY_MAIN, 'backup', 'verify', join(backups, name)];
    const { stdout } = await run(process.execPath, verify);
    expect(stdout).toMatch(/^sound: .*, 10\d znodes, .*, SHA-256 equal\n$/);
  },
  TEST_DEADLINE_MS,
);

it.each([
  ['its directory cannot be made', { backupDirectory: '/nowhere/backups' }, 'parent'],
  [
    'its disk would have too little room left',
    { backupDirectory: 'backups', diskReserveBytes: reserveAboveFree() },
    'bytes free',
  ],
])(
  'where %s, a backup fails by event, gauge and log line, and the member goes on',
  async (_, settings, reason) => {
    const ensemble = await useServingEnsemble({ size: 1, operated: true, settings });
    const member = ensemble.member(1);
    await until('a backup has failed', TEST_DEADLINE_MS, async () => {
      return (await figure(member, 'rookery_backup_failing')) === 1 || undefined;
    });
    const { text } = await httpGet(member.adminPort, '/api/v1/events');
    const { events } = JSON.parse(text);
    expect(events).toContainEqual(
      expect.objectContaining({
        level: 'error',
        event: expect.stringMatching(/^backup\.failed/),
        facts: { reason: expect.stringContaining(reason) },
      }),
    );
    expect(readFileSync(member.logFile, 'utf8')).toContain('backup.failed');
    expect(await figure(member, 'rookery_backups_total{result="failed"}')).toBe(1);
    expect((await httpGet(member.metricsPort, '/livez')).status).toBe(200);
  },
  TEST_DEADLINE_MS,
);
