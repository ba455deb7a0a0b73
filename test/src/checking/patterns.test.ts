/**
 * The fast checks of sets, queues and plain reads are correct. The first two must agree with the
 * search on small histories of real objects, intact and damaged; plain reads are made by readers
 * that follow a log, and damaged.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from '../simulation/random.js';
import { checkGrowOnlySet } from './grow-only-set.js';
import { checkLinearizable } from './linearizability.js';
import type { Model, Operation } from './model.js';
import {
  fifoQueue,
  type QueueOp,
  type QueueResult,
  type SetOp,
  type SetResult,
  setModel,
  unorderedQueue,
} from './models/collections.js';
import { checkPrefixReads, type PrefixStep } from './prefix-reads.js';
import { checkQueue, type QueueHistory } from './queue-patterns.js';
import { madeHistory } from './testing-histories.js';

function madeSet(random: Random, operations: number): Operation<SetOp, SetResult>[] {
  return madeHistory<readonly number[], SetOp, SetResult>(setModel, {
    random,
    operations,
    processes: 3,
    unknownShare: 0.2,
    newOp: (_, index) =>
      index % 2 === 0 && index < 8 ? { kind: 'add', element: index / 2 } : { kind: 'read' },
    answersOf: ({ kind }) => (kind === 'read' ? subsets : [true, false]),
  });
}

const subsets = Array.from({ length: 16 }, (_, bits) =>
  [0, 1, 2, 3].filter((bit) => (bits >> bit) % 2 === 1),
);

function patternsOfSet(history: readonly Operation<SetOp, SetResult>[]): string[] {
  const adds = [];
  const reads = [];
  for (const { op, calledAt, answer } of history) {
    if (op.kind === 'add') {
      adds.push({ element: op.element, calledAt, answeredAt: answer?.at ?? null });
    } else if (answer !== null && typeof answer.result !== 'boolean') {
      reads.push({ elements: answer.result, calledAt, answeredAt: answer.at });
    }
  }
  return checkGrowOnlySet(adds, reads);
}

/** A removal whose answer may be lost has looked the element up before. */
function madeQueue(
  model: Model<readonly number[], QueueOp, QueueResult>,
  random: Random,
  operations: number,
): Operation<QueueOp, QueueResult>[] {
  const history = madeHistory(model, {
    random,
    operations,
    processes: 3,
    unknownShare: 0.3,
    newOp: (_, index): QueueOp => {
      if (random.chance(0.5)) return { kind: 'enqueue', element: index };
      if (random.chance(0.6)) return { kind: 'dequeue' };
      return { kind: 'dequeue', only: random.below(index + 1) };
    },
    mayBeUnknown: (op) => op.kind === 'enqueue' || op.only !== undefined,
    answersOf: ({ kind }) =>
      kind === 'enqueue' ? [null] : [null, ...Array.from({ length: operations }, (_, i) => i)],
  });
  return history.map((one) =>
    one.op.kind === 'dequeue' && one.answer !== null ? { ...one, op: { kind: 'dequeue' } } : one,
  );
}

function patternsOfQueue(
  history: readonly Operation<QueueOp, QueueResult>[],
  isOrdered: boolean,
): string[] {
  const found: {
    enqueues: QueueHistory['enqueues'][number][];
    dequeues: QueueHistory['dequeues'][number][];
  } = {
    enqueues: [],
    dequeues: [],
  };
  for (const { op, calledAt, answer } of history) {
    const answeredAt = answer?.at ?? null;
    if (op.kind === 'enqueue') found.enqueues.push({ element: op.element, calledAt, answeredAt });
    else {
      const element = answer === null ? (op.only ?? null) : answer.result;
      found.dequeues.push({ element, calledAt, answeredAt });
    }
  }
  return checkQueue(found, { isOrdered });
}

function damaged<Op, Result>(
  history: readonly Operation<Op, Result>[],
  random: Random,
): Operation<Op, Result>[] {
  const changed = [...history];
  const [at, other] = [random.below(history.length), random.below(history.length)];
  const [a, b] = [history[at], history[other]];
  if (a?.answer == null || b?.answer == null) return changed;
  if (random.chance(0.3)) return changed.filter((one) => one !== a);
  changed[at] = { ...a, answer: { at: a.answer.at, result: b.answer.result } };
  changed[other] = { ...b, answer: { at: b.answer.at, result: a.answer.result } };
  if (isSameKind(a.op, b.op)) return changed;
  return [...history];
}

function isSameKind(a: unknown, b: unknown): boolean {
  const kindOf = (op: unknown) =>
    typeof op === 'object' && op !== null && 'kind' in op ? op.kind : null;
  return kindOf(a) === kindOf(b);
}

function agree<State, Op, Result>(
  model: Model<State, Op, Result>,
  make: (random: Random, operations: number) => Operation<Op, Result>[],
  patterns: (history: readonly Operation<Op, Result>[]) => string[],
): { readonly refused: number; readonly accepted: number } {
  const tally = { refused: 0, accepted: 0 };
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 3, max: 12 }), (seed, operations) => {
      const random = new Random(seed);
      const history = make(random, operations);
      expect(patterns(history)).toEqual([]);
      for (let damage = 0; damage < 4; damage++) {
        const changed = damaged(history, random);
        const { verdict } = checkLinearizable(model, changed);
        expect(patterns(changed).length > 0 ? 'contradiction' : 'linearizable').toBe(verdict);
        if (verdict === 'contradiction') tally.refused++;
        else tally.accepted++;
      }
    }),
    { numRuns: 250 },
  );
  return tally;
}

describe('the fast checks agree with the search', () => {
  it.each([
    ['set', () => agree(setModel, madeSet, patternsOfSet)],
    [
      'ordered queue',
      () =>
        agree(
          fifoQueue,
          (random, operations) => madeQueue(fifoQueue, random, operations),
          (history) => patternsOfQueue(history, true),
        ),
    ],
    [
      'unordered queue',
      () =>
        agree(
          unorderedQueue,
          (random, operations) => madeQueue(unorderedQueue, random, operations),
          (history) => patternsOfQueue(history, false),
        ),
    ],
  ] as const)('on histories of a %s', (_, run) => {
    const { refused, accepted } = run();
    expect(refused).toBeGreaterThan(20);
    expect(accepted).toBeGreaterThan(20);
  });
});

describe('plain reads', () => {
  const step = (reader: number, register: string, zxid: number): PrefixStep => ({
    reader,
    register,
    zxid,
    kind: 'read',
    reached: 0,
    at: 0,
  });

  it('may be stale, but never older than what the same reader has seen of any register', () => {
    const known = new Map([
      ['a', [1, 3]],
      ['b', [2, 4]],
    ]);
    const old = [step(1, 'b', 4), step(2, 'a', 1), step(2, 'b', 2), step(2, 'a', 3)];
    expect(checkPrefixReads(old, known)).toEqual([]);
    expect(checkPrefixReads([step(1, 'a', 3), step(1, 'a', 1)], known)).toHaveLength(1);
    expect(checkPrefixReads([step(1, 'b', 4), step(1, 'a', 1)], known)).toHaveLength(1);
    expect(
      checkPrefixReads([{ ...step(1, 'a', 1), reached: 3 }, step(1, 'a', 1)], known),
    ).toHaveLength(1);
  });

  it('include the own writes of the reader', () => {
    const wrote: PrefixStep = { ...step(1, 'a', 5), kind: 'wrote' };
    expect(checkPrefixReads([wrote, step(1, 'a', 5)])).toEqual([]);
    expect(checkPrefixReads([wrote, step(1, 'a', 0)])).toHaveLength(1);
    expect(checkPrefixReads([step(1, 'b', 7), wrote])).toHaveLength(1);
  });

  it('by readers that follow the log are accepted, and each step back is found', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const random = new Random(seed);
      const log = Array.from({ length: 40 }, (_, index) => ({
        register: index % 3,
        zxid: index + 1,
      }));
      const at = [0, 0, 0];
      const steps = Array.from({ length: 120 }, () => {
        const reader = random.below(3);
        at[reader] = Math.min(40, (at[reader] ?? 0) + random.below(3));
        const register = random.below(3);
        const seen = log.slice(0, at[reader]).filter((one) => one.register === register);
        return { ...step(reader, '', seen.at(-1)?.zxid ?? 0), register };
      });
      const known = new Map(
        [0, 1, 2].map((r) => [r, log.filter((w) => w.register === r).map((w) => w.zxid)]),
      );
      expect(checkPrefixReads(steps, known), `seed ${seed}`).toEqual([]);
      const victim = steps.findLastIndex(({ zxid }) => zxid > 9);
      const stale = steps.map((one, index) =>
        index === victim ? { ...one, zxid: one.zxid - 9 } : one,
      );
      expect(checkPrefixReads([...stale], known).length, `seed ${seed}`).toBeGreaterThan(0);
    }
  });
});
