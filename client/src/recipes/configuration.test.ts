import { ConnectionLossError, NoAuthError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ClientClosedError, OperationAbortedError } from '../api/errors.js';
import { FakeClient } from '../testing/fake-client.js';
import { newWorld, turns, until } from '../testing/lock-world.js';
import { pick, randomFrom, runToEnd, seeds, strike } from '../testing/random-faults.js';
import { Configuration, type ConfigurationState } from './configuration.js';
import { RecipeStateError, WaitTimeoutError } from './shared/errors.js';

const PATH = '/config/a';

const JSON_CODEC = {
  parse: (data: Buffer | null): number => {
    const value: unknown = JSON.parse(data?.toString() ?? '');
    if (typeof value !== 'number') throw new Error('not a number');
    return value;
  },
  format: (value: number) => JSON.stringify(value),
};

function setUp() {
  const world = newWorld();
  const open = (client: FakeClient) => new Configuration<number>(client, PATH, JSON_CODEC);
  return { ...world, open, ofOne: open(world.one), ofOther: open(world.other) };
}

function expectNothingLeft(...clients: FakeClient[]): void {
  for (const client of clients) {
    expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
  }
}

describe('a configuration', () => {
  it('follows its znode from before it is there to after it is gone', async () => {
    const { server, one, other, ofOne, ofOther } = setUp();
    const states: ConfigurationState<number>[] = [];
    const stop = new AbortController();
    const following = (async () => {
      for await (const state of ofOne.states({ signal: stop.signal })) states.push(state);
    })();
    await until(() => states.length === 1);
    const valid = ofOne.whenValid();
    expect(await ofOther.update((present) => (present ?? 0) + 1)).toBe(1);
    expect(await valid).toBe(1);
    await ofOther.update((present) => (present ?? 0) + 1);
    await until(() => ofOne.value === 2);
    server.setData(PATH, 'broken');
    await until(() => ofOne.state?.kind === 'invalid');
    expect(ofOne.value).toBe(2);
    server.delete(PATH);
    await until(() => ofOne.state?.kind === 'missing');
    expect(ofOne.value).toBe(2);
    await turns(5);
    expect(states.map(({ kind }) => kind)).toEqual([
      'missing',
      'valid',
      'valid',
      'invalid',
      'missing',
    ]);
    expect(states[2]).toMatchObject({ value: 2, version: 1 });
    stop.abort();
    await following;
    await ofOne.close();
    expect(() => ofOne.start()).toThrow(RecipeStateError);
    expectNothingLeft(one, other);
  });

  it('sees what was changed while its connection or session was away', async () => {
    const { server, one, ofOne, ofOther } = setUp();
    await ofOther.update(() => 1);
    await ofOne.whenValid();
    one.comesBack = false;
    one.loseConnection();
    server.setData(PATH, '2');
    expect(ofOne.value).toBe(1);
    one.comeBack();
    await until(() => ofOne.value === 2);
    one.expire();
    server.setData(PATH, '3');
    one.comeBack();
    await until(() => ofOne.value === 3);
    await ofOne.close();
    expectNothingLeft(one);
  });

  it('ends with its client, and by what the server answers', async () => {
    const { one, other, ofOne, ofOther } = setUp();
    one.failNext('getData', new NoAuthError(PATH));
    await expect(ofOne.whenValid()).rejects.toThrow(NoAuthError);
    expect(ofOne.failure).toBeInstanceOf(NoAuthError);
    const states = ofOther.states();
    expect((await states.next()).value).toEqual({ kind: 'missing' });
    const next = states.next();
    await other.close();
    await expect(next).rejects.toThrow(ClientClosedError);
    expectNothingLeft(one, other);
  });
});

describe('its states', () => {
  it('end when it is closed', async () => {
    const { one, ofOne } = setUp();
    const states = ofOne.states();
    expect((await states.next()).value).toEqual({ kind: 'missing' });
    const next = states.next();
    await ofOne.close();
    expect(await next).toEqual({ done: true, value: undefined });
    expectNothingLeft(one);
  });
});

describe('an update', () => {
  it('is made again on what another has written meanwhile', async () => {
    const { one, other, ofOne, ofOther } = setUp();
    await ofOther.update(() => 10);
    let isFirst = true;
    one.onSend = ({ op }) => {
      if (op === 'setData' && isFirst) {
        isFirst = false;
        void other.setData(PATH, '20');
      }
    };
    const seen: (number | undefined)[] = [];
    const value = await ofOne.update((present) => {
      seen.push(present);
      return (present ?? 0) + 1;
    });
    expect([seen, value]).toEqual([[10, 20], 21]);
  });

  it.each(['reply-lost', 'request-lost'] as const)('is made once though a %s', async (fault) => {
    const { server, surroundings, one, ofOne } = setUp();
    for (const op of ['create', 'setData']) {
      if (op === 'create') await one.create('/config');
      one.failNext(op, fault);
      const updated = ofOne.update((present) => (present ?? 0) + 1);
      await surroundings.settle();
      await updated;
    }
    expect(server.read(PATH).data?.toString()).toBe('2');
  });

  it('is made once though the session is lost with the reply', async () => {
    const { server, surroundings, one, ofOne } = setUp();
    await ofOne.update(() => 1);
    one.onSend = ({ op }) => {
      if (op === 'setData') setImmediate(() => one.expire());
    };
    one.failNext('setData', 'reply-lost');
    const updated = ofOne.update((present) => (present ?? 0) + 1);
    await surroundings.settle();
    expect(await updated).toBe(2);
    expect(server.stat(PATH)?.version).toBe(1);
  });

  it('that nobody can tell of ends with the ambiguous error', async () => {
    const { server, surroundings, one, ofOne } = setUp();
    await ofOne.update(() => 1);
    one.comesBack = false;
    one.failNext('setData', 'reply-lost');
    const updated = ofOne.update(() => 2);
    updated.catch(() => {});
    await until(() => one.state === 'suspended');
    server.setData(PATH, '3');
    one.comeBack();
    await surroundings.settle();
    await expect(updated).rejects.toThrow(ConnectionLossError);
    await expect(updated).rejects.toMatchObject({ ambiguous: true });
  });

  it('given up says whether it may have been made', async () => {
    const { one, ofOne, surroundings } = setUp();
    await ofOne.update(() => 1);
    one.comesBack = false;
    one.loseConnection();
    const controller = new AbortController();
    const unsent = ofOne.update(() => 2, { signal: controller.signal });
    controller.abort();
    await expect(unsent).rejects.toThrow(OperationAbortedError);
    await expect(unsent).rejects.toMatchObject({ ambiguous: false });
    one.comeBack();
    one.failNext('setData', 'reply-lost');
    const sent = ofOne.update(() => 2, { timeoutMs: 1_000 });
    sent.catch(() => {});
    await until(() => one.state === 'suspended');
    surroundings.advance(1_000);
    await expect(sent).rejects.toThrow(WaitTimeoutError);
    await expect(sent).rejects.toMatchObject({ ambiguous: true });
  });
});

describe('updates under random faults', () => {
  it.each(seeds(15))('are each made once, or said to be uncertain (seed %i)', async (seed) => {
    const random = randomFrom(seed);
    const { server, surroundings, open } = setUp();
    const clients = Array.from({ length: 3 }, () => new FakeClient(server, { surroundings }));
    // Each writer appends its own marks, so that each write can be told from every other.
    const codec = {
      parse: (data: Buffer | null): string[] => (data?.toString() ?? '').split(' '),
      format: (marks: string[]) => marks.join(' '),
    };
    const certain: string[] = [];
    const uncertain: string[] = [];
    const writer = async (client: FakeClient, index: number) => {
      const configuration = new Configuration<string[]>(client, PATH, codec);
      for (let round = 0; round < 8; round++) {
        const mark = `${index}.${round}`;
        try {
          await configuration.update((present) => [...(present ?? []), mark]);
          certain.push(mark);
        } catch (error) {
          expect(error).toMatchObject({ ambiguous: true });
          uncertain.push(mark);
        }
      }
    };
    const follower = open(clients[0] ?? new FakeClient(server));
    follower.start();
    await runToEnd(clients.map(writer), {
      surroundings,
      random,
      faultySteps: 400,
      check: () => {},
      fault: () => {
        const client = pick(clients, random);
        if (client !== undefined) strike({ server, client, random });
      },
    });
    await surroundings.settle();
    const marks = codec.parse(server.read(PATH).data);
    expect(new Set(marks).size).toBe(marks.length);
    expect(marks.filter((mark) => !uncertain.includes(mark)).sort()).toEqual(certain.sort());
    expect(follower.state).toMatchObject({ kind: 'invalid' });
    await follower.close();
    await surroundings.settle();
    expectNothingLeft(...clients);
  });
});
