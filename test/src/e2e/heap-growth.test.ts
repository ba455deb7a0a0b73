/**
 * How far V8 lets a member's heap grow before it collects all of it again, as the process itself
 * reports: a member that is started in the usual way, by the command, with V8's own tracing of its
 * limits.
 *
 * The test requests collections by signal, so nothing here depends on when V8 makes one by itself.
 * V8's own limit varies between 1.2 times and 4 times of what is alive, by what it measures; ours
 * is constant.
 */
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../harness/ensemble.js';
import type { Member } from '../harness/member.js';
import { type Product, productUnderTest } from '../harness/product.js';
import { until } from '../harness/wait.js';

const MB = 1 << 20;
const KB = 1 << 10;
const DEADLINE_MS = 30_000;
/** The step of a heap that is collected more often than once a second, as it is here. */
const STEP_BYTES = 64 * MB;
/** A heap with little alive may grow to at most five times that. */
const FACTOR_MAX = 5;
/** V8 adds this amount for its young generation. */
const YOUNG_BYTES_MAX = 16 * MB;
const TIMES_IN_A_ROW = 3;
const LARGE_BYTES = 200 * MB;

/** SIGUSR2 collects everything; SIGWINCH makes the heap large, with values that stay alive. */
const ON_SIGNALS = `
  let kept = [];
  process.on('SIGUSR2', () => gc());
  process.on('SIGWINCH', () => {
    kept = Array.from({ length: ${LARGE_BYTES / MB} }, () => new Array(${MB / 8}).fill(0.5));
  });
`;

const traced: Product = {
  ...productUnderTest(),
  prepare(layout) {
    const command = productUnderTest().prepare(layout);
    const preload = `data:text/javascript,${encodeURIComponent(ON_SIGNALS)}`;
    const flags = ['--expose-gc', '--trace-gc-verbose', '--import', preload];
    return { ...command, args: [...flags, ...command.args] };
  },
};

interface Limit {
  readonly aliveBytes: number;
  readonly growthBytes: number;
  readonly factor: number;
}

/** What V8 reports about the heap at the latest full collection since `mark`. */
function limitSince(member: Member, mark: number): Limit | undefined {
  const told = /\[HeapController\] Limit: old size: (\d+) KB, new limit: (\d+) KB \((\d+\.\d)\)/g;
  const last = [...member.log().slice(mark).matchAll(told)].at(-1);
  if (last === undefined) return undefined;
  const [alive = 0, limit = 0, factor = 0] = last.slice(1).map(Number);
  return { aliveBytes: alive * KB, growthBytes: (limit - alive) * KB, factor };
}

function isStep({ aliveBytes, factor }: Limit): boolean {
  return Math.abs(factor - Math.min(1 + STEP_BYTES / aliveBytes, FACTOR_MAX)) <= 0.1;
}

/**
 * Collects until V8 reports the expected value, because what a collection changes applies to the
 * next one.
 */
async function collectUntil(member: Member, what: string, isIt: (limit: Limit) => boolean) {
  return await until(what, DEADLINE_MS, () => {
    const mark = member.logMark();
    process.kill(member.pid, 'SIGUSR2');
    return until('V8 reports the limit', DEADLINE_MS, () => limitSince(member, mark)).then(
      (limit) => (isIt(limit) ? limit : undefined),
    );
  });
}

it.skipIf(productUnderTest().name === 'apache')(
  'the heap of a small member that is collected often may grow by up to 64 MB, and a large one as V8 decides',
  async () => {
    const ensemble = await useServingEnsemble({ size: 1, product: traced });
    const member = ensemble.member(1);
    let timesInARow = 0;
    const small = await collectUntil(
      member,
      `a small heap is granted a step ${TIMES_IN_A_ROW} times in a row`,
      (limit) => {
        timesInARow = isStep(limit) ? timesInARow + 1 : 0;
        return timesInARow === TIMES_IN_A_ROW;
      },
    );
    expect(small.aliveBytes).toBeLessThan(24 * MB);
    expect(small.growthBytes).toBeGreaterThan(20 * MB);
    expect(small.growthBytes).toBeLessThan(STEP_BYTES + YOUNG_BYTES_MAX);
    process.kill(member.pid, 'SIGWINCH');
    const large = await collectUntil(
      member,
      'V8 decides on a large heap',
      ({ aliveBytes, factor }) => aliveBytes > LARGE_BYTES && Math.abs(factor - small.factor) > 0.2,
    );
    expect(large.aliveBytes).toBeGreaterThan(LARGE_BYTES);
  },
);
