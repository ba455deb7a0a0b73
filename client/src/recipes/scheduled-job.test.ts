/**
 * Goal: each due time is begun once, whoever dies or is lost; the history tells what became of it.
 * Method: two clients of one server, fake time as the clock of both.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OptionError } from '../api/errors.js';
import { newWorld, turns } from '../testing/lock-world.js';
import { type JobTurn, ScheduledJob, type ScheduledJobOptions } from './scheduled-job.js';
import { every, nextDue } from './shared/job-runs.js';

const PATH = '/jobs/report';

function newJobs(options: Partial<ScheduledJobOptions> = {}) {
  const world = newWorld();
  const now = () => world.surroundings.nowMs();
  const all = { schedule: every(1_000), now, ...options };
  const job = new ScheduledJob(world.one, PATH, { ...all, id: 'one' });
  const same = new ScheduledJob(world.other, PATH, { ...all, id: 'other' });
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 100) {
      await turns(40);
      world.surroundings.advance(Math.min(left, 100));
    }
    await turns(40);
  };
  return { ...world, job, same, pass };
}

describe('a scheduled job', () => {
  it('is done once at each due time, by one of two processes, and keeps its history', async () => {
    const { job, same, pass } = newJobs({ historyMax: 3 });
    const stop = new AbortController();
    const done: number[] = [];
    const work = ({ dueMs }: JobTurn) => {
      done.push(dueMs);
      if (dueMs === 4_000) throw new TypeError('no paper');
    };
    const { signal } = stop;
    const running = [job.run(work, { signal }), same.run(work, { signal })];
    await pass(5_500);
    stop.abort();
    await Promise.all(running);
    expect(done).toEqual([1_000, 2_000, 3_000, 4_000, 5_000]);
    expect(await job.history()).toMatchObject([
      { dueMs: 5_000, outcome: 'done', attempt: 1, error: null },
      { dueMs: 4_000, outcome: 'failed', error: 'TypeError: no paper' },
      { dueMs: 3_000, outcome: 'done' },
    ]);
    expect(await job.history()).toHaveLength(3);
  });

  it.each(['skip', 'again'] as const)(
    'that was interrupted by a lost session is done %s by the next process',
    async (onInterrupted) => {
      const { job, same, pass, one } = newJobs({ onInterrupted });
      const stop = new AbortController();
      const { signal } = stop;
      const runsOfOne: JobTurn[] = [];
      let letGo = () => {};
      const running = job.run(
        (run) => {
          runsOfOne.push(run);
          return new Promise<void>((resolve) => {
            letGo = resolve;
          });
        },
        { signal },
      );
      await pass(1_100);
      const second: string[] = [];
      const other = same.run(({ dueMs, attempt }) => void second.push(`${dueMs}/${attempt}`), {
        signal,
      });
      await pass(500);
      one.expire();
      await pass(500);
      expect(runsOfOne[0]?.signal.aborted).toBe(true);
      await pass(500);
      letGo();
      await pass(500);
      stop.abort();
      await Promise.all([running, other]);
      const made = onInterrupted === 'again' ? ['1000/2'] : [];
      expect(second.slice(0, 2)).toEqual([...made, '2000/1', '3000/1'].slice(0, 2));
      const history = await job.history();
      const first = history.find(({ dueMs }) => dueMs === 1_000);
      expect(first?.outcome).toBe(onInterrupted === 'again' ? 'done' : 'interrupted');
      expect(new Set(history.map(({ dueMs }) => dueMs)).size).toBe(history.length);
    },
  );

  it('makes up for the last of the times that nobody was there for, and not for those before', async () => {
    const { job, pass } = newJobs();
    const done: number[] = [];
    const runFor = async (ms: number) => {
      const stop = new AbortController();
      const running = job.run(({ dueMs }) => void done.push(dueMs), { signal: stop.signal });
      await pass(ms);
      stop.abort();
      await running;
    };
    await runFor(1_100);
    await pass(60_000);
    await runFor(1_000);
    expect(done).toEqual([1_000, 61_000, 62_000]);
  });

  it('goes on past a run that cannot be read, which its history leaves out', async () => {
    const { job, pass, one } = newJobs();
    const stop = new AbortController();
    const done: number[] = [];
    const running = job.run(({ dueMs }) => void done.push(dueMs), { signal: stop.signal });
    await pass(1_500);
    const runs = `${PATH}/runs`;
    const [name] = (await one.getChildren(runs)).children;
    await one.setData(`${runs}/${name}`, '{');
    await pass(1_000);
    stop.abort();
    await running;
    expect(done).toEqual([1_000, 2_000]);
    expect(await job.history()).toMatchObject([{ dueMs: 2_000, outcome: 'done' }]);
  });

  it('writes its beginning once when the reply is lost, and does the work', async () => {
    const { job, one, pass } = newJobs();
    const stop = new AbortController();
    const done: number[] = [];
    const running = job.run(({ dueMs }) => void done.push(dueMs), { signal: stop.signal });
    await pass(500);
    one.failNext('multi', 'reply-lost', 2);
    await pass(1_600);
    stop.abort();
    await running;
    expect(done).toEqual([1_000, 2_000]);
    expect((await job.history()).map(({ outcome }) => outcome)).toEqual(['done', 'done']);
  });

  it('ends when nothing will be due any more, and rejects for a schedule that stands still', async () => {
    const once = newJobs({ schedule: (after) => (after < 1_000 ? 1_000 : null) });
    const done: number[] = [];
    const running = once.job.run(({ dueMs }) => void done.push(dueMs));
    await once.pass(1_100);
    await running;
    expect(done).toEqual([1_000]);
    const still = newJobs({ schedule: (after) => after });
    const refused = still.job.run(() => {}).catch((error: unknown) => error);
    await still.pass(100);
    expect(await refused).toBeInstanceOf(OptionError);
    expect(() => newJobs({ historyMax: 0 })).toThrow(OptionError);
    expect(() => every(0)).toThrow(OptionError);
  });

  it('waits for the work under way when it is stopped, and writes what came of it', async () => {
    const { job, pass } = newJobs();
    const stop = new AbortController();
    let letGo = () => {};
    const running = job.run(
      () =>
        new Promise<void>((resolve) => {
          letGo = resolve;
        }),
      { signal: stop.signal },
    );
    await pass(1_100);
    stop.abort();
    await turns(20);
    expect((await job.history())[0]?.outcome).toBe('running');
    letGo();
    await running;
    expect((await job.history())[0]).toMatchObject({ outcome: 'done', by: 'one' });
  });
});

it('the next due time is the last that has passed, or the first that comes', () => {
  const times = fc.uniqueArray(fc.integer({ min: 0, max: 100_000 }), { maxLength: 50 });
  const at = fc.integer({ min: 0, max: 100_000 });
  fc.assert(
    fc.property(times, at, at, (given, afterMs, nowMs) => {
      const sorted = given.toSorted((left, right) => left - right);
      const schedule = (after: number) => sorted.find((time) => time > after) ?? null;
      const open = sorted.filter((time) => time > afterMs);
      const expected = open.findLast((time) => time <= nowMs) ?? open[0] ?? null;
      expect(nextDue(schedule, afterMs, nowMs)).toBe(expected);
    }),
  );
  let asked = 0;
  const counted = (after: number) => {
    asked += 1;
    return every(1_000)(after);
  };
  expect(nextDue(counted, 0, 1e12 + 5)).toBe(1e12);
  expect(asked).toBeLessThan(30);
});
