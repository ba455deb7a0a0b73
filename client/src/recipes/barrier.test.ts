import { NoAuthError, SessionExpiredError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ClientClosedError, OperationAbortedError } from '../api/errors.js';
import type { FakeClient } from '../testing/fake-client.js';
import { newWorld, turns, until } from '../testing/lock-world.js';
import { pick, randomFrom, runToEnd, seeds, strike } from '../testing/random-faults.js';
import { Barrier } from './barrier.js';
import { WaitTimeoutError } from './shared/errors.js';

const PATH = '/barriers/a';

function setUp(options = {}) {
  const world = newWorld();
  return {
    ...world,
    ofOne: new Barrier(world.one, PATH, options),
    ofOther: new Barrier(world.other, PATH, options),
  };
}

/** A wait that has come to stand at the barrier. */
async function waiting(barrier: Barrier, client: FakeClient, options = {}) {
  let isOver = false;
  const wait = barrier.wait(options).finally(() => {
    isOver = true;
  });
  wait.catch(() => {});
  await until(() => client.watchCount > 0);
  return { wait, isOver: () => isOver };
}

function expectNothingLeft(...clients: FakeClient[]): void {
  for (const client of clients) {
    expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
  }
}

describe('a barrier', () => {
  it('that is not set holds nobody', async () => {
    const { ofOne, one } = setUp();
    await ofOne.wait();
    expect(await ofOne.isSet()).toBe(false);
    expectNothingLeft(one);
  });

  it('holds until it is removed, then lets everybody go', async () => {
    const { server, one, other, ofOne, ofOther } = setUp();
    await ofOther.set();
    expect(server.paths()).toEqual(['/barriers', PATH]);
    expect(await ofOne.isSet()).toBe(true);
    const first = await waiting(ofOne, one);
    const second = await waiting(ofOther, other);
    await turns(20);
    expect([first.isOver(), second.isOver()]).toEqual([false, false]);
    await ofOther.remove();
    await Promise.all([first.wait, second.wait]);
    expect(server.paths()).toEqual(['/barriers']);
    expectNothingLeft(one, other);
  });

  it('may be set and removed twice', async () => {
    const { ofOne, ofOther } = setUp();
    await Promise.all([ofOne.set(), ofOther.set()]);
    await Promise.all([ofOne.remove(), ofOther.remove()]);
    expect(await ofOne.isSet()).toBe(false);
  });

  it.each(['reply-lost', 'request-lost'] as const)('is set and removed though a %s', async (f) => {
    const { one, ofOne, surroundings } = setUp();
    one.failNext('create', f);
    const set = ofOne.set();
    await surroundings.settle();
    await set;
    one.failNext('delete', f);
    const removed = ofOne.remove();
    await surroundings.settle();
    await removed;
    expect(await ofOne.isSet()).toBe(false);
  });
});

describe('a wait at a barrier', () => {
  it('ends by its time, with nothing left', async () => {
    const { surroundings, one, ofOne } = setUp();
    await ofOne.set();
    const { wait } = await waiting(ofOne, one, { timeoutMs: 500 });
    surroundings.advance(500);
    await expect(wait).rejects.toThrow(WaitTimeoutError);
    expectNothingLeft(one);
    expect(surroundings.timerCount).toBe(0);
  });

  it('ends by its signal, also one that was aborted before', async () => {
    const { one, ofOne } = setUp();
    await ofOne.set();
    const controller = new AbortController();
    const { wait } = await waiting(ofOne, one, { signal: controller.signal });
    controller.abort();
    await expect(wait).rejects.toThrow(OperationAbortedError);
    await expect(ofOne.wait({ signal: controller.signal })).rejects.toThrow(OperationAbortedError);
    expectNothingLeft(one);
  });

  it('ends with the session, or goes on in the next', async () => {
    const { one, other, ofOne } = setUp();
    const rejoining = new Barrier(other, PATH, { onSessionLost: 'rejoin' });
    await ofOne.set();
    const first = await waiting(ofOne, one);
    const second = await waiting(rejoining, other);
    one.expire();
    other.expire();
    await expect(first.wait).rejects.toThrow(SessionExpiredError);
    await until(() => other.watchCount > 0);
    expect(second.isOver()).toBe(false);
    await ofOne.remove();
    await second.wait;
    expectNothingLeft(one, other);
  });

  it('ends with the client', async () => {
    const { one, ofOne } = setUp();
    await ofOne.set();
    const { wait } = await waiting(ofOne, one);
    await one.close();
    await expect(wait).rejects.toThrow(ClientClosedError);
    expectNothingLeft(one);
  });

  it('sees a removal that happened while its connection was away', async () => {
    const { one, ofOne, ofOther } = setUp();
    await ofOne.set();
    const { wait } = await waiting(ofOne, one);
    one.comesBack = false;
    one.loseConnection();
    await ofOther.remove();
    one.comeBack();
    await wait;
    expectNothingLeft(one);
  });

  it('fails by what the server answers', async () => {
    const { one, ofOne } = setUp();
    one.failNext('getData', new NoAuthError(PATH));
    await expect(ofOne.wait()).rejects.toThrow(NoAuthError);
    expectNothingLeft(one);
  });
});

describe('a barrier under random faults', () => {
  it.each(seeds(12))('loses no wake-up (seed %i)', async (seed) => {
    const random = randomFrom(seed);
    const { server, surroundings, one, other } = newWorld();
    const clients = [one, other];
    const options = { onSessionLost: 'rejoin' } as const;
    const rounds = 10;
    let passed = 0;
    const waiter = async (client: FakeClient) => {
      const barrier = new Barrier(client, PATH, options);
      for (let round = 0; round < rounds; round++) {
        await barrier.wait();
        passed++;
      }
    };
    const keeper = async () => {
      const barrier = new Barrier(other, PATH, options);
      // As often as needed: a removal that nobody follows up must let everybody go in the end.
      for (let round = 0; round < rounds; round++) {
        await barrier.set();
        await turns(Math.floor(random() * 10));
        await barrier.remove();
      }
    };
    await runToEnd([keeper(), waiter(one), waiter(one), waiter(other)], {
      surroundings,
      random,
      faultySteps: 400,
      check: () => {},
      fault: () => {
        const client = pick(clients, random);
        if (client !== undefined) strike({ server, client, random });
      },
    });
    expect(passed).toBe(3 * rounds);
    await surroundings.settle();
    expect(server.paths()).toEqual(['/barriers']);
    expectNothingLeft(one, other);
  });
});
