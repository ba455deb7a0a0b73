import { NoAuthError, SessionExpiredError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ClientClosedError, LeaseReleasedError, OptionError } from '../api/errors.js';
import { FakeClient } from '../testing/fake-client.js';
import { namesIn, newWorld, turns, until } from '../testing/lock-world.js';
import { pick, randomFrom, runToEnd, seeds, strike } from '../testing/random-faults.js';
import {
  everyNth,
  type Partition,
  SetPartitioner,
  type SetPartitionerOptions,
} from './set-partitioner.js';

const PATH = '/work';
const SET = ['a', 'b', 'c', 'd', 'e'];
const SETTLE_MS = 1_000;

function setUp(count: number, options: Partial<SetPartitionerOptions> = {}) {
  const { server, surroundings } = newWorld();
  const clients = Array.from({ length: count }, () => new FakeClient(server, { surroundings }));
  const members = clients.map((client, index) => {
    const given = { set: SET, identifier: `m${index}`, settleMs: SETTLE_MS, ...options };
    return member(client, given);
  });
  return { server, surroundings, clients, members };
}

/** A member that takes what it is given and keeps it as long as it may. */
function member(client: FakeClient, options: SetPartitionerOptions) {
  const partitioner = new SetPartitioner(client, PATH, options);
  const stop = new AbortController();
  const given: Partition[] = [];
  const run = async () => {
    for await (const partition of partitioner.partitions({ signal: stop.signal })) {
      given.push(partition);
    }
  };
  return {
    partitioner,
    stop,
    given,
    start: () => {
      const ended = run();
      ended.catch(() => {});
      return ended;
    },
    items: () => given.at(-1)?.items ?? [],
  };
}

function expectNothingLeft(clients: readonly FakeClient[]): void {
  for (const client of clients) {
    expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
  }
}

const left = (server: Parameters<typeof namesIn>[0]) => [
  ...namesIn(server, `${PATH}/party`),
  ...SET.flatMap((item) => namesIn(server, `${PATH}/locks/${item}`)),
];

describe('a set partitioner', () => {
  it('deals the set out to all, and anew when one comes or goes', async () => {
    const options = { onSessionLost: 'fail' } as const;
    const { server, surroundings, clients, members } = setUp(2, options);
    const [one, other] = members;
    if (one === undefined || other === undefined) throw new Error('two were made');
    const ended = one.start();
    await until(() => namesIn(server, `${PATH}/party`).length === 1);
    expect(namesIn(server, `${PATH}/party`)[0]).toMatch(/^[0-9a-f]{32}-m0$/);
    await turns(30);
    expect([one.given.length, one.partitioner.state]).toEqual([0, 'allocating']);
    surroundings.advance(SETTLE_MS);
    await until(() => one.given.length === 1);
    expect([one.items(), one.partitioner.state]).toEqual([SET, 'acquired']);
    expect(namesIn(server, `${PATH}/locks/a`)[0]).toMatch(/__lock__\d{10}$/);

    other.start();
    await until(() => one.given[0]?.changed.aborted === true);
    await until(() => one.given[0]?.signal.aborted === true);
    expect(one.given[0]?.signal.reason).toBeInstanceOf(LeaseReleasedError);
    await turns(20);
    surroundings.advance(SETTLE_MS);
    await until(() => one.given.length === 2 && other.given.length === 1);
    expect([one.items(), other.items()]).toEqual([
      ['a', 'c', 'e'],
      ['b', 'd'],
    ]);
    expect(other.given[0]?.members).toEqual(['m0', 'm1']);

    clients[1]?.expire();
    await until(() => one.given[1]?.signal.aborted === true);
    await turns(20);
    surroundings.advance(SETTLE_MS);
    await until(() => one.given.length === 3);
    expect(one.items()).toEqual(SET);
    one.stop.abort();
    await ended;
    await turns(10);
    expect(left(server)).toEqual([]);
    expect(one.partitioner.state).toBe('failure');
    expectNothingLeft(clients);
    expect(surroundings.timerCount).toBe(0);
  });

  it('divides anew in the session that follows a lost one', async () => {
    const { surroundings, clients, members } = setUp(1);
    const [client] = clients;
    const [one] = members;
    if (client === undefined || one === undefined) throw new Error('one was made');
    const ended = one.start();
    for (let session = 1; session <= 2; session++) {
      await turns(30);
      surroundings.advance(SETTLE_MS);
      await until(() => one.given.length === session);
      expect(one.given.filter(({ signal }) => !signal.aborted)).toHaveLength(1);
      if (session === 1) client.expire();
    }
    one.stop.abort();
    await ended;
  });

  it.each([0, 1])(
    'comes back when its znode in the party is deleted %i times more',
    async (more) => {
      const { server, surroundings, members } = setUp(2);
      const [one, other] = members;
      if (one === undefined || other === undefined) throw new Error('two were made');
      const ended = one.start();
      other.start();
      await turns(30);
      surroundings.advance(SETTLE_MS);
      await until(() => one.given.length === 1 && other.given.length === 1);
      const nameOfOne = () => namesIn(server, `${PATH}/party`).find((name) => name.endsWith('-m0'));
      for (let count = 0; count <= more; count++) {
        server.delete(`${PATH}/party/${nameOfOne()}`);
        await until(() => nameOfOne() !== undefined);
        await turns(30);
      }
      const before = one.given.length;
      surroundings.advance(SETTLE_MS);
      await until(() => one.given.length > before && other.given.at(-1)?.members.length === 2);
      expect([one.items(), other.items()]).toEqual([
        ['a', 'c', 'e'],
        ['b', 'd'],
      ]);
      one.stop.abort();
      other.stop.abort();
      await ended;
      await turns(10);
      expect(left(server)).toEqual([]);
    },
  );

  it.each([{ identifier: 'a/b' }, { identifier: '\u0000' }, { set: ['a/b'] }, { set: [''] }])(
    'refuses what cannot be a name: %j',
    (options) => {
      const { clients } = setUp(1);
      const [client] = clients;
      if (client === undefined) throw new Error('one was made');
      expect(() => new SetPartitioner(client, PATH, { set: SET, ...options })).toThrow(OptionError);
    },
  );

  it('has acquired nothing once its session is lost, while it waits for the next', async () => {
    const { surroundings, clients, members } = setUp(1);
    const [client] = clients;
    const [one] = members;
    if (client === undefined || one === undefined) throw new Error('one was made');
    one.start();
    await turns(30);
    surroundings.advance(SETTLE_MS);
    await until(() => one.partitioner.state === 'acquired');
    client.comesBack = false;
    const told: string[] = [];
    const stop = client.onState(({ state }) => {
      if (state === 'lost') told.push(one.partitioner.state);
    });
    client.loseSession();
    await turns(30);
    expect([told, one.partitioner.state]).toEqual([['allocating'], 'allocating']);
    stop();
    one.stop.abort();
    await until(() => one.partitioner.state === 'failure');
    expectNothingLeft(clients);
  });

  it('leaves a partition to the body of the loop until it is done', async () => {
    const { server, surroundings, clients, members } = setUp(2);
    const [client] = clients;
    const other = members[1];
    if (client === undefined || other === undefined) throw new Error('two were made');
    const options = { set: SET, identifier: 'slow', settleMs: SETTLE_MS };
    const slow = new SetPartitioner(client, PATH, options);
    const partitions = slow.partitions();
    const first = partitions.next();
    await until(() => namesIn(server, `${PATH}/party`).length === 1);
    await turns(10);
    surroundings.advance(SETTLE_MS);
    const { value: partition } = await first;
    if (partition === undefined) throw new Error('no partition');
    other.start();
    await until(() => partition.changed.aborted);
    expect(slow.state).toBe('release');
    await turns(10);
    surroundings.advance(SETTLE_MS);
    await turns(50);
    expect([partition.signal.aborted, other.given.length]).toEqual([false, 0]);
    await partitions.return();
    expect(partition.signal.aborted).toBe(true);
    await turns(20);
    surroundings.advance(SETTLE_MS);
    // It may have got first what it had been waiting for.
    await until(() => other.items().length === SET.length);
  });

  it('releases its partition and leaves the party on abort while the body waits', async () => {
    const { server, surroundings, clients } = setUp(1);
    const [client] = clients;
    if (client === undefined) throw new Error('one was made');
    const partitioner = new SetPartitioner(client, PATH, { set: SET, settleMs: SETTLE_MS });
    const stop = new AbortController();
    const partitions = partitioner.partitions({ signal: stop.signal });
    const first = partitions.next();
    await until(() => namesIn(server, `${PATH}/party`).length === 1);
    await turns(10);
    surroundings.advance(SETTLE_MS);
    const { value: partition } = await first;
    expect(left(server)).toHaveLength(1 + SET.length);
    stop.abort();
    expect(partition?.signal.reason).toBeInstanceOf(LeaseReleasedError);
    await until(() => left(server).length === 0);
    expect(client.sentCount('delete')).toBe(1 + SET.length);
    expect(await partitions.next()).toEqual({ done: true, value: undefined });
    expect(partitioner.state).toBe('failure');
    await turns(10);
    expectNothingLeft(clients);
    expect(client.sentCount('delete')).toBe(1 + SET.length);
  });

  it('waits for a quiet time after each change of the party', async () => {
    const { server, surroundings, clients, members } = setUp(2);
    members[0]?.start();
    await until(() => namesIn(server, `${PATH}/party`).length === 1);
    await turns(10);
    surroundings.advance(SETTLE_MS - 1);
    members[1]?.start();
    await until(() => namesIn(server, `${PATH}/party`).length === 2);
    await turns(20);
    surroundings.advance(SETTLE_MS - 1);
    await turns(20);
    expect(members.map(({ given }) => given.length)).toEqual([0, 0]);
    surroundings.advance(1);
    await until(() => members.every(({ given }) => given.length === 1));
    for (const { stop } of members) stop.abort();
    await turns(20);
    expect(left(server)).toEqual([]);
    expectNothingLeft(clients);
  });

  it('fails with its session where that is asked for, with its client, and by what the server answers', async () => {
    for (const [end, error] of [
      ['session', SessionExpiredError],
      ['client', ClientClosedError],
      ['refusal', NoAuthError],
    ] as const) {
      const options = { onSessionLost: 'fail' } as const;
      const { server, surroundings, clients, members } = setUp(1, options);
      const [client] = clients;
      const [only] = members;
      if (client === undefined || only === undefined) throw new Error('one was made');
      if (end === 'refusal') client.failNext('create', new NoAuthError(PATH));
      const ended = only.start();
      if (end !== 'refusal') {
        await until(() => namesIn(server, `${PATH}/party`).length === 1);
        await turns(10);
        surroundings.advance(SETTLE_MS);
        await until(() => only.given.length === 1);
      }
      if (end === 'session') client.expire();
      else if (end === 'client') await client.close();
      await expect(ended).rejects.toThrow(error);
      expect(only.partitioner.state).toBe('failure');
      await turns(10);
      expect(left(server)).toEqual([]);
      expectNothingLeft(clients);
    }
  });
});

it("every item is somebody's, and only once", () => {
  for (let count = 1; count < 8; count++) {
    const names = Array.from({ length: count }, (_, index) => `m${index}`);
    const dealt = names.flatMap((name) => everyNth(name, names, SET));
    expect(dealt.sort()).toEqual(SET);
  }
});

describe('set partitioners under random faults', () => {
  it.each(seeds(10))(
    'never give an item twice, and in the end all once (seed %i)',
    async (seed) => {
      const random = randomFrom(seed);
      const options = { settleMs: 40 } as const;
      const { server, surroundings, clients, members } = setUp(3, options);
      const ended = members.map(({ start }) => start());
      const held = () =>
        members.flatMap(({ given }) => given.filter(({ signal }) => !signal.aborted));
      const holdersOf = (item: string) => held().filter(({ items }) => items.includes(item)).length;
      let steps = 0;
      const work = async () => {
        while (steps < 400 || SET.some((item) => holdersOf(item) !== 1)) {
          steps++;
          await turns(1);
        }
      };
      await runToEnd([work()], {
        surroundings,
        random,
        faultySteps: 400,
        check: () => expect(SET.filter((item) => holdersOf(item) > 1)).toEqual([]),
        fault: () => {
          const client = pick(clients, random);
          if (client !== undefined) strike({ server, client, random });
        },
      });
      for (const { stop } of members) stop.abort();
      await surroundings.settle();
      await Promise.all(ended);
      await surroundings.settle();
      expect(left(server)).toEqual([]);
      expectNothingLeft(clients);
    },
  );
});
