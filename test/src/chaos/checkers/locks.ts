/**
 * Checks the history of locks.
 *
 * The version of the register that the locks protect orders all writes. The number in it must be
 * that version, so that no client has overwritten what it had not read; fencing tokens never
 * decrease; writes with an unknown outcome may fill gaps. Tokens are unique and grow from one
 * answer to the next call, and no lease is granted while another lease's signal is not aborted.
 */
import { checkPlaces } from '../../checking/places.js';
import type { HistoryEntry } from '../history/entry.js';
import { type HistoryOperation, operationsOf } from '../history/history-reader.js';
import type { Verdict } from '../workloads/workload.js';
import { countsOf, listOf, numberOf, verdictOf } from './verdicts.js';

export function checkLocks(history: readonly HistoryEntry[]): Verdict {
  const operations = operationsOf(history);
  const problems = [...grantProblems(operations), ...effectProblems(operations)];
  const isRead = operations.some(({ f, outcome }) => f === 'read' && outcome === 'ok');
  const unknown = isRead ? [] : ['the register was not read at the end'];
  return verdictOf(operations, { problems, unknown, counts: countsOf(operations) });
}

function grantProblems(operations: readonly HistoryOperation[]): string[] {
  const problems: string[] = [];
  const given = new Set<number>();
  const placed = [];
  for (const { f, outcome, value, calledAt, endedAt } of operations) {
    if (f !== 'acquire' || outcome !== 'ok') continue;
    const [tokenValue, others] = listOf(value);
    const token = numberOf(tokenValue);
    if (given.has(token)) problems.push(`token ${token} was given twice`);
    given.add(token);
    const held = listOf(others);
    if (held.length > 0) {
      problems.push(`token ${token} was given at ${endedAt} while ${held.join(', ')} was held`);
    }
    placed.push({ name: `token ${token}`, calledAt, answeredAt: endedAt, place: token });
  }
  return [...problems, ...checkPlaces(placed)];
}

interface Effect {
  readonly token: number;
  readonly count: number;
  readonly version: number;
  readonly calledAt: number;
  readonly endedAt: number;
}

function effectProblems(operations: readonly HistoryOperation[]): string[] {
  const problems: string[] = [];
  const isEffect = ({ f }: HistoryOperation) => f === 'fenced-write' || f === 'read';
  const seen = operations.filter((one) => isEffect(one) && one.outcome === 'ok');
  const effects = seen.map(effectOf).sort((a, b) => a.version - b.version);
  const granted = grantedTokens(operations);
  let last: Effect = { token: 0, count: 0, version: 0, calledAt: 0, endedAt: 0 };
  let gaps = 0;
  for (const effect of effects) {
    const { token, count, version, endedAt } = effect;
    if (count !== version) {
      problems.push(
        `version ${version} holds ${count}: a write was lost or done twice (${endedAt})`,
      );
    }
    if (token < last.token) {
      problems.push(`version ${version} is of token ${token}, after one of ${last.token}`);
    }
    if (token !== 0 && !granted.has(token)) {
      problems.push(`version ${version} is of token ${token}, which nobody was given`);
    }
    gaps += Math.max(version - last.version - 1, 0);
    last = effect;
  }
  const doubtful = operations.filter((one) => one.f === 'fenced-write' && one.outcome === 'info');
  const filled = new Set(
    seen.filter(({ f }) => f === 'fenced-write').map((one) => effectOf(one).version),
  );
  const isLastDoubtful = last.version > 0 && !filled.has(last.version);
  const missing = gaps + (isLastDoubtful ? 1 : 0);
  if (missing > doubtful.length) {
    problems.push(`${missing} writes of nobody, and only ${doubtful.length} in doubt`);
  }
  const placed = effects.map(({ version, calledAt, endedAt }) => ({
    name: `version ${version}`,
    calledAt,
    answeredAt: endedAt,
    place: version,
  }));
  return [...problems, ...checkPlaces(placed)];
}

function effectOf({ value, calledAt, endedAt }: HistoryOperation): Effect {
  const [token, count, version] = listOf(value).map(numberOf);
  return {
    token: numberOf(token),
    count: numberOf(count),
    version: numberOf(version),
    calledAt,
    endedAt,
  };
}

function grantedTokens(operations: readonly HistoryOperation[]): ReadonlySet<number> {
  const given = operations.filter(({ f, outcome }) => f === 'acquire' && outcome === 'ok');
  return new Set(given.map(({ value }) => numberOf(listOf(value)[0])));
}
