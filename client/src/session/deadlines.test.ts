import { expect, it } from 'vitest';
import { FakeSurroundings } from '../testing/fake-surroundings.js';
import { turn } from '../testing/scripted-server.js';
import { type Dated, Deadlines } from './deadlines.js';

class Item implements Dated {
  deadlineMs = 0;
  list: Dated['list'] = null;
  previous: Dated | null = null;
  next: Dated | null = null;
  expiredAtMs = Number.NaN;
  readonly #surroundings: FakeSurroundings;

  constructor(surroundings: FakeSurroundings) {
    this.#surroundings = surroundings;
  }

  expire(): void {
    this.expiredAtMs = this.#surroundings.nowMs();
  }
}

it('expires each at its own time, on one timer', async () => {
  const surroundings = new FakeSurroundings();
  const deadlines = new Deadlines(surroundings);
  const timeouts = [500, 100, 500, 300, 100, 700];
  const items = timeouts.map((timeoutMs) => {
    const item = new Item(surroundings);
    deadlines.add(item, timeoutMs, surroundings.nowMs());
    expect(surroundings.timerCount).toBe(1);
    return item;
  });
  for (let index = 0; index < 8; index++) {
    surroundings.advance(100);
    await turn();
  }
  expect(items.map(({ expiredAtMs }) => expiredAtMs)).toEqual(timeouts);
  expect(deadlines.isEmpty).toBe(true);
  expect(surroundings.timerCount).toBe(0);
});

it('forgets what is removed, from the head, the middle and the end of its list', async () => {
  const surroundings = new FakeSurroundings();
  const deadlines = new Deadlines(surroundings);
  const items = Array.from({ length: 5 }, () => new Item(surroundings));
  for (const item of items) deadlines.add(item, 100, 0);
  for (const index of [0, 2, 4, 4]) {
    const item = items[index];
    if (item !== undefined) deadlines.remove(item);
  }
  surroundings.advance(100);
  await turn();
  const expired = items.map(({ expiredAtMs }) => !Number.isNaN(expiredAtMs));
  expect(expired).toEqual([false, true, false, true, false]);
});

it('expires nothing whose reply is read in the turn in which its deadline passes', async () => {
  const surroundings = new FakeSurroundings();
  const deadlines = new Deadlines(surroundings);
  const item = new Item(surroundings);
  deadlines.add(item, 100, 0);
  surroundings.advance(5_000);
  // The process was busy: the timer is late, and the socket is polled after it.
  deadlines.remove(item);
  await turn();
  expect(item.expiredAtMs).toBeNaN();
});

it('leaves no timer behind', () => {
  const surroundings = new FakeSurroundings();
  const deadlines = new Deadlines(surroundings);
  deadlines.add(new Item(surroundings), 100, 0);
  deadlines.stop();
  expect(surroundings.timerCount).toBe(0);
});
