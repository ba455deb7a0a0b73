/**
 * Checks the history of unique ids: no id is given twice, and none is smaller than one that was
 * answered before its own call.
 */
import { checkPlaces } from '../../checking/places.js';
import type { HistoryEntry } from '../history/entry.js';
import { operationsOf } from '../history/history-reader.js';
import type { Verdict } from '../workloads/workload.js';
import { countsOf, numberOf, verdictOf } from './verdicts.js';

export function checkUniqueIds(history: readonly HistoryEntry[]): Verdict {
  const operations = operationsOf(history);
  const problems: string[] = [];
  const given = new Set<number>();
  const placed = [];
  for (const { outcome, value, calledAt, endedAt } of operations) {
    if (outcome !== 'ok') continue;
    const id = numberOf(value);
    if (given.has(id)) problems.push(`${id} was given twice, again at ${endedAt}`);
    given.add(id);
    placed.push({ name: `id ${id}`, calledAt, answeredAt: endedAt, place: id });
  }
  problems.push(...checkPlaces(placed));
  return verdictOf(operations, { problems, counts: countsOf(operations) });
}
