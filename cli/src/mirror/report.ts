/**
 * The report of `rookery mirror` at its end: what was copied, what is left, and what cannot be
 * copied at all.
 */
import { counted } from '../counted.js';
import type { Tally, Troubles } from './tally.js';

export type Report = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** `left` is the result of the last comparison; `done` is what was copied before it. */
export function reportOf(kind: 'plan' | 'mirror', left: Tally, done: Tally | null): Report {
  const would = kind === 'plan';
  const carried = done ?? left;
  const schemes = [...left.schemes].map(
    ([scheme, count]) => `${scheme} (${counted(count, 'znode')})`,
  );
  return {
    ...(would ? {} : { equal: left.isComplete && left.changes === 0 }),
    znodes: left.znodes - left.ephemerals,
    [would ? 'would create' : 'created']: carried.created,
    [would ? 'would change' : 'changed']: carried.changed + carried.aclsChanged,
    [would ? 'would delete' : 'deleted']: carried.deleted,
    ...(would ? { 'data bytes': carried.dataBytes } : {}),
    ...(would ? {} : { 'sequences raised': carried.sequences }),
    ...(would ? {} : { 'differs now': left.changes }),
    ...troubles('only at the target', left.extras),
    ...troubles('refused', left.refused),
    ...(would ? {} : troubles('differs for good', left.differing)),
    ...(schemes.length === 0 ? {} : { 'ACL identities that the target must know': schemes }),
    'not carried': [
      `${counted(left.ephemerals, 'ephemeral znode')}: clients create them anew`,
      'zxids, times and versions: a client that remembers a version or a zxid begins anew',
      ...(left.ttlZnodes === 0
        ? []
        : [`the age of ${counted(left.ttlZnodes, 'TTL znode')} begins at the copy`]),
      'sessions, watches, quotas and /zookeeper',
    ],
  };
}

export function textOf(report: Report): string {
  const width = Math.max(...Object.keys(report).map((name) => name.length)) + 2;
  return Object.entries(report)
    .map(([name, value]) => {
      const texts = Array.isArray(value) ? value : [String(value)];
      return texts.map((text, at) => `${(at === 0 ? name : '').padEnd(width)}${text}\n`).join('');
    })
    .join('');
}

function troubles(name: string, { count, examples }: Troubles): Report {
  if (count === 0) return {};
  const more = count > examples.length ? [`and ${count - examples.length} more`] : [];
  return { [name]: [...examples, ...more] };
}
