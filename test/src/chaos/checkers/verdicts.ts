/**
 * What the checks share: they make a verdict of problems, and parse the values of the history.
 */
import type { Json } from '../history/entry.js';
import type { HistoryOperation } from '../history/history-reader.js';
import type { Verdict } from '../workloads/workload.js';

const PROBLEMS_TOLD = 20;

export interface Findings {
  readonly problems: readonly string[];
  /** Why the verdict is unknown, if it is. */
  readonly unknown?: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

/** Takes the operations of the whole history; without a single success the verdict is unknown. */
export function verdictOf(operations: readonly HistoryOperation[], found: Findings): Verdict {
  const { problems, unknown = [], counts } = found;
  const told = problems.slice(0, PROBLEMS_TOLD);
  if (problems.length > told.length) told.push(`and ${problems.length - told.length} more`);
  if (problems.length > 0) return { valid: false, problems: told, counts };
  const doubts = [...unknown];
  if (!operations.some(({ outcome }) => outcome === 'ok')) doubts.push('no operation succeeded');
  return { valid: doubts.length > 0 ? 'unknown' : true, problems: doubts, counts };
}

/** Counts for each name of an operation how often it succeeded, and how often that is unknown. */
export function countsOf(operations: readonly HistoryOperation[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { f, outcome } of operations) {
    const name = `${f} ${outcome}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

export function numberOf(value: Json | undefined): number {
  if (typeof value === 'number') return value;
  throw new Error(`expected a number in a history, got ${JSON.stringify(value)}`);
}

export function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  throw new Error(`expected a text in a history, got ${JSON.stringify(value)}`);
}

export function listOf(value: Json | undefined): readonly Json[] {
  if (isList(value)) return value;
  throw new Error(`expected a list in a history, got ${JSON.stringify(value)}`);
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Groups operations by key, which is the first element of each value. */
export function byKey(
  operations: readonly HistoryOperation[],
): Map<number, readonly HistoryOperation[]> {
  const groups = new Map<number, HistoryOperation[]>();
  for (const operation of operations) {
    const key = numberOf(listOf(operation.asked)[0]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [operation]);
    else group.push(operation);
  }
  return groups;
}
