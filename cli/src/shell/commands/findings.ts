/**
 * Draws the conclusions of `check` from the answers of members: versions, configurations, digests.
 * Pure.
 */

export interface Finding {
  /**
   * For scripts: no-service, no-quorum, leader-unknown, two-leaders, version, lag, configuration,
   * slow-disk, certificate, backup, digest...
   */
  readonly kind: string;
  readonly what: string;
  /** What to do about it. */
  readonly remedy: string;
  /** Present where nothing is wrong yet: the exit code stays 0 for such findings alone. */
  readonly isWarning?: true;
}

export interface Answers {
  readonly name: string;
  readonly text: string;
}

export function versionFindings(versions: readonly Answers[]): readonly Finding[] {
  const groups = grouped(versions);
  if (groups.size <= 1) return [];
  return [
    {
      kind: 'version',
      what: `The versions differ: ${groupsText(groups)}.`,
      remedy: 'Finish the upgrade, member by member.',
    },
  ];
}

/** The settings that must be equal; addresses and directories are each member's own. */
const SHARED: readonly string[] = [
  ...['tickTime', 'initLimit', 'syncLimit', 'minSessionTimeout', 'maxSessionTimeout'],
];

export function configurationFindings(answers: readonly Answers[]): readonly Finding[] {
  const findings: Finding[] = [];
  for (const key of [...SHARED, 'servers']) {
    const values = answers.map(({ name, text }) => ({ name, text: settingOf(text, key) }));
    const groups = grouped(values.filter(({ text }) => text !== ''));
    if (groups.size <= 1) continue;
    findings.push({
      kind: 'configuration',
      what: `The configurations differ in ${key}: ${groupsText(groups)}.`,
      remedy: 'Make the files equal, and restart the members whose file changed.',
    });
  }
  return findings;
}

/** '' if the member does not tell it. */
function settingOf(text: string, key: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  if (key === 'servers') {
    return lines
      .filter((line) => line.startsWith('server.'))
      .sort()
      .join(' ');
  }
  return lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1) ?? '';
}

/** A disk at which a group commit takes this long is slow. */
const SLOW_SYNC_MS = 1000;
/** The average since the start in `mntr`, and the median of the last minutes in `/metrics`. */
const SYNC_TIMES = [
  /^zk_avg_fsynctime\t([\d.]{1,20})$/m,
  /^fsynctime\{quantile="0\.5"[^}\n]{0,200}\} ([\d.]{1,20})$/m,
];

/** By answers to `mntr` and `/metrics`; a server that does not tell the figure is not judged. */
export function diskFindings(answers: readonly Answers[]): readonly Finding[] {
  const slow = answers.filter(({ text }) =>
    SYNC_TIMES.some((figure) => Number(figure.exec(text)?.[1] ?? 0) >= SLOW_SYNC_MS),
  );
  return [...new Set(slow.map(({ name }) => name))].map((name) => ({
    kind: 'slow-disk',
    what: `The disk of ${name} takes a second and more to make a write durable.`,
    remedy: 'Look for what else uses that disk, and at its health; iostat -x 1 shows its load.',
  }));
}

const DAY_SECONDS = 86_400;
const DAYS_WARN = 30;
const DAYS_LEFT = 7;
/** What can expire, by the end of its metric. */
const EXPIRING: readonly (readonly [metric: string, what: string])[] = [
  ['rookery_tls_certificate', 'The certificate for clients'],
  ['rookery_peer_tls_certificate', 'The certificate for members'],
  ['rookery_tls_authority', 'An authority of clients in caFile'],
  ['rookery_peer_tls_authority', 'An authority of members in caFile'],
];
const STALE: readonly (readonly [metric: string, what: string])[] = [
  ['rookery_tls_certificate_stale', 'certificate for clients'],
  ['rookery_peer_tls_certificate_stale', 'certificate for members'],
];

export function certificateFindings(
  scraped: readonly Answers[],
  nowSeconds: number,
): readonly Finding[] {
  return scraped.flatMap(({ name, text }) => [
    ...STALE.filter(([metric]) => sampleOf(text, metric) === 1).map(([, what]) => ({
      kind: 'certificate',
      what: `${name} cannot use the new files of its ${what}, and keeps what it had.`,
      remedy:
        'The certificate and its key may not belong together: files.not_reloaded in its log says ' +
        'why. It would not start with these files.',
    })),
    ...EXPIRING.flatMap(([metric, what]) => {
      const end = sampleOf(text, `${metric}_expiry_seconds`);
      return end === null ? [] : expiryFinding(`${what} of ${name}`, end - nowSeconds);
    }),
  ]);
}

function expiryFinding(what: string, leftSeconds: number): readonly Finding[] {
  const days = leftSeconds / DAY_SECONDS;
  if (days >= DAYS_WARN) return [];
  const left = Math.floor(days);
  const ends = days <= 0 ? 'has expired' : `expires in ${left === 1 ? '1 day' : `${left} days`}`;
  const found = {
    kind: 'certificate',
    what: `${what} ${ends}.`,
    remedy: 'Replace the files: members read them again without a restart.',
  };
  return [days < DAYS_LEFT ? found : { ...found, isWarning: true }];
}

/** Damage that a member has found on its disk while it served. */
export function damageFindings(scraped: readonly Answers[]): readonly Finding[] {
  return scraped.flatMap(({ name, text }) => {
    const found = sampleOf(text, 'rookery_disk_damages_found_total') ?? 0;
    const repaired = sampleOf(text, 'rookery_disk_damages_repaired_total') ?? 0;
    if (found === 0) return [];
    if (found > repaired) {
      return [
        {
          kind: 'damage',
          what: `${name} has found damage on its disk, and repairs it from memory.`,
          remedy:
            'Do not restart it before that. /readyz?verbose says what the repair waits for, ' +
            'disk.damaged in its log what was damaged.',
        },
      ];
    }
    return [
      {
        kind: 'damage',
        what: `${name} has repaired damage of its disk since its start (times: ${repaired}).`,
        remedy: 'Look at the health of that disk: disk.damaged in its log says what was damaged.',
        isWarning: true,
      },
    ];
  });
}

/** Checkpoints that met a full disk and are not written again yet, which is no damage. */
export function checkpointFindings(scraped: readonly Answers[]): readonly Finding[] {
  return scraped.flatMap(({ name, text }) =>
    sampleOf(text, 'rookery_checkpoint_given_up') !== 1
      ? []
      : [
          {
            kind: 'disk',
            what: `${name} has given up a checkpoint because its disk was full; nothing is damaged.`,
            remedy:
              'Make room for a second copy of its state: the next attempt follows by itself. ' +
              '/readyz?verbose says what it waits for.',
            isWarning: true,
          },
        ],
  );
}

/** Backups that fail, and old ones that stay although the rule does not keep them. */
export function backupFindings(scraped: readonly Answers[]): readonly Finding[] {
  return scraped.flatMap(({ name, text }) => [
    ...backupFinding(text, 'rookery_backup_failing', {
      what: `${name} could not take the last scheduled backup that it tried to.`,
      remedy: 'Remove the cause: backup.failed in its log says what it is.',
    }),
    ...backupFinding(text, 'rookery_backup_prune_failing', {
      what: `${name} cannot remove old backups, so that they need more and more room.`,
      remedy: 'Remove the cause: backup.prune_failed in its log names one and says what it is.',
    }),
  ]);
}

function backupFinding(
  text: string,
  metric: string,
  finding: Pick<Finding, 'what' | 'remedy'>,
): readonly Finding[] {
  return sampleOf(text, metric) === 1 ? [{ kind: 'backup', ...finding }] : [];
}

/** Null if the member has no such metric. Labels do not matter: each has one series. */
function sampleOf(text: string, metric: string): number | null {
  for (const line of text.split('\n')) {
    const rest = line.startsWith(metric) ? line.slice(metric.length) : '';
    if (rest[0] !== ' ' && rest[0] !== '{') continue;
    return Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  return null;
}

/** The settings that are not equal at all members that tell them. */
export function settingFindings(scraped: readonly Answers[]): readonly Finding[] {
  const told = scraped.map(({ name, text }) => ({ name, settings: settingsIn(text) }));
  const names = new Set(told.flatMap(({ settings }) => [...settings.keys()]));
  return [...names].flatMap((setting) => {
    const values = told.flatMap(({ name, settings }) => {
      const text = settings.get(setting);
      return text === undefined ? [] : [{ name, text }];
    });
    const groups = grouped(values);
    if (groups.size <= 1) return [];
    return {
      kind: 'configuration',
      what: `The configurations differ in ${setting}: ${groupsText(groups)}.`,
      remedy: 'Make the files equal, and restart the members whose file changed.',
    };
  });
}

function settingsIn(text: string): ReadonlyMap<string, string> {
  const series =
    /^rookery_setting_info\{(?:[a-z_]+="[^"\n]*",)?setting="([^"\n]*)",value="([^"\n]*)"/;
  const found = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, setting, value] = series.exec(line) ?? [];
    if (setting !== undefined && value !== undefined) found.set(setting, value);
  }
  return found;
}

/** Lines such as `1000a: ca752c0c02bd08cd`: the digest of the tree at a zxid. */
export function digestsIn(text: string): readonly (readonly [zxid: string, digest: string])[] {
  return [...text.matchAll(/^(?:0x)?([\da-f]{1,16}): *(-?[\da-f]{1,20})$/gm)].map(
    ([, zxid = '', digest = '']) => [zxid, digest] as const,
  );
}

/** Null until two members have reported a digest of the same zxid. */
export function digestFindings(
  known: ReadonlyMap<string, ReadonlyMap<string, string>>,
): readonly Finding[] | null {
  const [first, ...others] = [...known];
  if (first === undefined) return [];
  let isComplete = true;
  for (const [name, digests] of others) {
    const common = [...first[1].keys()].filter((zxid) => digests.has(zxid));
    if (common.length === 0) isComplete = false;
    const zxid = common.find((one) => first[1].get(one) !== digests.get(one));
    if (zxid !== undefined) return [differing(known, zxid, name)];
  }
  return isComplete ? [] : null;
}

function differing(
  known: ReadonlyMap<string, ReadonlyMap<string, string>>,
  zxid: string,
  name: string,
): Finding {
  const told = [...known].flatMap(([member, digests]) => {
    const text = digests.get(zxid);
    return text === undefined ? [] : [{ name: member, text }];
  });
  const groups = [...grouped(told)].sort(([, a], [, b]) => a.length - b.length);
  const [, odd = [name]] = groups[0] ?? [];
  const isMinority = odd.length * 2 < told.length;
  const whose = isMinority ? `${odd.join(', ')} has another tree` : 'the trees differ';
  const remedy = isMinority
    ? `Keep its log and data; then stop it, empty its directory and start it: it takes a snapshot.`
    : 'Keep the logs and data of all; no majority says which tree is right.';
  return {
    kind: 'digest',
    what: `At zxid 0x${zxid} ${whose}: ${groupsText(grouped(told))}.`,
    remedy,
  };
}

/** The members by what they say. */
function grouped(values: readonly Answers[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { name, text } of values) groups.set(text, [...(groups.get(text) ?? []), name]);
  return groups;
}

function groupsText(groups: ReadonlyMap<string, readonly string[]>): string {
  return [...groups].map(([text, names]) => `${names.join(', ')} ${text}`).join('; ');
}
