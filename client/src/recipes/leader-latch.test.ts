/** Tests named by an issue are of a race that Curator's LeaderLatch had. */
import { NoAuthError, NotReadOnlyError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ClientClosedError, OperationAbortedError } from '../api/errors.js';
import type { Lease } from '../api/lease.js';
import { FakeClient } from '../testing/fake-client.js';
import { lossCauseOf, namesIn, newWorld, turns, until } from '../testing/lock-world.js';
import { pick, randomFrom, runToEnd, seeds, strike } from '../testing/random-faults.js';
import { LeaderLatch, type LeaderLatchOptions } from './leader-latch.js';
import { RecipeStateError, WaitTimeoutError } from './shared/errors.js';

const PATH = '/latches/a';

function setUp(options: LeaderLatchOptions = {}) {
  const world = newWorld();
  const { one, other } = world;
  return {
    ...world,
    ofOne: new LeaderLatch(one, PATH, { id: 'one', ...options }),
    ofOther: new LeaderLatch(other, PATH, { id: 'other', ...options }),
  };
}

function expectNothingLeft(...clients: FakeClient[]): void {
  for (const client of clients) {
    expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
  }
}

describe('a leader latch', () => {
  it('lets the first lead, and the next when that one closes', async () => {
    const { server, one, other, ofOne, ofOther } = setUp();
    const first = await ofOne.waitForLeadership();
    ofOther.start();
    await until(() => namesIn(server, PATH).length === 2);
    expect(namesIn(server, PATH)[0]).toMatch(/^_c_[0-9a-f-]{36}-latch-\d{10}$/);
    expect(server.read(first.path).data?.toString()).toBe('one');
    expect(await ofOther.participants()).toMatchObject([
      { id: 'one', isLeader: true },
      { id: 'other', isLeader: false },
    ]);
    expect((await ofOther.leader())?.id).toBe('one');
    expect([ofOne.hasLeadership, ofOther.hasLeadership]).toEqual([true, false]);
    const next = ofOther.waitForLeadership();
    await ofOne.close();
    expect(first.held).toBe(false);
    expect((await next).fencingToken).toBeGreaterThan(first.fencingToken);
    await ofOther.close();
    await ofOther.close();
    expect(namesIn(server, PATH)).toEqual([]);
    expect(await ofOne.leader()).toBeNull();
    expectNothingLeft(one, other);
  });

  it('tells its listeners of gain and loss; a silent close tells nothing', async () => {
    for (const mode of ['silent', 'notify'] as const) {
      const { ofOne } = setUp();
      const told: (bigint | null)[] = [];
      ofOne.onChange((term) => told.push(term?.fencingToken ?? null));
      const { fencingToken } = await ofOne.waitForLeadership();
      await ofOne.close({ mode });
      expect(told).toEqual(mode === 'silent' ? [fencingToken] : [fencingToken, null]);
    }
  });

  it('can be closed by the listener that is told of the gain', async () => {
    const { server, one, ofOne } = setUp();
    let closed: Promise<void> | null = null;
    ofOne.onChange((term) => {
      if (term !== null) closed = ofOne.close({ mode: 'notify' });
    });
    ofOne.start();
    await until(() => closed !== null);
    await closed;
    expect(namesIn(server, PATH)).toEqual([]);
    expectNothingLeft(one);
  });

  it('closed before it has connected, or while it is taking its place, leaves nothing', async () => {
    for (const pauseTurns of [0, 1, 2, 3, 4, 5, 6]) {
      const { server, surroundings, one, ofOne } = setUp();
      ofOne.start();
      await turns(pauseTurns);
      await ofOne.close();
      await surroundings.settle();
      expect(namesIn(server, PATH)).toEqual([]);
      expectNothingLeft(one);
    }
  });

  it('is over with its client, and by what the server answers', async () => {
    const { one, ofOne, ofOther, other } = setUp();
    const term = await ofOne.waitForLeadership();
    await one.close();
    expect(lossCauseOf(term)).toBe('closed');
    await expect(ofOne.waitForLeadership()).rejects.toThrow(ClientClosedError);
    other.failNext('create', new NoAuthError(PATH));
    await expect(ofOther.waitForLeadership()).rejects.toThrow(NoAuthError);
    expect(ofOther.failure).toBeInstanceOf(NoAuthError);
    await ofOther.close();
    await expect(ofOther.waitForLeadership()).rejects.toThrow(RecipeStateError);
    expectNothingLeft(one, other);
  });

  it('goes on taking part when a wait for it ends', async () => {
    const { surroundings, ofOne, ofOther, other } = setUp();
    await ofOne.waitForLeadership();
    const controller = new AbortController();
    const aborted = ofOther.waitForLeadership({ signal: controller.signal });
    const late = ofOther.waitForLeadership({ timeoutMs: 100 });
    controller.abort();
    await expect(aborted).rejects.toThrow(OperationAbortedError);
    surroundings.advance(100);
    await expect(late).rejects.toThrow(WaitTimeoutError);
    await until(() => other.watchCount === 1);
    await ofOne.close();
    expect((await ofOther.waitForLeadership()).held).toBe(true);
  });
});

describe('leadership as a loop', () => {
  it('gives term after term, and ends with the signal, closed', async () => {
    const { server, one, ofOne } = setUp();
    const controller = new AbortController();
    const tokens: bigint[] = [];
    for await (const term of ofOne.leadership({ signal: controller.signal })) {
      tokens.push(term.fencingToken);
      if (tokens.length < 3) setImmediate(() => one.expire());
      else setImmediate(() => controller.abort());
    }
    expect(tokens).toHaveLength(3);
    expect(namesIn(server, PATH)).toEqual([]);
    expectNothingLeft(one);
  });

  it('gives the leadership up on abort while its body waits', async () => {
    const { server, one, ofOne, ofOther } = setUp();
    const stop = new AbortController();
    const leading = ofOne.leadership({ signal: stop.signal });
    const { value: term } = await leading.next();
    const next = ofOther.waitForLeadership();
    stop.abort();
    expect(term?.held).toBe(false);
    expect((await next).held).toBe(true);
    expect(await leading.next()).toEqual({ done: true, value: undefined });
    await ofOther.close();
    expect(namesIn(server, PATH)).toEqual([]);
    expectNothingLeft(one);
  });

  it('reports at its end that the server refused the deletion', async () => {
    const { one, ofOne } = setUp();
    const stop = new AbortController();
    const leading = ofOne.leadership({ signal: stop.signal });
    await leading.next();
    one.failNext('delete', new NoAuthError(PATH));
    stop.abort();
    await turns(10);
    await expect(leading.next()).rejects.toThrow(NoAuthError);
  });

  it('gives the leadership up when it is left', async () => {
    const { ofOne, ofOther } = setUp();
    const terms: Lease[] = [];
    for await (const term of ofOne.leadership()) {
      terms.push(term);
      break;
    }
    expect(terms[0]?.held).toBe(false);
    expect((await ofOther.waitForLeadership()).held).toBe(true);
  });

  it('ends when somebody else closes the latch, in a term and in a wait for one', async () => {
    const { one, other, ofOne, ofOther } = setUp();
    const leading = ofOne.leadership();
    await leading.next();
    const waiting = ofOther.leadership().next();
    await until(() => other.watchCount > 0);
    const next = leading.next();
    await ofOther.close();
    await ofOne.close();
    const end = { done: true, value: undefined };
    expect([await next, await waiting]).toEqual([end, end]);
    expectNothingLeft(one, other);
  });

  it('ends while it waits for a term', async () => {
    const { server, one, other, ofOne, ofOther } = setUp();
    await ofOne.waitForLeadership();
    const controller = new AbortController();
    const loop = async () => {
      for await (const _ of ofOther.leadership({ signal: controller.signal })) expect.fail();
    };
    const looping = loop();
    await until(() => other.watchCount === 1);
    controller.abort();
    await looping;
    await until(() => namesIn(server, PATH).length === 1);
    await ofOne.close();
    expectNothingLeft(one, other);
  });
});

describe('what happens to connection, session and znode', () => {
  it('AURORA-1840: a lost connection alone ends no term, unless that is asked for', async () => {
    for (const onSuspended of ['hold-until-lost', 'abort'] as const) {
      const { server, one, ofOne } = setUp({ onSuspended });
      const term = await ofOne.waitForLeadership();
      one.loseConnection();
      expect(term.held).toBe(onSuspended === 'hold-until-lost');
      expect(ofOne.hasLeadership).toBe(term.held);
      const later = await ofOne.waitForLeadership();
      expect(later === term).toBe(term.held);
      expect(namesIn(server, PATH)).toHaveLength(1);
    }
  });

  it('CURATOR-644, CURATOR-645: back after a loss, it waits for its own stale znode', async () => {
    const { server, one, ofOne } = setUp();
    const term = await ofOne.waitForLeadership();
    const { sessionId } = term;
    one.loseSession();
    expect(lossCauseOf(term)).toBe('expired');
    await until(() => namesIn(server, PATH).length === 2);
    await turns(50);
    expect(ofOne.hasLeadership).toBe(false);
    server.endSession(sessionId);
    const next = await ofOne.waitForLeadership();
    expect(server.stat(next.path)?.ephemeralOwner).toBe(one.session?.id);
    expect(next.fencingToken).toBeGreaterThan(term.fencingToken);
  });

  it('CURATOR-620, CURATOR-724: its znode deleted, it takes one new place', async () => {
    const { server, one, other, ofOne, ofOther } = setUp();
    const term = await ofOne.waitForLeadership();
    ofOther.start();
    await until(() => other.watchCount === 1);
    await other.delete(term.path);
    await ofOther.waitForLeadership();
    expect(lossCauseOf(term)).toBe('deleted');
    await until(() => namesIn(server, PATH).length === 2);
    // A waiter's znode, deleted, is replaced as well.
    const waiting = namesIn(server, PATH).find((name) => {
      return server.stat(`${PATH}/${name}`)?.ephemeralOwner === one.session?.id;
    });
    await other.delete(`${PATH}/${waiting}`);
    await ofOther.close();
    await ofOne.waitForLeadership();
    expect(namesIn(server, PATH)).toHaveLength(1);
  });

  it('CURATOR-653: the directory deleted, leaders are elected all the same', async () => {
    const { server, one, ofOne } = setUp();
    const term = await ofOne.waitForLeadership();
    server.delete(term.path);
    server.delete(PATH);
    server.delete('/latches');
    await until(() => !term.held);
    expect((await ofOne.waitForLeadership()).held).toBe(true);
    await ofOne.close();
    expectNothingLeft(one);
  });

  it('CURATOR-504: however often it reconnects while it waits, it has one place', async () => {
    const { server, surroundings, one, other, ofOne, ofOther } = setUp();
    await ofOne.waitForLeadership();
    ofOther.start();
    for (let round = 0; round < 10; round++) {
      await turns(round);
      other.loseConnection();
    }
    await surroundings.settle();
    await ofOne.close();
    await ofOther.waitForLeadership();
    expect(namesIn(server, PATH)).toHaveLength(1);
    await ofOther.close();
    expectNothingLeft(one, other);
  });

  it('CURATOR-652, CURATOR-696: closed while it reconnects, it leaves no znode', async () => {
    const { server, surroundings, one, ofOne } = setUp();
    await ofOne.waitForLeadership();
    one.comesBack = false;
    one.loseConnection();
    await ofOne.close();
    one.comeBack();
    await surroundings.settle();
    expect(namesIn(server, PATH)).toEqual([]);
    expectNothingLeft(one);
  });
});

it('a latch waits out a server that is read-only for want of a quorum', async () => {
  const { server, surroundings, one, ofOne } = setUp();
  one.failNext('create', new NotReadOnlyError(PATH), 4);
  const leading = ofOne.waitForLeadership();
  leading.catch(() => {});
  await surroundings.settle();
  expect(ofOne.failure).toBeNull();
  expect((await leading).held).toBe(true);
  one.failNext('delete', new NotReadOnlyError(PATH), 4);
  const closed = ofOne.close();
  await surroundings.settle();
  await closed;
  expect(namesIn(server, PATH)).toEqual([]);
  expectNothingLeft(one);
});

describe('leader latches under random faults', () => {
  const policies = ['hold-until-lost', 'abort'] as const;
  const cases = policies.flatMap((policy) => seeds(12).map((seed) => [policy, seed] as const));
  it.each(cases)('have never two leaders (%s, seed %i)', async (onSuspended, seed) => {
    const random = randomFrom(seed);
    const { server, surroundings } = newWorld();
    const clients = Array.from({ length: 4 }, () => new FakeClient(server, { surroundings }));
    const terms: Lease[] = [];
    const take = async (client: FakeClient) => {
      for (let round = 0; round < 5; round++) {
        const latch = new LeaderLatch(client, PATH, { onSuspended });
        const term = await latch.waitForLeadership();
        // Lost again before we were told of it is as good as not led.
        if (term.held) terms.push(term);
        await turns(Math.floor(random() * 8));
        await latch.close();
      }
    };
    await runToEnd(clients.map(take), {
      surroundings,
      random,
      faultySteps: 400,
      check: () => expect(terms.filter(({ held }) => held).length).toBeLessThanOrEqual(1),
      fault: () => {
        const client = pick(clients, random);
        const kill = pick(namesIn(server, PATH), random);
        if (kill !== undefined && random() < 0.1) server.delete(`${PATH}/${kill}`);
        else if (client !== undefined) strike({ server, client, random });
      },
    });
    const tokens = terms.map(({ fencingToken }) => fencingToken);
    expect(tokens).toEqual([...new Set(tokens)].sort((left, right) => (left < right ? -1 : 1)));
    await surroundings.settle();
    expect(namesIn(server, PATH)).toEqual([]);
    expectNothingLeft(...clients);
    expect(surroundings.timerCount).toBe(0);
  });
});
