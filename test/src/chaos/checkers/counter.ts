/**
 * Checks the history of counters.
 *
 * Sequence numbers tell how many children there were before. Every addition with a known answer
 * therefore has an exact position, and so has every read: behind the additions that it counts.
 * Additions with an unknown outcome may fill gaps, each of them one.
 */
import { checkPlaces, type Placed } from '../../checking/places.js';
import type { HistoryEntry } from '../history/entry.js';
import { type HistoryOperation, operationsOf } from '../history/history-reader.js';
import type { Verdict } from '../workloads/workload.js';
import { byKey, countsOf, listOf, numberOf, verdictOf } from './verdicts.js';

export function checkCounter(history: readonly HistoryEntry[]): Verdict {
  const operations = operationsOf(history);
  const problems: string[] = [];
  for (const [key, group] of byKey(operations)) {
    problems.push(...problemsOf(group).map((problem) => `counter ${key}: ${problem}`));
  }
  return verdictOf(operations, { problems, counts: countsOf(operations) });
}

function problemsOf(group: readonly HistoryOperation[]): string[] {
  const adds = group.filter(({ f, outcome }) => f === 'add' && outcome !== 'fail');
  const known = adds.filter(({ outcome }) => outcome === 'ok').map(addOf);
  const reads = group.filter(({ f, outcome }) => f === 'read' && outcome === 'ok').map(readOf);
  const problems = numberProblems(known);
  for (const read of reads) problems.push(...readProblems(read, adds, known));
  const places: Placed[] = [...known, ...reads];
  return [...problems, ...checkPlaces(places)];
}

interface Add extends Placed {
  readonly step: number;
  readonly numbers: readonly number[];
}

function addOf({ value, calledAt, endedAt }: HistoryOperation): Add {
  const [, step, numbers] = listOf(value);
  const given = listOf(numbers).map(numberOf);
  const first = Math.min(...given);
  // The position is between the count before the addition and the count after it.
  const place = first + 0.5;
  const name = `the addition from ${first}`;
  return { name, calledAt, answeredAt: endedAt, place, step: numberOf(step), numbers: given };
}

interface Read extends Placed {
  readonly count: number;
  readonly statCount: number;
}

function readOf({ value, calledAt, endedAt }: HistoryOperation): Read {
  const [, listed, told] = listOf(value);
  const count = numberOf(listed);
  const name = `the read of ${count}`;
  return { name, calledAt, answeredAt: endedAt, place: count, count, statCount: numberOf(told) };
}

function numberProblems(adds: readonly Add[]): string[] {
  const problems: string[] = [];
  const given = new Set<number>();
  for (const { name, numbers, step } of adds) {
    const first = numbers[0] ?? Number.NaN;
    const isRun = numbers.every((number, index) => number === first + index);
    if (!isRun || numbers.length !== step) problems.push(`${name} got ${numbers.join(' ')}`);
    if (first % step !== 0) problems.push(`${name} begins within another addition of ${step}`);
    for (const number of numbers) {
      if (given.has(number)) problems.push(`${number} was given twice`);
      given.add(number);
    }
  }
  return problems;
}

function readProblems(
  { name, count, statCount, answeredAt }: Read,
  adds: readonly HistoryOperation[],
  known: readonly Add[],
): string[] {
  const problems: string[] = [];
  if (count !== statCount) problems.push(`${name} has ${statCount} in its stat`);
  const step = numberOf(listOf(adds[0]?.asked ?? [0, 1])[1]);
  if (count % step !== 0) problems.push(`${name} shows a part of an addition of ${step}`);
  const counted = known.filter(({ place }) => place < count).length * step;
  const doubtful = adds.filter(
    ({ outcome, calledAt }) => outcome === 'info' && calledAt < answeredAt,
  ).length;
  if (count - counted > doubtful * step) {
    problems.push(
      `${name} counts ${count - counted} that nobody added, at most ${doubtful * step}`,
    );
  }
  return problems;
}
