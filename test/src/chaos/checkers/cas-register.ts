/**
 * Checks the history of compare-and-set registers for linearizability, each key by itself.
 *
 * A `fail` certainly took no effect, so it is left out. A write with an unknown outcome is left out
 * if nobody ever saw or expected its value, because it explains nothing.
 */
import { checkByKey } from '../../checking/by-key.js';
import type { Operation } from '../../checking/model.js';
import {
  casRegister,
  type RegisterOp,
  type RegisterResult,
} from '../../checking/models/cas-register.js';
import type { HistoryEntry } from '../history/entry.js';
import { type HistoryOperation, operationsOf } from '../history/history-reader.js';
import type { Verdict } from '../workloads/workload.js';
import { byKey, countsOf, listOf, numberOf, verdictOf } from './verdicts.js';

type OnRegister = Operation<RegisterOp, RegisterResult>;

/** How many operations of a contradiction are shown: the last ones. */
const SHOWN_MAX = 12;

/** The model of a register, which begins with 0. */
const model = casRegister(0);

export function checkCasRegister(history: readonly HistoryEntry[]): Verdict {
  const operations = operationsOf(history);
  const histories = new Map(
    [...byKey(operations)].map(([key, group]) => [key, withoutUnseen(group.flatMap(onRegister))]),
  );
  const problems: string[] = [];
  const unknown: string[] = [];
  for (const { key, outcome, evidence } of checkByKey(model, histories)) {
    if (outcome.verdict === 'contradiction') {
      const states = outcome.states.join(' or ');
      const shown = evidence.slice(-SHOWN_MAX).map(textOfOperation).join('; ');
      const earlier = Math.max(evidence.length - SHOWN_MAX, 0);
      problems.push(
        `register ${key}: nothing explains ${textOfOperation(outcome.at)}, when it may have been ` +
          `${states}. What shows it, with ${earlier} earlier ones: ${shown}`,
      );
    } else {
      unknown.push(`register ${key} is too hard to judge, after ${outcome.steps} steps`);
    }
  }
  const counts = { ...countsOf(operations), keys: histories.size };
  return verdictOf(operations, { problems, unknown, counts });
}

function onRegister(operation: HistoryOperation): OnRegister[] {
  const { f, outcome, calledAt, endedAt } = operation;
  if (outcome === 'fail' || (f === 'read' && outcome !== 'ok')) return [];
  const op = opOf(operation);
  const result = f === 'read' ? numberOf(listOf(operation.value)[1]) : f === 'cas' ? true : null;
  return [{ op, calledAt, answer: outcome === 'ok' ? { at: endedAt, result } : null }];
}

function opOf({ f, asked }: HistoryOperation): RegisterOp {
  const of = listOf(asked)[1];
  switch (f) {
    case 'read':
      return { kind: 'read' };
    case 'write':
      return { kind: 'write', value: numberOf(of) };
    case 'cas': {
      const [expected, value] = listOf(of);
      return { kind: 'cas', expected: numberOf(expected), value: numberOf(value) };
    }
    default:
      throw new Error(`not an operation of a register: ${f}`);
  }
}

/** Repeats until nothing changes, because an operation that is left out has seen nothing either. */
function withoutUnseen(history: readonly OnRegister[]): OnRegister[] {
  const seen = new Set(
    history.map(({ op, answer }) =>
      op.kind === 'cas' ? op.expected : op.kind === 'read' ? answer?.result : undefined,
    ),
  );
  const left = history.filter(
    ({ op, answer }) => answer !== null || op.kind === 'read' || seen.has(op.value),
  );
  return left.length < history.length ? withoutUnseen(left) : left;
}

function textOfOperation({ op, calledAt, answer }: OnRegister): string {
  const when = `${calledAt}-${answer?.at ?? '?'}`;
  switch (op.kind) {
    case 'read':
      return `read ${answer?.result} (${when})`;
    case 'write':
      return `write ${op.value} (${when})`;
    default:
      return `cas ${op.expected} to ${op.value} (${when})`;
  }
}
