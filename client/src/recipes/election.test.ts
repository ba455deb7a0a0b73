import { NoAuthError, NotReadOnlyError, SessionExpiredError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ClientClosedError, LeaseReleasedError, OperationAbortedError } from '../api/errors.js';
import { FakeClient } from '../testing/fake-client.js';
import { lossCauseOf, namesIn, newWorld, turns, until } from '../testing/lock-world.js';
import { pick, randomFrom, runToEnd, seeds, strike } from '../testing/random-faults.js';
import { Election, type Term } from './election.js';
import { WaitTimeoutError } from './shared/errors.js';

const PATH = '/elections/a';

function setUp() {
  const world = newWorld();
  const { one, other } = world;
  return {
    ...world,
    ofOne: new Election(one, PATH, { id: 'one' }),
    ofOther: new Election(other, PATH, { id: 'other' }),
  };
}

async function firstTerm(election: Election): Promise<Term> {
  const { value } = await election.terms().next();
  if (value === undefined) throw new Error('no term');
  return value;
}

function expectNothingLeft(...clients: FakeClient[]): void {
  for (const client of clients) {
    expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
  }
}

describe('an election', () => {
  it('gives terms one after the other, with tokens that grow', async () => {
    const { server, one, other, ofOne, ofOther } = setUp();
    const led: string[] = [];
    const tokens: bigint[] = [];
    const candidate = async (election: Election) => {
      let terms = 0;
      for await (const term of election.terms()) {
        led.push(election.id);
        tokens.push(term.token);
        expect(namesIn(server, PATH)[0]).toMatch(/^[0-9a-f-]{36}-n_\d{10}$/);
        await turns(10);
        if (++terms === 3) break;
      }
    };
    await Promise.all([candidate(ofOne), candidate(ofOther)]);
    expect(led).toEqual(['one', 'other', 'one', 'other', 'one', 'other']);
    expect(tokens).toEqual([...tokens].sort((left, right) => (left < right ? -1 : 1)));
    expect(namesIn(server, PATH)).toEqual([]);
    expectNothingLeft(one, other);
  });

  it('ends with the signal, in a term and in a wait for one', async () => {
    const { server, one, other, ofOne, ofOther } = setUp();
    const controller = new AbortController();
    const candidate = async (election: Election) => {
      for await (const term of election.terms({ signal: controller.signal })) {
        await until(() => !term.held);
        expect(term.signal.reason).toBeInstanceOf(LeaseReleasedError);
      }
    };
    const both = [candidate(ofOne), candidate(ofOther)];
    await until(() => one.watchCount + other.watchCount === 2);
    controller.abort();
    await Promise.all(both);
    await turns(10);
    expect(namesIn(server, PATH)).toEqual([]);
    expectNothingLeft(one, other);
  });

  it('leaves no term behind when the signal is aborted just after the election', async () => {
    // The abort comes so many microtasks after the last reading that the term needs.
    for (let microtasks = 0; microtasks < 40; microtasks++) {
      const { server, one, ofOne } = setUp();
      const stop = new AbortController();
      const abortSoon = async () => {
        for (let task = 0; task < microtasks; task++) await null;
        stop.abort();
      };
      const read = one.getData.bind(one);
      one.getData = async (...given) => {
        const node = await read(...given);
        void abortSoon();
        return node;
      };
      await ofOne.terms({ signal: stop.signal }).next();
      await turns(10);
      expect([microtasks, namesIn(server, PATH)]).toEqual([microtasks, []]);
      expectNothingLeft(one);
    }
  });

  it('goes on in the next session after a term was lost', async () => {
    const { one, ofOne } = setUp();
    const causes: string[] = [];
    for await (const term of ofOne.terms()) {
      if (causes.length === 2) break;
      one.expire();
      causes.push(lossCauseOf(term));
    }
    expect(causes).toEqual(['expired', 'expired']);
  });

  it('runs a function for one term', async () => {
    const { server, ofOne } = setUp();
    expect(await ofOne.run((term) => term.held)).toBe(true);
    await expect(ofOne.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(namesIn(server, PATH)).toEqual([]);
  });

  it("gives the function's error though the server refuses the release", async () => {
    const { one } = newWorld();
    const run = new Election(one, PATH).run(() => {
      one.failNext('delete', new NoAuthError(PATH));
      throw new Error('mine');
    });
    await expect(run).rejects.toThrow('mine');
  });

  it('tells the loop, and nobody else, that the server refuses the release', async () => {
    const { one } = newWorld();
    const stop = new AbortController();
    const terms = new Election(one, PATH).terms({ signal: stop.signal });
    await terms.next();
    one.failNext('delete', new NoAuthError(PATH));
    stop.abort();
    await turns(5);
    await expect(terms.next()).rejects.toThrow(NoAuthError);
  });

  it("lets a term's holder write only while the term lasts", async () => {
    const { server, other, ofOne } = setUp();
    await other.create('/fenced', '0');
    const term = await firstTerm(ofOne);
    const { guards = [] } = term;
    const checks = guards.map((guard) => ({ kind: 'check' as const, ...guard }));
    const write = { kind: 'setData' as const, path: '/fenced', data: '1' };
    await other.multi([...checks, write]);
    await term.release();
    await expect(other.multi([...checks, { ...write, data: '2' }])).rejects.toThrow();
    expect(server.read('/fenced').data?.toString()).toBe('1');
  });

  it('throws when the client is closed', async () => {
    const { one, ofOne } = setUp();
    await one.close();
    await expect(ofOne.terms().next()).rejects.toThrow(ClientClosedError);
  });
});

it('an election waits out a server that is read-only for want of a quorum', async () => {
  const { server, surroundings, one, ofOne } = setUp();
  one.failNext('create', new NotReadOnlyError(PATH), 4);
  const ran = ofOne.run(async (term) => {
    one.failNext('multi', new NotReadOnlyError(PATH), 4);
    await term.acknowledge();
    one.failNext('delete', new NotReadOnlyError(PATH), 4);
    return 'led';
  });
  await surroundings.settle();
  expect(await ran).toBe('led');
  await surroundings.settle();
  expect(namesIn(server, PATH)).toEqual([]);
});

describe('the acknowledgement', () => {
  it('is what followers wait for, from before there is any candidate', async () => {
    const { one, other, ofOne, ofOther } = setUp();
    const followed = ofOther.waitForLeader();
    await turns(10);
    expect(await ofOther.leader()).toBeNull();
    const term = await firstTerm(ofOne);
    await turns(20);
    expect(await ofOther.leader()).toMatchObject({ id: 'one', acknowledgement: null });
    await term.acknowledge('host:80');
    const { id, token, acknowledgement } = await followed;
    expect([id, token]).toEqual(['one', term.token]);
    expect(acknowledgement?.data?.toString()).toBe('host:80');
    await term.acknowledge('host:81');
    expect((await ofOther.waitForLeader()).acknowledgement?.data?.toString()).toBe('host:81');
    await term.release();
    expect(await ofOther.leader()).toBeNull();
    expectNothingLeft(one, other);
  });

  it('of a leader that goes is not taken for the next one', async () => {
    const { server, ofOne, ofOther, surroundings } = setUp();
    const follower = new FakeClient(server, { surroundings });
    const term = await firstTerm(ofOne);
    await term.acknowledge();
    const next = firstTerm(ofOther);
    await until(() => namesIn(server, PATH).length === 3);
    await term.release();
    const second = await next;
    const followed = new Election(follower, PATH).waitForLeader();
    await turns(20);
    await second.acknowledge('second');
    expect((await followed).token).toBe(second.token);
    await expect(term.acknowledge()).rejects.toThrow(LeaseReleasedError);
    await second.release();
    expect(namesIn(server, PATH)).toEqual([]);
    expectNothingLeft(follower);
  });

  it('goes with the term, also if the candidate was deleted or the connection is away', async () => {
    for (const end of ['deleted', 'away', 'expired'] as const) {
      const { server, one, ofOne } = setUp();
      const term = await firstTerm(ofOne);
      await term.acknowledge();
      if (end === 'deleted') server.delete(term.path);
      else if (end === 'expired') one.expire();
      else {
        one.comesBack = false;
        one.loseConnection();
        await term.release();
        one.comeBack();
      }
      await turns(50);
      expect(namesIn(server, PATH)).toEqual([]);
    }
  });

  it('is made though replies are lost, and never once the term is over', async () => {
    for (const fault of ['reply-lost', 'request-lost'] as const) {
      const { server, surroundings, one, ofOne } = setUp();
      const term = await firstTerm(ofOne);
      one.failNext('multi', fault);
      const acknowledged = term.acknowledge('x');
      await surroundings.settle();
      await acknowledged;
      expect(server.read(`${term.path}-ack`).data?.toString()).toBe('x');
      one.onSend = ({ op }) => {
        if (op === 'multi') server.delete(term.path);
      };
      server.delete(`${term.path}-ack`);
      await expect(term.acknowledge()).rejects.toThrow();
      expect(lossCauseOf(term)).toBe('deleted');
      await turns(20);
      expect(namesIn(server, PATH)).toEqual([]);
    }
  });

  it('is waited for until the time is up, the signal, the session or the client ends it', async () => {
    const { surroundings, one, ofOne, ofOther, other } = setUp();
    await firstTerm(ofOne);
    const controller = new AbortController();
    const waits = [
      ofOther.waitForLeader({ timeoutMs: 100 }),
      ofOther.waitForLeader({ signal: controller.signal }),
      ofOther.waitForLeader(),
    ];
    for (const wait of waits) wait.catch(() => {});
    await until(() => other.watchCount === 6);
    surroundings.advance(100);
    await expect(waits[0]).rejects.toThrow(WaitTimeoutError);
    controller.abort();
    await expect(waits[1]).rejects.toThrow(OperationAbortedError);
    other.expire();
    await expect(waits[2]).rejects.toThrow(SessionExpiredError);
    expectNothingLeft(other);
    await until(() => other.state === 'connected');
    const last = ofOther.waitForLeader({ onSessionLost: 'rejoin' });
    await until(() => other.watchCount === 2);
    await other.close();
    await expect(last).rejects.toThrow(ClientClosedError);
    expectNothingLeft(other);
    await one.close();
  });
});

describe('an election under random faults', () => {
  it.each(seeds(20))('has one leader at a time, and followers find it (seed %i)', async (seed) => {
    const random = randomFrom(seed);
    const { server, surroundings } = newWorld();
    const clients = Array.from({ length: 4 }, () => new FakeClient(server, { surroundings }));
    const terms: Term[] = [];
    let led = 0;
    const candidate = async (client: FakeClient) => {
      for await (const term of new Election(client, PATH, { id: 'c' }).terms()) {
        terms.push(term);
        try {
          await term.acknowledge(String(term.token));
          await turns(Math.floor(random() * 6));
          led++;
        } catch {
          expect(term.held).toBe(false);
        }
        if (led >= 20) break;
      }
    };
    const follower = async (client: FakeClient) => {
      while (led < 15) {
        const election = new Election(client, PATH);
        const leader = await election.waitForLeader({ onSessionLost: 'rejoin' });
        expect(leader.acknowledgement?.data?.toString()).toBe(String(leader.token));
        await turns(3);
      }
    };
    const tasks = clients.map((client, index) => (index === 3 ? follower : candidate)(client));
    await runToEnd(tasks, {
      surroundings,
      random,
      faultySteps: 400,
      check: () => expect(terms.filter(({ held }) => held).length).toBeLessThanOrEqual(1),
      fault: () => {
        const client = pick(clients, random);
        if (client !== undefined) strike({ server, client, random });
      },
    });
    await surroundings.settle();
    expect(namesIn(server, PATH)).toEqual([]);
    expectNothingLeft(...clients);
  });
});
