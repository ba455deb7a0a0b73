/** Compares the queue with a plain array, which is what it stands for, and weighs what it keeps. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fifo } from './fifo.js';

const MB = 1 << 20;

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

function heldBytes(): number {
  if (typeof collect !== 'function') throw new Error('this Node has no gc()');
  for (let round = 0; round < 3; round++) collect();
  return process.memoryUsage().arrayBuffers;
}

type Step =
  | { readonly kind: 'push' | 'shift' | 'pop'; readonly count: number }
  | { readonly kind: 'takeAll' | 'clear' };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: steps('push', 700) },
  { weight: 3, arbitrary: steps('shift', 700) },
  { weight: 1, arbitrary: steps('pop', 20) },
  {
    weight: 1,
    arbitrary: fc.constantFrom({ kind: 'takeAll' as const }, { kind: 'clear' as const }),
  },
);

function steps(kind: 'push' | 'shift' | 'pop', max: number): fc.Arbitrary<Step> {
  return fc.integer({ min: 1, max }).map((count) => ({ kind, count }));
}

/** Numbers from 1 on, so that none is pushed twice. */
class Pair {
  readonly fifo = new Fifo<number>();
  readonly #model: number[] = [];
  #last = 0;

  run(step: Step): void {
    const { fifo } = this;
    if ('count' in step) {
      for (let left = step.count; left > 0; left--) this.#one(step.kind);
    } else if (step.kind === 'takeAll') {
      expect(fifo.takeAll()).toEqual(this.#model.splice(0));
    } else {
      fifo.clear();
      this.#model.length = 0;
    }
    this.#compare();
  }

  #one(kind: 'push' | 'shift' | 'pop'): void {
    if (kind === 'push') this.fifo.push(this.#model[this.#model.push(++this.#last) - 1] ?? 0);
    else if (kind === 'shift') expect(this.fifo.shift()).toBe(this.#model.shift());
    else expect(this.fifo.pop()).toBe(this.#model.pop());
  }

  #compare(): void {
    const { fifo } = this;
    const model = this.#model;
    expect(fifo.length).toBe(model.length);
    expect(fifo.first).toBe(model[0]);
    expect(fifo.last).toBe(model.at(-1));
    expect(model.map((_, index) => fifo.at(index))).toEqual(model);
    expect([fifo.at(-1), fifo.at(model.length)]).toEqual([undefined, undefined]);
    // What it has places for follows what it holds.
    expect(fifo.places).toBeLessThanOrEqual(Math.max(1024, 4 * model.length));
  }
}

describe('a queue', () => {
  it('is what an array is whose front is taken', () => {
    const courses = fc.array(anyStep, { maxLength: 40 });
    fc.assert(
      fc.property(courses, (course) => {
        const pair = new Pair();
        for (const step of course) pair.run(step);
      }),
      { numRuns: 200 },
    );
  });

  it('lets go of what left it, though it is never empty', () => {
    const fifo = new Fifo<Uint8Array>();
    fifo.push(new Uint8Array(MB));
    const before = heldBytes();
    for (let count = 0; count < 50; count++) {
      fifo.push(new Uint8Array(MB));
      fifo.shift();
    }
    expect(fifo.length).toBe(1);
    expect(heldBytes() - before).toBeLessThan(2 * MB);
  });

  it('lets go of what was taken back', () => {
    const fifo = new Fifo<Uint8Array>();
    fifo.push(new Uint8Array(1));
    const before = heldBytes();
    for (let count = 0; count < 20; count++) fifo.push(new Uint8Array(MB));
    while (fifo.length > 1) fifo.pop();
    expect(heldBytes() - before).toBeLessThan(MB);
    expect(fifo.first?.length).toBe(1);
  });

  it('takes no memory before the first comes, and gives back what a backlog took', () => {
    const fifo = new Fifo<number>();
    expect(fifo.places).toBe(0);
    for (let item = 1; item <= 100_000; item++) fifo.push(item);
    expect(fifo.places).toBe(1 << 17);
    while (fifo.length > 10) fifo.shift();
    expect(fifo.places).toBe(1024);
    expect(fifo.takeAll()).toEqual([
      99991, 99992, 99993, 99994, 99995, 99996, 99997, 99998, 99999, 100_000,
    ]);
  });
});
