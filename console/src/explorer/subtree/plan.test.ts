import { expect, it } from 'vitest';
import { ApiProblem, sentenceOf } from '../../api/problem.js';
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

const planOf = (groups: readonly (readonly Step[])[], isChain = false): Plan => ({
  groups,
  facts: [],
  warnings: [],
  isChain,
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
  expect(progress).toEqual({ done: 5, failed: 0, failures: [], state: 'done' });
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

const stepsThat = (fail: Error | null, count = 50): Step[] =>
  Array.from({ length: count }, (_, index) => ({
    path: `/${index}`,
    verb: 'delete',
    run: () => (fail === null ? Promise.resolve() : Promise.reject(fail)),
  }));
const fast = () => {
  const { signal } = new AbortController();
  return { signal, pace: 1e6, onProgress: () => {}, ...manualClock() };
};

it('carries out the rest whatever is refused because of one znode, counts it all, and keeps the first', async () => {
  const changed = new ApiProblem({ status: 412, detail: 'Another version.', code: -103 });
  const plan = planOf([[...stepsThat(changed), ...stepsThat(null)], stepsThat(null)]);
  const progress = await runPlan(plan, fast());
  expect(progress).toMatchObject({ done: 100, failed: 50, state: 'done' });
  expect(progress.failures).toHaveLength(20);
});

it('stops soon where it is not about the znode: at a server that is silent, or refuses the user', async () => {
  const problems = [
    new ApiProblem({ status: 0, detail: 'The server does not answer.' }),
    new ApiProblem({ status: 403, detail: 'This user may only read.' }),
    new ApiProblem({ status: 503, detail: 'Too much to do.', code: -127 }),
  ];
  for (const problem of problems) {
    const stopped = await runPlan(planOf([stepsThat(problem)]), fast());
    expect(stopped.state).toBe('stopped');
    expect(stopped.failed).toBeGreaterThanOrEqual(20);
    expect(stopped.failed).toBeLessThan(25);
  }
});

it('stops at the first failure where steps need each other, and when it is told to', async () => {
  const refused = new ApiProblem({ status: 409, detail: 'There already.', code: -110 });
  const running = fast();
  const stopped = await runPlan(planOf([stepsThat(refused)], true), running);
  expect(stopped.state).toBe('stopped');
  expect(stopped.failed).toBeLessThan(5);
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

it('says of a step that is cut off that nobody knows whether it took effect', async () => {
  const end = new AbortController();
  const { signal } = end;
  const step: Step = {
    path: '/x',
    verb: 'delete',
    run: async (given) => {
      end.abort();
      given.throwIfAborted();
    },
  };
  const { state, failures } = await runPlan(planOf([[step]]), { ...fast(), signal });
  expect(state).toBe('stopped');
  expect(failures.map(({ error }) => sentenceOf(error))).toEqual([
    expect.stringContaining('whether it took effect is not known'),
  ]);
});
