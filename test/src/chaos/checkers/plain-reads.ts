/**
 * Checks plain reads. No reader goes back in time. Each value was written by one write, which was
 * called before the value was read. Writes have zxids in the order of their answers and calls.
 */
import { checkPlaces } from '../../checking/places.js';
import { checkPrefixReads, type PrefixStep } from '../../checking/prefix-reads.js';
import type { HistoryEntry } from '../history/entry.js';
import { type HistoryOperation, operationsOf } from '../history/history-reader.js';
import type { Verdict } from '../workloads/workload.js';
import { countsOf, listOf, numberOf, verdictOf } from './verdicts.js';

export function checkPlainReads(history: readonly HistoryEntry[]): Verdict {
  const operations = operationsOf(history);
  const seen = operations.filter(({ outcome }) => outcome === 'ok').map(seenOf);
  const steps = seen
    .map((one): PrefixStep => ({ ...one, kind: one.isRead ? 'read' : 'wrote' }))
    .sort((a, b) => a.at - b.at);
  const writes = seen
    .filter(({ isRead }) => !isRead)
    .map(({ value, zxid, calledAt, at }) => ({
      name: `the write of ${value}`,
      calledAt,
      answeredAt: at,
      place: zxid,
    }));
  const problems = [
    ...checkPrefixReads(steps),
    ...checkPlaces(writes),
    ...valueProblems(seen, operations),
  ];
  return verdictOf(operations, { problems, counts: countsOf(operations) });
}

interface Seen {
  readonly isRead: boolean;
  readonly reader: number;
  readonly register: number;
  readonly value: number;
  readonly zxid: number;
  readonly reached: number;
  readonly calledAt: number;
  readonly at: number;
}

function seenOf({ f, client, value, zxid, calledAt, endedAt }: HistoryOperation): Seen {
  const [register, shown, written] = listOf(value).map(numberOf);
  return {
    isRead: f === 'read',
    reader: client,
    register: numberOf(register),
    value: numberOf(shown),
    zxid: numberOf(written),
    reached: zxid,
    calledAt,
    at: endedAt,
  };
}

/** Finds wrong values. Every register begins with 0, at the zxid of its creation. */
function valueProblems(seen: readonly Seen[], operations: readonly HistoryOperation[]): string[] {
  const problems: string[] = [];
  const asked = new Map<string, number>();
  for (const { f, outcome, asked: what, calledAt } of operations) {
    if (f === 'write' && outcome !== 'fail') asked.set(listOf(what).join(), calledAt);
  }
  const zxids = new Map<string, number>();
  for (const { register, value, zxid, at } of seen) {
    const name = `${register},${value}`;
    const calledAt = asked.get(name);
    if (value !== 0 && (calledAt === undefined || calledAt > at)) {
      problems.push(`register ${register} showed ${value} at ${at}, which nobody had written`);
    }
    const other = zxids.get(name) ?? zxid;
    zxids.set(name, zxid);
    if (other !== zxid) {
      problems.push(`register ${register}: ${value} was written twice, at ${other} and ${zxid}`);
    }
  }
  return problems;
}
