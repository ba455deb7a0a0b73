import { ConnectionLossError, NoAuthError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ClientClosedError, OptionError } from '../api/errors.js';
import type { FakeClient } from '../testing/fake-client.js';
import { newWorld, turns, until } from '../testing/lock-world.js';
import { pick, randomFrom, strike } from '../testing/random-faults.js';
import { RecipeStateError } from './shared/errors.js';
import { CorruptDataError, IllegalVersionError, NumberRangeError } from './shared/value-errors.js';
import { SharedCount } from './shared-count.js';
import { SharedValue } from './shared-value.js';

const PATH = '/values/a';

function setUp() {
  const world = newWorld();
  return {
    ...world,
    ofOne: new SharedValue(world.one, PATH, 'seed of one'),
    ofOther: new SharedValue(world.other, PATH, 'seed of the other'),
  };
}

function expectNothingLeft(...clients: FakeClient[]): void {
  for (const client of clients) {
    expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
  }
}

describe('a shared value', () => {
  it('begins with the seed of whoever starts first, and is followed by all', async () => {
    const { server, one, other, ofOne, ofOther } = setUp();
    expect((await ofOne.ready()).data?.toString()).toBe('seed of one');
    expect((await ofOther.ready()).data?.toString()).toBe('seed of one');
    expect(server.read(PATH).data?.toString()).toBe('seed of one');
    const heard: string[] = [];
    ofOther.listen(({ data }) => heard.push(data?.toString() ?? 'null'));
    const set = await ofOne.set('two');
    expect(ofOne.current?.stat.mzxid).toBe(set.stat.mzxid);
    await until(() => heard.length === 1);
    expect([heard, ofOther.current?.data?.toString()]).toEqual([['two'], 'two']);
    await ofOne.close();
    await ofOne.close();
    await ofOther.close();
    expect(() => ofOne.start()).toThrow(RecipeStateError);
    expectNothingLeft(one, other);
    expect(server.stat(PATH)).not.toBeNull();
  });

  it('is changed only from the version that was seen, and seen newer when it was not', async () => {
    const { ofOne, ofOther } = setUp();
    const first = await ofOne.ready();
    await ofOther.ready();
    expect(await ofOther.trySet(first, 'of the other')).toBe(true);
    expect(await ofOne.trySet(first, 'of one')).toBe(false);
    const { current } = ofOne;
    expect(current?.data?.toString()).toBe('of the other');
    expect(current !== null && (await ofOne.trySet(current, 'of one'))).toBe(true);
    expect(ofOne.current?.data?.toString()).toBe('of one');
  });

  it('refuses version -1, which the server takes for any', async () => {
    const { ofOne } = setUp();
    const { data, stat } = await ofOne.ready();
    const wrapped = { data, stat: { ...stat, version: -1 } };
    await expect(ofOne.trySet(wrapped, 'x')).rejects.toThrow(IllegalVersionError);
  });

  it('tells a lost request from a lost reply, and where it cannot, says so', async () => {
    const { server, one, ofOne } = setUp();
    const first = await ofOne.ready();
    one.failNext('setData', 'request-lost');
    expect(await ofOne.trySet(first, 'two')).toBe(true);
    const second = ofOne.current ?? first;
    one.failNext('setData', 'reply-lost');
    const doubtful = ofOne.trySet(second, 'three');
    await expect(doubtful).rejects.toMatchObject({ ambiguous: true });
    await expect(doubtful).rejects.toThrow(ConnectionLossError);
    expect(server.read(PATH).data?.toString()).toBe('three');
    const third = await ofOne.set('four');
    one.onSend = ({ op }) => {
      if (op !== 'setData') return;
      one.onSend = null;
      server.setData(PATH, 'of another');
    };
    one.failNext('setData', 'request-lost');
    expect(await ofOne.trySet(third, 'five')).toBe(false);
  });

  it('says that it is in doubt also when the session is lost, or the caller gives up', async () => {
    const { one, ofOne } = setUp();
    const first = await ofOne.ready();
    const before = (what: () => void) => {
      one.onSend = ({ op }) => {
        // Sent and applied, but it happens before the reply comes.
        if (op === 'setData') setImmediate(what);
      };
    };
    before(() => one.expire());
    const lost = ofOne.trySet(first, 'two');
    await expect(lost).rejects.toMatchObject({ name: 'SessionExpiredError', ambiguous: true });
    one.onSend = null;
    const second = await ofOne.set('two');
    const controller = new AbortController();
    before(() => controller.abort());
    const aborted = ofOne.trySet(second, 'three', { signal: controller.signal });
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError', ambiguous: true });
  });

  it.each(['loseConnection', 'expire'] as const)('is read again after %s', async (lose) => {
    const { one, ofOne, ofOther } = setUp();
    await Promise.all([ofOne.ready(), ofOther.ready()]);
    one.comesBack = false;
    one[lose]();
    await ofOther.set('missed');
    one.comeBack();
    await until(() => ofOne.current?.data?.toString() === 'missed');
    await ofOther.set('heard');
    await until(() => ofOne.current?.data?.toString() === 'heard');
    await ofOne.close();
    expectNothingLeft(one);
  });

  it('keeps the last value while the znode is deleted, and takes the next', async () => {
    const { server, ofOne } = setUp();
    const first = await ofOne.ready();
    server.delete(PATH);
    await turns(10);
    expect(ofOne.current).toEqual(first);
    expect(await ofOne.trySet(first, 'x')).toBe(false);
    await ofOne.set('again');
    expect(server.read(PATH).data?.toString()).toBe('again');
  });

  it('is an iterator of values that skips some but not the last', async () => {
    const { one, ofOne, ofOther } = setUp();
    await ofOther.ready();
    const values = ofOne.values();
    await values.next();
    for (let index = 0; index < 10; index++) await ofOther.set(`${index}`);
    let last = '';
    while (last !== '9') last = (await values.next()).value?.data?.toString() ?? '';
    const next = values.next();
    await ofOne.close();
    expect((await next).done).toBe(true);
    expectNothingLeft(one);
  });

  it('ends with what the server refuses, or with the client', async () => {
    const { one, ofOne } = setUp();
    one.failNext('create', new NoAuthError(PATH));
    await expect(ofOne.ready()).rejects.toThrow(NoAuthError);
    await ofOne.close();
    expectNothingLeft(one);
    const next = new SharedValue(one, PATH, 'x');
    await next.ready();
    one.failNext('getData', new NoAuthError(PATH));
    one.loseConnection();
    await until(() => next.failure !== null);
    expect(next.failure).toBeInstanceOf(NoAuthError);
    await next.close();
    const last = new SharedValue(one, PATH, 'x');
    await last.ready();
    await one.close();
    await until(() => last.failure !== null);
    expect(last.failure).toBeInstanceOf(ClientClosedError);
  });
});

describe('a shared count', () => {
  it('is 4 bytes, big-endian', async () => {
    const { server, one } = newWorld();
    const count = new SharedCount(one, PATH, 258);
    expect((await count.ready()).count).toBe(258);
    expect([...(server.read(PATH).data ?? [])]).toEqual([0, 0, 1, 2]);
    const { current } = count;
    expect(current !== null && (await count.trySet(current, -1))).toBe(true);
    expect([...(server.read(PATH).data ?? [])]).toEqual([255, 255, 255, 255]);
    for (const tooLarge of [2 ** 31, -(2 ** 31) - 1]) {
      await expect(count.set(tooLarge)).rejects.toThrow(NumberRangeError);
    }
    const refused = new OptionError('count', `must be an integer, is 1.5: ${PATH}`);
    await expect(count.set(1.5)).rejects.toThrow(refused);
    expect(() => new SharedCount(one, PATH, Number.NaN)).toThrow(OptionError);
    expect((await count.set(2 ** 31 - 1)).count).toBe(2 ** 31 - 1);
    await count.close();
    expectNothingLeft(one);
  });

  it('says what is none, and goes on when there is one again', async () => {
    const { server, one } = newWorld();
    const count = new SharedCount(one, PATH, 1);
    await count.ready();
    const heard: number[] = [];
    count.listen(({ count: now }) => heard.push(now));
    server.setData(PATH, 'three bytes it is not');
    await turns(10);
    expect(() => count.current).toThrow(CorruptDataError);
    server.setData(PATH, Buffer.from([0, 0, 0, 7]));
    await until(() => heard.length > 0);
    expect([heard, count.current?.count]).toEqual([[7], 7]);
  });
});

const SEEDS = Array.from({ length: 40 }, (_, index) => index + 1);

it.each(SEEDS)('values never go back and end equal, seed %i', async (seed) => {
  const random = randomFrom(seed);
  const { server, surroundings, one, other } = newWorld();
  const values = [one, other].map((client) => new SharedValue(client, PATH, 'seed'));
  const seen = values.map((value) => {
    const zxids: bigint[] = [];
    value.listen(({ stat }) => zxids.push(stat.mzxid));
    value.start();
    return zxids;
  });
  const writing: Promise<unknown>[] = [];
  const confirmed = new Set<string>();
  for (let step = 0; step < 300; step++) {
    const data = `${step}`;
    const value = pick(values, random);
    const current = value?.current ?? null;
    if (value !== undefined && current !== null && random() < 0.2) {
      const write = random() < 0.5 ? value.set(data) : value.trySet(current, data);
      const settled = write.then(
        (result) => result !== false && confirmed.add(data),
        (error: unknown) => expect(error).toMatchObject({ ambiguous: true }),
      );
      writing.push(settled);
    }
    const client = pick([one, other], random);
    if (client !== undefined && random() < 0.04) strike({ server, client, random });
    if (random() < 0.3) surroundings.advance(20);
    await new Promise(setImmediate);
  }
  await surroundings.settle();
  await Promise.all(writing);
  const { data, stat } = server.read(PATH);
  for (const value of values) {
    expect(value.current?.stat.mzxid).toBe(stat.mzxid);
    expect(value.current?.data).toEqual(data);
    await value.close();
  }
  for (const zxids of seen) {
    expect(zxids).toEqual([...new Set(zxids)].sort((a, b) => (a < b ? -1 : 1)));
  }
  expect(confirmed.size).toBeGreaterThan(0);
  expectNothingLeft(one, other);
});
