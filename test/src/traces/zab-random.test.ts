/**
 * Random schedules against the core: safety after every step, and convergence once everything is
 * healed, also where some disks stay full.
 *
 * `ZAB_SEEDS=5000 npx vitest run test/src/traces/zab-random` tries many more seeds. `ZAB_SEED=77
 * ZAB_SIZE=5 npx vitest run ...` runs one seed and prints its trace.
 */
import { describe, expect, it } from 'vitest';
import { RandomSchedule } from './random-schedule.js';

const { env } = process;
const SEEDS = Number(env['ZAB_SEEDS'] ?? 300);
const FIRST = Number(env['ZAB_FIRST'] ?? 1);
const STEPS = Number(env['ZAB_STEPS'] ?? 2000);
const ONE = env['ZAB_SEED'];

function run(seed: number, size: number, onLine: ((line: string) => void) | null = null): void {
  const schedule = new RandomSchedule(seed, size, onLine);
  schedule.chaos(STEPS);
  schedule.converge();
  schedule.withoutRoom();
  schedule.converge();
}

function failureOf(seed: number, size: number): string | null {
  try {
    run(seed, size);
    return null;
  } catch (error) {
    return `seed ${seed}, ${size} members: ${error instanceof Error ? error.message : error}`;
  }
}

describe.skipIf(ONE !== undefined)('any schedule', () => {
  it.each([3, 5, 1])(
    'loses nothing and converges with %i members',
    { timeout: 3_600_000 },
    (size) => {
      const failures: string[] = [];
      for (let seed = FIRST; seed < FIRST + (size === 1 ? SEEDS / 5 : SEEDS); seed += 1) {
        const failure = failureOf(seed, size);
        if (failure !== null) failures.push(failure);
      }
      expect(failures).toEqual([]);
    },
  );
});

it.runIf(ONE !== undefined)('one seed', () => {
  const lines: string[] = [];
  try {
    run(Number(ONE), Number(env['ZAB_SIZE'] ?? 3), (line) => lines.push(line));
  } finally {
    const most = Number(env['ZAB_LINES'] ?? 300);
    console.log(lines.slice(-most).join('\n'));
  }
});
