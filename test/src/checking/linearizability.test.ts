/**
 * The checker accepts what a real object did, and rejects what no object can have done. The tests
 * use examples, histories that were made with real objects, damaged ones, and on tiny histories the
 * verdict of trying every order.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from '../simulation/random.js';
import { evidenceOf } from './by-key.js';
import { checkLinearizable } from './linearizability.js';
import type { Model, Operation } from './model.js';
import { casRegister, type RegisterOp, type RegisterResult } from './models/cas-register.js';
import {
  appendModel,
  fifoQueue,
  type QueueOp,
  type QueueResult,
  type SetOp,
  type SetResult,
  setModel,
  unorderedQueue,
} from './models/collections.js';
import { isLinearizableByForce, type Made, madeHistory } from './testing-histories.js';

const register = casRegister(0);
type OnRegister = Operation<RegisterOp, RegisterResult>;

const read = (value: number): [RegisterOp, RegisterResult] => [{ kind: 'read' }, value];
const write = (value: number): [RegisterOp, RegisterResult] => [{ kind: 'write', value }, null];
const cas = (expected: number, value: number): [RegisterOp, RegisterResult] => [
  { kind: 'cas', expected, value },
  true,
];

function did(from: number, to: number, [op, result]: [RegisterOp, RegisterResult]): OnRegister {
  return { op, calledAt: from, answer: { at: to, result } };
}

function unknown(from: number, [op]: [RegisterOp, RegisterResult]): OnRegister {
  return { op, calledAt: from, answer: null };
}

function verdictOf(history: readonly OnRegister[]) {
  return checkLinearizable(register, history).verdict;
}

describe('a register', () => {
  it('may show either value while a write is in progress', () => {
    const base = [did(1, 10, write(1))];
    expect(verdictOf([...base, did(2, 3, read(0)), did(4, 5, read(1))])).toBe('linearizable');
    expect(verdictOf([...base, did(2, 3, read(1)), did(4, 5, read(0))])).toBe('contradiction');
  });

  it('cannot show an old value once a write was answered', () => {
    expect(verdictOf([did(1, 2, write(1)), did(3, 4, read(0))])).toBe('contradiction');
    expect(verdictOf([did(1, 2, write(1)), did(2, 4, read(0))])).toBe('linearizable');
  });

  it('may be changed by an unanswered write at any later time, but not before, nor twice', () => {
    const late = [did(3, 4, read(0)), did(5, 6, read(1))];
    expect(verdictOf([unknown(1, write(1)), ...late])).toBe('linearizable');
    expect(verdictOf([did(1, 2, read(1)), unknown(3, write(1))])).toBe('contradiction');
    const twice = [did(3, 4, read(1)), did(5, 6, write(2)), did(7, 8, read(1))];
    expect(verdictOf([unknown(1, write(1)), ...twice])).toBe('contradiction');
  });

  it('lets one of two compare-and-sets from one value succeed', () => {
    expect(verdictOf([did(1, 9, cas(0, 1)), did(2, 8, cas(0, 2))])).toBe('contradiction');
    expect(verdictOf([did(1, 9, cas(0, 1)), did(2, 8, cas(1, 2))])).toBe('linearizable');
    expect(verdictOf([unknown(1, cas(0, 1)), did(2, 8, cas(1, 2))])).toBe('linearizable');
  });

  it('is reported as unknown if its history is too hard to judge within the bound', () => {
    const history = Array.from({ length: 10 }, (_, value) => did(1, 50, write(value)));
    const impossible = [...history, did(51, 52, read(99))];
    expect(checkLinearizable(register, impossible, { stepsMax: 100 }).verdict).toBe('unknown');
    expect(verdictOf(impossible)).toBe('contradiction');
  });

  it('is judged quickly although dozens of writes were never answered', () => {
    const doubtful = Array.from({ length: 60 }, (_, i) => unknown(i, write(1000 + i)));
    const seen = Array.from({ length: 180 }, (_, i) => [
      did(400 + 4 * i, 401 + 4 * i, write(i)),
      did(402 + 4 * i, 403 + 4 * i, read(i % 4 === 0 ? 1000 + i / 4 : i)),
    ]).flat();
    const outcome = checkLinearizable(register, [...doubtful, ...seen]);
    expect(outcome.verdict).toBe('linearizable');
    expect(outcome.steps).toBeLessThan(500_000);
    expect(verdictOf([...doubtful, ...seen, did(5000, 5001, read(1000))])).toBe('contradiction');
  });

  it('is reported with the wrong answer and the operations that show the contradiction', () => {
    const stale = did(7, 8, read(0));
    const history = [did(1, 2, write(1)), did(3, 4, read(1)), did(5, 6, read(1)), stale];
    const outcome = checkLinearizable(register, [...history, did(9, 10, read(1))]);
    expect(outcome).toMatchObject({ verdict: 'contradiction', at: stale, states: ['1'] });
    expect(evidenceOf(register, history, stale)).toEqual([did(1, 2, write(1)), stale]);
  });
});

describe('queues, sets and lists', () => {
  const on = <Op, Result>(from: number, to: number, op: Op, result: Result) => ({
    op,
    calledAt: from,
    answer: { at: to, result },
  });
  const enqueue = (from: number, to: number, element: number) =>
    on<QueueOp, QueueResult>(from, to, { kind: 'enqueue', element }, null);
  const dequeue = (from: number, to: number, element: number | null) =>
    on<QueueOp, QueueResult>(from, to, { kind: 'dequeue' }, element);

  it('an ordered queue returns elements in order, an unordered one in any order, both each once', () => {
    const base = [enqueue(1, 2, 1), enqueue(3, 4, 2)];
    const swapped = [...base, dequeue(5, 6, 2), dequeue(7, 8, 1)];
    expect(checkLinearizable(fifoQueue, swapped).verdict).toBe('contradiction');
    expect(checkLinearizable(unorderedQueue, swapped).verdict).toBe('linearizable');
    const doubled = [...base, dequeue(5, 6, 1), dequeue(7, 8, 1)];
    expect(checkLinearizable(unorderedQueue, doubled).verdict).toBe('contradiction');
    const lost = [...base, dequeue(5, 6, 1), dequeue(7, 8, null)];
    expect(checkLinearizable(fifoQueue, lost).verdict).toBe('contradiction');
    const taken: Operation<QueueOp, QueueResult> = {
      op: { kind: 'dequeue', only: 2 },
      calledAt: 5,
      answer: null,
    };
    expect(checkLinearizable(fifoQueue, [...lost, taken]).verdict).toBe('linearizable');
  });

  it('a list shows its elements in the order in which they were appended', () => {
    const append = (from: number, to: number, element: number) =>
      on(from, to, { kind: 'append' as const, element }, null);
    const base = [append(1, 2, 1), append(3, 4, 2)];
    const shown = (elements: readonly number[]) =>
      checkLinearizable(appendModel, [...base, on(5, 6, { kind: 'read' as const }, elements)]);
    expect(shown([1, 2]).verdict).toBe('linearizable');
    expect(shown([2, 1]).verdict).toBe('contradiction');
  });
});

const onRegister: Pick<Made<RegisterOp, RegisterResult>, 'newOp' | 'answersOf'> = {
  newOp: (random, index) => {
    const kind = random.pick(['read', 'write', 'cas'] as const);
    if (kind === 'read') return { kind };
    if (kind === 'write') return { kind, value: index + 1 };
    return { kind, expected: random.below(index + 1), value: index + 1 };
  },
  answersOf: ({ kind }) =>
    kind === 'cas'
      ? [true, false]
      : kind === 'write'
        ? [null]
        : Array.from({ length: 80 }, (_, i) => i),
};

const onSet: Pick<Made<SetOp, SetResult>, 'newOp' | 'answersOf'> = {
  newOp: (random) => {
    const kind = random.pick(['add', 'remove', 'read'] as const);
    return kind === 'read' ? { kind } : { kind, element: random.below(3) };
  },
  answersOf: ({ kind }) =>
    kind === 'read'
      ? Array.from({ length: 8 }, (_, bits) => [0, 1, 2].filter((bit) => (bits >> bit) % 2 === 1))
      : [true, false],
};

const onQueue: Pick<Made<QueueOp, QueueResult>, 'newOp' | 'answersOf'> = {
  newOp: (random, index) =>
    random.chance(0.55) ? { kind: 'enqueue', element: index } : { kind: 'dequeue' },
  answersOf: ({ kind }) =>
    kind === 'enqueue' ? [null] : [null, ...Array.from({ length: 80 }, (_, i) => i)],
};

/**
 * Damages a history: the answers of two operations are exchanged, one operation is left out, or one
 * is repeated.
 */
function damaged<Op, Result>(
  history: readonly Operation<Op, Result>[],
  random: Random,
): Operation<Op, Result>[] {
  const at = random.below(history.length);
  const other = random.below(history.length);
  const [a, b] = [history[at], history[other]];
  if (a === undefined || b === undefined) return [...history];
  const how = random.below(3);
  if (how === 0) return history.filter((one) => one !== a);
  if (how === 1) {
    const end = 1 + Math.max(...history.map(({ calledAt, answer }) => answer?.at ?? calledAt));
    const answer = a.answer === null ? null : { ...a.answer, at: end + 1 };
    return [...history, { ...a, calledAt: end, answer }];
  }
  if (a.answer === null || b.answer === null) return [...history];
  const swapped = [...history];
  swapped[at] = { ...a, answer: { at: a.answer.at, result: b.answer.result } };
  swapped[other] = { ...b, answer: { at: b.answer.at, result: a.answer.result } };
  return swapped;
}

function agrees<State, Op, Result>(
  model: Model<State, Op, Result>,
  made: Pick<Made<Op, Result>, 'newOp' | 'answersOf'>,
): { readonly refused: number; readonly accepted: number } {
  const tally = { refused: 0, accepted: 0 };
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 2, max: 7 }), (seed, operations) => {
      const random = new Random(seed);
      const base = { random, processes: 3, operations, unknownShare: 0.25, ...made };
      const history = madeHistory(model, base);
      expect(checkLinearizable(model, history).verdict).toBe('linearizable');
      for (let damage = 0; damage < 3; damage++) {
        const changed = damaged(history, random);
        const isPossible = isLinearizableByForce(model, changed);
        const { verdict } = checkLinearizable(model, changed);
        expect(verdict).toBe(isPossible ? 'linearizable' : 'contradiction');
        if (isPossible) tally.accepted++;
        else tally.refused++;
      }
    }),
    { numRuns: 200 },
  );
  return tally;
}

describe('the search', () => {
  it.each([
    ['register', () => agrees(register, onRegister)],
    ['set', () => agrees(setModel, onSet)],
    ['ordered queue', () => agrees(fifoQueue, onQueue)],
    ['unordered queue', () => agrees(unorderedQueue, onQueue)],
  ] as const)('agrees with trying every order: %s', (_, run) => {
    const { refused, accepted } = run();
    expect(refused).toBeGreaterThan(30);
    expect(accepted).toBeGreaterThan(30);
  });

  it('accepts long histories of real objects, and rejects the evidence that it gives for damaged ones', () => {
    let refused = 0;
    for (let seed = 1; seed <= 15; seed++) {
      const random = new Random(seed);
      const base = { random, processes: 5, operations: 79, unknownShare: 0.08 };
      const history = madeHistory(register, { ...base, ...onRegister });
      expect(checkLinearizable(register, history).verdict, `seed ${seed}`).toBe('linearizable');
      const less = { ...base, processes: 3, operations: 30, unknownShare: 0.04 };
      const queued = madeHistory(fifoQueue, { ...less, ...onQueue });
      expect(checkLinearizable(fifoQueue, queued).verdict, `seed ${seed}`).toBe('linearizable');
      const changed = damaged(history, random);
      const outcome = checkLinearizable(register, changed);
      if (outcome.verdict !== 'contradiction') continue;
      refused++;
      const evidence = evidenceOf(register, changed, outcome.at);
      expect(evidence.length).toBeLessThanOrEqual(changed.length);
      expect(checkLinearizable(register, evidence).verdict).toBe('contradiction');
    }
    expect(refused).toBeGreaterThan(2);
  });
});
