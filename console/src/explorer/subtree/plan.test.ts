import { expect, it } from 'vitest';
import { byDepth, type Plan, runPlan, type Step, stepCount } from './plan.js';

/** A clock that moves only when somebody waits. */
function manualClock() {
  let nowMs = 0;
  return {
    nowMs: () => nowMs,
    wait: async (ms: number) => {
      nowMs += ms;
    },
  };
}

const planOf = (groups: readonly (readonly Step[])[], failuresMax = 3): Plan => ({
  groups,
  facts: [],
  warnings: [],
  failuresMax,
});

it('runs a group after all of the group before it', async () => {
  const order: string[] = [];
  const step = (path: string): Step => ({
    path,
    verb: 'create',
    run: async () => {
      await Promise.resolve();
      order.push(path);
    },
  });
  const items = ['/a/b/c', '/a', '/d', '/a/b', '/d/e'].map((path) => ({ path }));
  const plan = planOf(byDepth(items).map((group) => group.map(({ path }) => step(path))));
  const progress = await runPlan(plan, {
    signal: new AbortController().signal,
    pace: 1_000,
    onProgress: () => {},
    ...manualClock(),
  });
  expect(progress).toEqual({ done: 5, failures: [], state: 'done' });
  expect(stepCount(plan)).toBe(5);
  expect(order.map((path) => path.split('/').length)).toEqual([2, 2, 3, 3, 4]);
});

it('keeps its pace', async () => {
  const clock = manualClock();
  const at: number[] = [];
  const steps = Array.from({ length: 11 }, (_, index) => ({
    path: `/${index}`,
    verb: 'delete',
    run: async () => {
      at.push(clock.nowMs());
    },
  }));
  const signal = new AbortController().signal;
  await runPlan(planOf([steps]), { signal, pace: 10, onProgress: () => {}, ...clock });
  expect(clock.nowMs()).toBeGreaterThanOrEqual(1_000);
});

it('stops after so many failures, and when it is told to', async () => {
  const fail = { path: '/x', verb: 'delete', run: () => Promise.reject(new Error('no')) };
  const signal = new AbortController().signal;
  const running = { signal, pace: 1e6, onProgress: () => {}, ...manualClock() };
  const stopped = await runPlan(planOf([Array.from({ length: 50 }, () => fail)]), running);
  expect(stopped.state).toBe('stopped');
  expect(stopped.failures.length).toBeGreaterThanOrEqual(3);
  expect(stopped.failures.length).toBeLessThan(8);
  const end = new AbortController();
  let ran = 0;
  const step = {
    path: '/x',
    verb: 'delete',
    run: async () => {
      ran += 1;
      end.abort();
    },
  };
  const aborted = await runPlan(planOf([Array.from({ length: 50 }, () => step)]), {
    ...running,
    signal: end.signal,
  });
  expect([aborted.state, ran < 5]).toEqual(['stopped', true]);
});
