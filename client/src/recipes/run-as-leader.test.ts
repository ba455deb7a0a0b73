/**
 * Goal: work under runAsLeader never runs twice at once, is handed over when it returns, fails or
 * its process is stopped, and goes on after a lost session. Method: two clients of one server.
 */
import { expect, it } from 'vitest';
import { ClientClosedError, OptionError } from '../api/errors.js';
import { namesIn, newWorld, turns, until } from '../testing/lock-world.js';
import { LeaderLatch } from './leader-latch.js';
import { type Leadership, runAsLeader } from './run-as-leader.js';

const PATH = '/leader';

/** Work that lasts until it is told to end. */
function steered() {
  const runs: { readonly leadership: Leadership; end(): void; fail(error: Error): void }[] = [];
  const work = (leadership: Leadership) =>
    new Promise<void>((end, fail) => runs.push({ leadership, end, fail }));
  return { runs, work };
}

it('does the work in one process, and in the next when the first is stopped and has settled', async () => {
  const { one, other } = newWorld();
  const [first, second] = [steered(), steered()];
  const stop = new AbortController();
  const running = runAsLeader(one, PATH, first.work, { signal: stop.signal });
  await until(() => first.runs.length === 1);
  const end = new AbortController();
  const waiting = runAsLeader(other, PATH, second.work, { signal: end.signal });
  await turns(20);
  stop.abort();
  expect(first.runs[0]?.leadership.signal.aborted).toBe(true);
  expect(first.runs[0]?.leadership.lease.held).toBe(true);
  await turns(20);
  expect(second.runs).toEqual([]);
  first.runs[0]?.end();
  await running;
  await until(() => second.runs.length === 1);
  end.abort();
  second.runs[0]?.end();
  await waiting;
});

it('hands over when the work returns, and takes part again behind the others', async () => {
  const { one, other } = newWorld();
  const turnsOf: string[] = [];
  const end = new AbortController();
  const work = (name: string) => async () => {
    turnsOf.push(name);
    if (turnsOf.length === 6) end.abort();
    await turns(5);
  };
  await Promise.all([
    runAsLeader(one, PATH, work('one'), { signal: end.signal }),
    runAsLeader(other, PATH, work('other'), { signal: end.signal }),
  ]);
  expect(turnsOf.slice(0, 6)).toEqual(['one', 'other', 'one', 'other', 'one', 'other']);
});

it('hands over when the work fails, and takes part again after a pause that grows', async () => {
  const { one, surroundings, server } = newWorld();
  const { runs, work } = steered();
  const end = new AbortController();
  const delays: number[] = [];
  const backoff = (attempt: number) => {
    delays.push(attempt);
    return 100 * (attempt + 1);
  };
  const running = runAsLeader(one, PATH, work, { signal: end.signal, backoff });
  for (let round = 1; round <= 2; round++) {
    await until(() => runs.length === round);
    runs.at(-1)?.fail(new Error('mine'));
    await until(() => surroundings.timerCount > 0);
    expect(namesIn(server, PATH)).toEqual([]);
    surroundings.advance(100 * round - 1);
    await turns(20);
    expect(runs).toHaveLength(round);
    surroundings.advance(1);
  }
  await until(() => runs.length === 3);
  runs.at(-1)?.end();
  await until(() => runs.length === 4);
  runs.at(-1)?.fail(new Error('mine'));
  await until(() => delays.length === 3);
  expect(delays).toEqual([0, 1, 0]);
  end.abort();
  await running;
});

it('rejects with the error of the work when told so, or when the pauses give up', async () => {
  const { one } = newWorld();
  const work = () => Promise.reject(new Error('mine'));
  await expect(runAsLeader(one, PATH, work, { onError: 'stop' })).rejects.toThrow('mine');
  await expect(runAsLeader(one, PATH, work, { backoff: () => null })).rejects.toThrow('mine');
});

it('waits for work whose session was lost, then takes part again in the next one', async () => {
  const { one, other, server } = newWorld();
  const { runs, work } = steered();
  const end = new AbortController();
  const running = runAsLeader(one, PATH, work, { signal: end.signal });
  await until(() => runs.length === 1);
  const others = new LeaderLatch(other, PATH);
  others.start();
  await until(() => namesIn(server, PATH).length === 2);
  one.expire();
  await until(() => others.hasLeadership);
  expect(runs[0]?.leadership.signal.aborted).toBe(true);
  await turns(50);
  expect(namesIn(server, PATH)).toHaveLength(1);
  // That it was disturbed is no failure of its own.
  runs[0]?.fail(new Error('the lease is lost'));
  await until(() => namesIn(server, PATH).length === 2);
  await others.close();
  await until(() => runs.length === 2);
  end.abort();
  runs[1]?.end();
  await running;
  expect(namesIn(server, PATH)).toEqual([]);
});

it('ends at once when it is stopped while it waits, and rejects when the client is closed', async () => {
  const { one, other } = newWorld();
  const { runs, work } = steered();
  const end = new AbortController();
  const leading = runAsLeader(one, PATH, work, { signal: end.signal });
  await until(() => runs.length === 1);
  const stop = new AbortController();
  const waiting = runAsLeader(other, PATH, work, { signal: stop.signal });
  await turns(20);
  stop.abort();
  await waiting;
  const closed = runAsLeader(other, PATH, work);
  await turns(20);
  await other.close();
  await expect(closed).rejects.toBeInstanceOf(ClientClosedError);
  end.abort();
  runs[0]?.end();
  await leading;
  const unknown: object = { delay: 1 };
  await expect(runAsLeader(one, PATH, work, unknown)).rejects.toThrow(OptionError);
});
