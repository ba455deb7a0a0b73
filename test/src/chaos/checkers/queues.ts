/**
 * Checks the histories of queues for patterns that no queue shows, and names lost elements: those
 * that were put in and never came out, although the queue was drained.
 */
import { checkQueue, type QueueHistory } from '../../checking/queue-patterns.js';
import type { HistoryEntry } from '../history/entry.js';
import { type HistoryOperation, operationsOf } from '../history/history-reader.js';
import type { Verdict } from '../workloads/workload.js';
import { countsOf, numberOf, verdictOf } from './verdicts.js';

export function checkTotalQueue(history: readonly HistoryEntry[]): Verdict {
  return judged(operationsOf(history), false);
}

export function checkLinearQueue(history: readonly HistoryEntry[]): Verdict {
  return judged(operationsOf(history), true);
}

function judged(operations: readonly HistoryOperation[], isOrdered: boolean): Verdict {
  const queue = queueOf(operations);
  const problems = [...lostOf(queue), ...checkQueue(queue, { isOrdered })];
  const isDrained = operations.at(-1)?.outcome === 'ok' && operations.at(-1)?.value === null;
  const unknown = isDrained ? [] : ['the queue was not drained'];
  return verdictOf(operations, { problems, unknown, counts: countsOf(operations) });
}

function queueOf(operations: readonly HistoryOperation[]): QueueHistory {
  const effective = operations.filter(({ outcome }) => outcome !== 'fail');
  return {
    enqueues: effective
      .filter(({ f }) => f === 'enqueue')
      .map((one) => ({ element: numberOf(one.asked), ...intervalOf(one) })),
    dequeues: effective
      .filter(({ f }) => f === 'dequeue')
      .map((one) => ({
        element: one.value === null ? null : numberOf(one.value),
        ...intervalOf(one),
      })),
  };
}

function intervalOf({ calledAt, endedAt, outcome }: HistoryOperation) {
  return { calledAt, answeredAt: outcome === 'ok' ? endedAt : null };
}

function lostOf({ enqueues, dequeues }: QueueHistory): string[] {
  const drainedAt = dequeues.findLast(({ element }) => element === null)?.calledAt ?? 0;
  const given = new Set(dequeues.map(({ element }) => element));
  return enqueues
    .filter(({ answeredAt }) => answeredAt !== null && answeredAt < drainedAt)
    .filter(({ element }) => !given.has(element))
    .map(({ element }) => `${element} is lost`);
}
