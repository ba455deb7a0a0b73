/**
 * Goal: a lookup that hangs delays nobody but those who ask for that name for the first time.
 * Method: lookups that the test answers, and time that passes when the test says so.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { NameLookups } from './name-lookups.js';

interface Asked {
  readonly name: string;
  answer(...addresses: readonly string[]): void;
  fail(): void;
}

const SETTLING_TURNS = 10;

describe('lookups of names', () => {
  let asked: Asked[];
  let timers: { atMs: number; callback: () => void }[];
  let nowMs: number;
  let changes: ReadonlyMap<string, readonly string[]>[];
  let lookups: NameLookups;
  beforeEach(() => {
    [asked, timers, nowMs, changes] = [[], [], 0, []];
    lookups = new NameLookups({
      lookup: (name) =>
        new Promise((resolve, reject) => {
          const fail = () => reject(new Error(`${name} is unknown`));
          asked.push({ name, answer: (...addresses) => resolve(addresses), fail });
        }),
      after: (ms, callback) => {
        const timer = { atMs: nowMs + ms, callback };
        timers.push(timer);
        return () => {
          timers = timers.filter((one) => one !== timer);
        };
      },
      onChange: (known) => changes.push(known),
    });
  });

  async function pass(ms: number): Promise<void> {
    nowMs += ms;
    for (const timer of timers.filter(({ atMs }) => atMs <= nowMs)) {
      timers = timers.filter((one) => one !== timer);
      timer.callback();
    }
    for (let turn = 0; turn < SETTLING_TURNS; turn++) await Promise.resolve();
  }

  /** Null while it is not settled. */
  async function soon<T>(promise: Promise<T>): Promise<T | null> {
    let settled: T | null = null;
    promise.then(
      (value) => {
        settled = value;
      },
      () => undefined,
    );
    await pass(0);
    return settled;
  }

  const namesAsked = () => asked.map(({ name }) => name);
  const last = () => asked.at(-1) ?? expect.fail('nothing was asked');

  async function know(name: string, ...addresses: readonly string[]): Promise<void> {
    const found = lookups.resolve(name);
    last().answer(...addresses);
    expect(await found).toEqual(addresses);
  }

  it('asks once for a name, however many wait for it, and anew for the next who asks', async () => {
    const both = Promise.all([lookups.resolve('a'), lookups.resolve('a')]);
    expect(namesAsked()).toEqual(['a']);
    await pass(60_000);
    void lookups.resolve('a');
    expect(namesAsked()).toEqual(['a']);
    last().answer('10.0.0.1');
    expect(await both).toEqual([['10.0.0.1'], ['10.0.0.1']]);
    void lookups.resolve('a');
    expect(namesAsked()).toEqual(['a', 'a']);
  });

  it('gives the new address if the lookup answers, the known one if it hangs or fails', async () => {
    await know('a', '10.0.0.1');
    const moved = lookups.resolve('a');
    last().answer('10.0.0.2');
    expect(await moved).toEqual(['10.0.0.2']);
    const hanging = lookups.resolve('a');
    expect(await soon(hanging)).toBeNull();
    await pass(100);
    expect(await soon(hanging)).toEqual(['10.0.0.2']);
    const failing = lookups.resolve('a');
    last().fail();
    expect(await failing).toEqual(['10.0.0.2']);
  });

  it('rejects when the lookup fails, or finds nothing, and no address is known', async () => {
    const unknown = lookups.resolve('a');
    last().fail();
    await expect(unknown).rejects.toThrow('a is unknown');
    const empty = lookups.resolve('a');
    last().answer();
    await expect(empty).rejects.toThrow('a has no address');
  });

  it('gives what an earlier run knew, unless it has learned better', async () => {
    await know('a', '10.0.0.1');
    lookups.remember(
      new Map([
        ['a', ['10.0.0.9']],
        ['b', ['10.0.0.2']],
      ]),
    );
    const [a, b] = [lookups.resolve('a'), lookups.resolve('b')];
    await pass(100);
    expect([await soon(a), await soon(b)]).toEqual([['10.0.0.1'], ['10.0.0.2']]);
  });

  it('tells of all names when one has other addresses than before', async () => {
    await know('a', '10.0.0.1');
    await know('a', '10.0.0.1');
    await know('b', '10.0.0.2');
    expect(changes.map((known) => [...known])).toEqual([
      [['a', ['10.0.0.1']]],
      [
        ['a', ['10.0.0.1']],
        ['b', ['10.0.0.2']],
      ],
    ]);
  });

  it('has two lookups under way at most, and of names that hang one, behind the others', async () => {
    for (const name of ['a', 'b', 'c']) void lookups.resolve(name).catch(() => undefined);
    expect(namesAsked()).toEqual(['a', 'b']);
    await pass(1_000);
    for (const { fail } of asked) fail();
    await pass(0);
    expect(namesAsked()).toEqual(['a', 'b', 'c']);
    last().answer('10.0.0.3');
    await pass(0);
    // a and b hung: one of them is asked at a time, and a name that answers is asked beside it.
    for (const name of ['a', 'b', 'c']) void lookups.resolve(name).catch(() => undefined);
    expect(namesAsked().slice(3)).toEqual(['a', 'c']);
    last().answer('10.0.0.3');
    await pass(0);
    expect(namesAsked().slice(3)).toEqual(['a', 'c']);
    asked[3]?.fail();
    await pass(0);
    expect(namesAsked().slice(3)).toEqual(['a', 'c', 'b']);
  });
});
