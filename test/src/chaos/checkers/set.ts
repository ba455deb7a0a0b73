/**
 * Checks the history of grow-only sets, and names lost elements: those that were acknowledged and
 * are not in the last read.
 */
import { checkGrowOnlySet } from '../../checking/grow-only-set.js';
import type { HistoryEntry } from '../history/entry.js';
import { type HistoryOperation, operationsOf } from '../history/history-reader.js';
import type { Verdict } from '../workloads/workload.js';
import { byKey, countsOf, listOf, numberOf, verdictOf } from './verdicts.js';

export function checkSet(history: readonly HistoryEntry[]): Verdict {
  const operations = operationsOf(history);
  const problems: string[] = [];
  const unknown: string[] = [];
  for (const [key, group] of byKey(operations)) {
    const adds = group.filter(({ f, outcome }) => f === 'add' && outcome !== 'fail').map(addOf);
    const reads = group.filter(({ f, outcome }) => f === 'read' && outcome === 'ok').map(readOf);
    const last = reads.at(-1);
    if (last === undefined) {
      unknown.push(`set ${key} was never read`);
      continue;
    }
    const shown = new Set(last.elements);
    const lost = adds.filter(
      ({ element, answeredAt }) =>
        answeredAt !== null && answeredAt < last.calledAt && !shown.has(element),
    );
    for (const { element } of lost) problems.push(`set ${key}: ${element} is lost`);
    problems.push(...checkGrowOnlySet(adds, reads).map((problem) => `set ${key}: ${problem}`));
  }
  return verdictOf(operations, { problems, unknown, counts: countsOf(operations) });
}

function addOf({ asked, outcome, calledAt, endedAt }: HistoryOperation) {
  const element = numberOf(listOf(asked)[1]);
  return { element, calledAt, answeredAt: outcome === 'ok' ? endedAt : null };
}

function readOf({ value, calledAt, endedAt }: HistoryOperation) {
  return { elements: listOf(listOf(value)[1]).map(numberOf), calledAt, answeredAt: endedAt };
}
