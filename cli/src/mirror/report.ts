/**
 * The report of `rookery mirror` at its end: what was copied, what is left, and what cannot be
 * copied at all.
 */
import { countText } from '../command/values.js';
import { type Tally, Troubles } from './tally.js';

export type Report = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export function reportOf(plan: Tally): Report {
  return {
    znodes: plan.znodes - plan.ephemerals,
    'would create': plan.created,
    'would change': plan.changed + plan.aclsChanged,
    'would delete': plan.deleted,
    'data bytes': plan.dataBytes,
    ...Object.assign({}, ...troublesPlanned(plan).map(([name, found]) => troubles(name, found))),
    ...sequencesOf(plan),
    ...identitiesOf(plan),
    'not carried': notCarried(plan),
  };
}

/** `done` is what was copied, and `left` the result of the last comparison. */
export function finalReportOf(done: Tally, left: Tally): Report {
  return {
    equal: isEqual(left),
    znodes: left.znodes - left.ephemerals,
    created: done.created,
    changed: done.changed + done.aclsChanged,
    deleted: done.deleted,
    'sequences raised': done.sequences.count,
    'differs now': left.changes,
    ...(left.finished === 0 ? {} : { 'ACLs finished': left.finished }),
    ...(isFinished(left)
      ? {}
      : { 'ACLs that still name the mirror': left.unfinished - left.finished }),
    ...Object.assign({}, ...troublesLeft(done, left).map(([name, found]) => troubles(name, found))),
    ...identitiesOf(left),
    'not carried': notCarried(left),
  };
}

/** Whether the target has, after the last comparison, all that can be carried. */
export function isEqual(left: Tally): boolean {
  return left.isComplete && left.changes + left.sequences.count === 0 && isFinished(left);
}

/** What keeps both ends from being equal, by the name that the report has for it. */
export function troublesLeft(done: Tally, left: Tally): readonly (readonly [string, Troubles])[] {
  return [
    ['only at the target', left.extras],
    ['refused', Troubles.joined(done.refused, left.refused)],
    ['differs for good', left.differing],
    ['sequence too low', left.sequences],
    ['not equal', left.unequal],
  ];
}

export function troublesPlanned(plan: Tally): readonly (readonly [string, Troubles])[] {
  return [
    ['only at the target', plan.extras],
    ['refused', plan.refused],
    ['differs for good', plan.differing],
  ];
}

function isFinished({ unfinished, finished }: Tally): boolean {
  return unfinished <= finished;
}

function sequencesOf({ sequences, sequenceSteps }: Tally): Report {
  if (sequences.count === 0) return {};
  const cost =
    sequenceSteps === 0
      ? 'it takes one request for each'
      : `it takes about ${countText(sequenceSteps, 'create')} and as many deletes`;
  return { ...troubles('sequences to raise', sequences), 'to raise them': cost };
}

function identitiesOf({ schemes }: Tally): Report {
  if (schemes.size === 0) return {};
  const texts = [...schemes].map(([scheme, count]) => `${scheme} (${countText(count, 'znode')})`);
  return { 'ACL identities that the target must know': texts };
}

function notCarried({ ephemerals, ttlZnodes }: Tally): readonly string[] {
  return [
    `${countText(ephemerals, 'ephemeral znode')}: clients create them again`,
    'zxids, times and versions: a client that remembers a version or a zxid must read again',
    ...(ttlZnodes === 0
      ? []
      : [`the age of ${countText(ttlZnodes, 'TTL znode')} begins at the copy`]),
    'sessions, watches, quotas and /zookeeper',
  ];
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
