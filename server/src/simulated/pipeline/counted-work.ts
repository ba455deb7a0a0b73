/**
 * For tests: how much work a piece of code does, as a number that is the same each time.
 *
 * The work is the number of times that each block of our own code runs, as V8 counts it for
 * coverage, and the characters or elements that built-in functions go through for it. Whoever
 * doubles the input and finds more than about twice the work has found what is not linear. Regular
 * expressions are not counted: `test/src/tidy/expressions.test.ts` judges them.
 */
import { type Profiler, Session } from 'node:inspector';
import { assert } from '@rookery/protocol';

/** Our own code, without tests and what only tests use. */
const OWN = /\/(server|protocol)\/(src|dist)\//;
const NOT_OWN = /\/simulated\/|\.test\./;

type Any = (this: unknown, ...args: unknown[]) => unknown;
/** How many characters or elements a call has gone through. */
type Cost = (self: Measured, args: readonly unknown[], result: unknown) => number;

interface Measured {
  readonly length: number;
}

export class CountedWork {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** Code runs as fast as before again. */
  close(): void {
    this.#post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }

  /** Runs `action` and returns its work. */
  of(action: () => void): number {
    this.#blocks();
    const builtIns = new CountedBuiltIns();
    try {
      action();
    } finally {
      builtIns.restore();
    }
    return this.#blocks() + builtIns.work;
  }

  /** How many blocks have run since the last call. */
  #blocks(): number {
    const { result } = this.#post<Profiler.TakePreciseCoverageReturnType>(
      'Profiler.takePreciseCoverage',
    );
    let sum = 0;
    for (const { url, functions } of result) {
      if (!OWN.test(url) || NOT_OWN.test(url)) continue;
      for (const { ranges } of functions) for (const { count } of ranges) sum += count;
    }
    return sum;
  }

  /** The inspector of the same thread answers at once. */
  #post<T>(method: string, params: object = {}): T {
    const answers: T[] = [];
    this.#session.post(method, params, (error, result) => {
      if (error !== null) throw error;
      answers.push(result as T);
    });
    const [answer] = answers;
    assert(answer !== undefined, () => `${method} is answered at once`);
    return answer;
  }
}

/** Counts what built-in functions go through, until `restore`. */
class CountedBuiltIns {
  work = 0;
  readonly #restores: (() => void)[] = [];

  constructor() {
    const buffers = Buffer.prototype;
    for (const owner of [String.prototype, Array.prototype, buffers]) {
      this.#count(owner, 'indexOf', (self, [, from], found) => scanned(self, from, found));
      this.#count(owner, 'includes', ({ length }, [, from]) => length - number(from, 0));
    }
    this.#count(String.prototype, 'lastIndexOf', ({ length }, [, from], found) => {
      return Math.min(number(from, length), length) - Math.max(0, number(found, 0));
    });
    for (const name of ['slice', 'substring', 'trim', 'toLowerCase', 'repeat'] as const) {
      this.#count(String.prototype, name, (_, __, result) => lengthOf(result));
    }
    for (const name of ['split', 'replace', 'replaceAll'] as const) {
      this.#count(String.prototype, name, ({ length }) => length);
    }
    for (const name of ['slice', 'concat', 'filter', 'map'] as const) {
      this.#count(Array.prototype, name, (_, __, result) => lengthOf(result));
    }
    for (const name of ['splice', 'unshift', 'sort', 'join', 'reverse'] as const) {
      this.#count(Array.prototype, name, ({ length }) => length);
    }
    this.#count(buffers, 'toString', (_, __, result) => lengthOf(result));
    this.#count(Buffer, 'from', (_, __, result) => lengthOf(result));
    this.#count(Buffer, 'byteLength', (_, [text]) => lengthOf(text));
  }

  restore(): void {
    for (const restore of this.#restores) restore();
  }

  #count(owner: object, name: string, cost: Cost): void {
    const known: PropertyDescriptor | undefined = Object.getOwnPropertyDescriptor(owner, name);
    assert(known !== undefined, () => `${name} is built in`);
    const original: Any = known.value;
    const counting = this;
    const value: Any = function counted(...args) {
      const result = original.apply(this, args);
      counting.work += Math.max(0, cost(this as Measured, args, result)) || 0;
      return result;
    };
    Object.defineProperty(owner, name, { ...known, value });
    this.#restores.push(() => Object.defineProperty(owner, name, known));
  }
}

function scanned({ length }: Measured, from: unknown, found: unknown): number {
  const start = number(from, 0);
  return number(found, -1) < 0 ? length - start : number(found, 0) - start + 1;
}

function number(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array
    ? value.length
    : 0;
}
