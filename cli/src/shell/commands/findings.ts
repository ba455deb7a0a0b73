/**
 * What `check` concludes from the answers of members: versions, configurations, digests. Computes
 * only.
 */

export interface Finding {
  /**
   * For scripts: no-service, no-quorum, leader-unknown, two-leaders, version, lag, configuration,
   * digest...
   */
  readonly kind: string;
  readonly what: string;
  /** What to do about it. */
  readonly remedy: string;
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

/** Lines such as `1000a: ca752c0c02bd08cd`: the digest of the tree at a zxid. */
export function digestsIn(text: string): readonly (readonly [zxid: string, digest: string])[] {
  return [...text.matchAll(/^(?:0x)?([\da-f]{1,16}): *(-?[\da-f]{1,20})$/gm)].map(
    ([, zxid = '', digest = '']) => [zxid, digest] as const,
  );
}

/** Null while two members have told no digest of the same zxid yet. */
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
