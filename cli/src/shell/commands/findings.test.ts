/** What `check` makes of a member's metrics and of `mntr`. */
import { expect, it } from 'vitest';
import {
  backupFindings,
  certificateFindings,
  checkpointFindings,
  damageFindings,
  diskFindings,
  settingFindings,
} from './findings.js';

const NOW = 1_800_000_000;
const DAY = 86_400;

const SLOW = 'The disk of member 1 takes a second and more to make a write durable.';

it.each([
  ['zk_avg_fsynctime\t999.9\n', []],
  ['zk_avg_latency\t0.1\nzk_avg_fsynctime\t4021.5\nzk_max_fsynctime\t9000\n', [SLOW]],
  ['fsynctime{quantile="0.5"} 999\nfsynctime_sum 90000\n', []],
  ['fsynctime{quantile="0.5"} 4000\n', [SLOW]],
  ['fsynctime{quantile="0.5",ensemble="a"} 1000\n', [SLOW]],
])('how long the disk of a member takes: %j', (text, expected) => {
  const answers = [
    { name: 'member 1', text },
    { name: 'member 1', text },
  ];
  expect(diskFindings(answers).map(({ what }) => what)).toEqual(expected);
});

it('a server that does not tell how long its disk takes is not judged', () => {
  const text = 'This ZooKeeper instance is not currently serving requests\n';
  expect(diskFindings([{ name: 'a', text }])).toEqual([]);
});

it.each([
  [31, null, ''],
  [29, true, 'The certificate for clients of member 2 expires in 29 days.'],
  [7, true, 'The certificate for clients of member 2 expires in 7 days.'],
  [6.9, false, 'The certificate for clients of member 2 expires in 6 days.'],
  [1, false, 'The certificate for clients of member 2 expires in 1 day.'],
  [-1, false, 'The certificate for clients of member 2 has expired.'],
])('a certificate with %d days left', (days, isWarning, what) => {
  const series = `rookery_tls_certificate_expiry_seconds{ensemble="a"} ${NOW + days * DAY}`;
  const text = `# TYPE rookery_tls_certificate_expiry_seconds gauge\n${series}\n`;
  const found = certificateFindings([{ name: 'member 2', text }], NOW);
  expect(found.map((one) => [one.isWarning ?? false, one.what])).toEqual(
    isWarning === null ? [] : [[isWarning, what]],
  );
});

it.each([
  ['rookery_peer_tls_certificate_expiry_seconds', 'The certificate for members'],
  ['rookery_tls_authority_expiry_seconds', 'An authority of clients'],
  ['rookery_peer_tls_authority_expiry_seconds', 'An authority of members'],
])('%s is watched, too', (metric, what) => {
  const [found] = certificateFindings([{ name: 'a', text: `${metric} ${NOW + DAY}\n` }], NOW);
  expect(found?.what).toContain(what);
});

it('files that do not belong together, which a running member does not take, are a problem', () => {
  const text = 'rookery_tls_certificate_stale 1\nrookery_peer_tls_certificate_stale 0\n';
  const found = certificateFindings([{ name: 'member 3', text }], NOW);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ kind: 'certificate' });
  expect(found[0]?.what).toContain('member 3 cannot use the new files of its certificate');
});

it('settings of members that differ are named with their values', () => {
  const of = (cnxns: number) =>
    [
      `rookery_setting_info{setting="maxClientCnxns",value="${cnxns}"} 1`,
      `rookery_setting_info{ensemble="a",setting="readOnlyMode",value="false"} 1`,
    ].join('\n');
  const scraped = [60, 60, 0].map((cnxns, at) => ({ name: `member ${at + 1}`, text: of(cnxns) }));
  expect(settingFindings(scraped).map(({ what }) => what)).toEqual([
    'The configurations differ in maxClientCnxns: member 1, member 2 60; member 3 0.',
  ]);
  expect(settingFindings(scraped.slice(0, 2))).toEqual([]);
  // A member of an earlier release tells none.
  expect(settingFindings([...scraped.slice(0, 2), { name: 'old', text: '' }])).toEqual([]);
});

it.each([
  ['rookery_backup_failing', 'member 2 could not take the last scheduled backup that it tried to.'],
  [
    'rookery_backup_prune_failing',
    'member 2 cannot remove old backups, so that they need more and more room.',
  ],
])('%s is a finding while it is 1', (metric, what) => {
  const text = (value: number) => `# TYPE ${metric} gauge\n${metric}{ensemble="a"} ${value}\n`;
  const scraped = [0, 1].map((value, at) => ({ name: `member ${at + 1}`, text: text(value) }));
  expect(backupFindings(scraped).map((finding) => finding.what)).toEqual([what]);
});

it.each([
  [0, 0, null, ''],
  [1, 0, false, 'member 3 has found damage on its disk, and repairs it from memory.'],
  [2, 1, false, 'member 3 has found damage on its disk, and repairs it from memory.'],
  [2, 2, true, 'member 3 has repaired damage of its disk since its start (times: 2).'],
])('damage found %d times and repaired %d times', (found, repaired, isWarning, what) => {
  const text =
    `rookery_disk_damages_found_total{ensemble="a"} ${found}\n` +
    `rookery_disk_damages_repaired_total{ensemble="a"} ${repaired}\n`;
  const findings = damageFindings([{ name: 'member 3', text }]);
  expect(findings.map((one) => [one.isWarning ?? false, one.what])).toEqual(
    isWarning === null ? [] : [[isWarning, what]],
  );
});

it('a checkpoint that was given up is a warning about the disk, and no damage', () => {
  const scraped = [0, 1].map((value) => ({
    name: `member ${value}`,
    text: `rookery_checkpoint_given_up{ensemble="a"} ${value}\n`,
  }));
  const found = checkpointFindings(scraped).map(({ kind, what, isWarning }) => [
    kind,
    what,
    isWarning,
  ]);
  const what = 'member 1 has given up a checkpoint because its disk was full; nothing is damaged.';
  expect([found, damageFindings(scraped)]).toEqual([[['disk', what, true]], []]);
});
