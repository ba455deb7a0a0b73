import { NoAuthError, WatcherType } from '@rookery/protocol';
import { describe, expect, it, vi } from 'vitest';
import { ClientClosedError, OptionError } from '../api/errors.js';
import { FakeClient } from '../testing/fake-client.js';
import { namesIn, newWorld, takeAwayNextWatch, turns, until } from '../testing/lock-world.js';
import { pick, randomFrom, runToEnd, seeds, strike } from '../testing/random-faults.js';
import { Group, GroupMember, type GroupMembers } from './group-membership.js';
import { Party, ShallowParty } from './party.js';
import { RecipeStateError } from './shared/errors.js';

const PATH = '/groups/a';

function expectNothingLeft(...clients: FakeClient[]): void {
  for (const client of clients) {
    expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
  }
}

function textOf(members: GroupMembers): Record<string, string | null> {
  const entries = [...members].map(([id, data]) => [id, data?.toString() ?? null] as const);
  return Object.fromEntries(entries.sort());
}

/** Collects what a follower is given. */
function collect<T>(states: AsyncIterable<T>) {
  const given: T[] = [];
  const run = async () => {
    for await (const state of states) given.push(state);
  };
  const ended = run();
  ended.catch(() => {});
  return { given, ended };
}

describe('a group', () => {
  it('lists its members for ever, with what they tell', async () => {
    const { server, one, other } = newWorld();
    const stop = new AbortController();
    const { given, ended } = collect(new Group(other, PATH).follow({ signal: stop.signal }));
    await until(() => given.length === 1);
    const a = new GroupMember(one, PATH, 'a', { data: '1' });
    const b = new GroupMember(other, PATH, 'b');
    await a.join();
    await until(() => given.length === 2);
    await b.join();
    await until(() => given.length === 3);
    await a.setData('2');
    await until(() => given.length === 4);
    await a.close();
    await until(() => given.length === 5);
    expect(given.map(textOf)).toEqual([
      {},
      { a: '1' },
      { a: '1', b: null },
      { a: '2', b: null },
      { b: null },
    ]);
    expect(textOf(await new Group(one, PATH).members())).toEqual({ b: null });
    await b.close();
    stop.abort();
    await ended;
    await turns(5);
    expect(namesIn(server, PATH)).toEqual([]);
    expectNothingLeft(one, other);
  });

  it('of thousands is read by a bounded number of requests at a time', async () => {
    const { server, one } = newWorld();
    const common = { data: null, mode: 'persistent', acl: undefined, session: 0n } as const;
    for (const path of ['/groups', PATH]) server.create({ path, ...common });
    for (let id = 0; id < 2_500; id++) server.create({ path: `${PATH}/${id}`, ...common });
    let inFlight = 0;
    let most = 0;
    const getData = vi.spyOn(one, 'getData').mockImplementation(async (path) => {
      most = Math.max(most, ++inFlight);
      await turns(1);
      inFlight--;
      return server.read(path);
    });
    expect((await new Group(one, PATH).members()).size).toBe(2_500);
    expect(getData).toHaveBeenCalledTimes(2_500);
    expect(most).toBe(1_000);
  });

  it('reads again only what has changed', async () => {
    const { one, other } = newWorld();
    const members = Array.from({ length: 20 }, (_, id) => new GroupMember(one, PATH, String(id)));
    await Promise.all(members.map((member) => member.join()));
    const { given } = collect(new Group(other, PATH).follow());
    await until(() => given.length === 1);
    const before = other.sent.length;
    await members[7]?.setData('x');
    await until(() => given.length === 2);
    expect(other.sent.slice(before)).toEqual([{ op: 'getData', path: `${PATH}/7` }]);
  });

  it('is followed over lost connections and sessions', async () => {
    const { one, other } = newWorld();
    const { given } = collect(new Group(other, PATH).follow());
    await until(() => given.length === 1);
    other.comesBack = false;
    other.loseConnection();
    const a = new GroupMember(one, PATH, 'a');
    await a.join();
    other.comeBack();
    await until(() => given.length === 2);
    other.expire();
    other.comesBack = true;
    await a.close();
    other.comeBack();
    await until(() => given.length === 3);
    expect(given.map(textOf)).toEqual([{}, { a: null }, {}]);
  });

  it('is followed on when somebody takes the watches away', async () => {
    const { one, other } = newWorld();
    const { given } = collect(new Group(one, PATH).follow());
    await until(() => given.length === 1);
    await one.removeWatches(PATH, WatcherType.any);
    await turns(5);
    await new GroupMember(other, PATH, 'a').join();
    await until(() => given.length === 2);
    expect(given.map(textOf)).toEqual([{}, { a: null }]);
  });

  it('is followed on when they are taken away by a reply that comes with that of theirs', async () => {
    const { one, other } = newWorld();
    takeAwayNextWatch(one, PATH);
    const { given } = collect(new Group(one, PATH).follow());
    await until(() => given.length === 1);
    await new GroupMember(other, PATH, 'a').join();
    await until(() => given.length === 2);
    expect(given.map(textOf)).toEqual([{}, { a: null }]);
  });

  it('sees a member go with its session, and come again', async () => {
    const { one, other } = newWorld();
    const { given } = collect(new Group(other, PATH).follow());
    await new GroupMember(one, PATH, 'a').join();
    await until(() => given.length === 2);
    one.comesBack = false;
    one.expire();
    await until(() => given.length === 3);
    one.comeBack();
    await until(() => given.length === 4);
    expect(given.map(textOf)).toEqual([{}, { a: null }, {}, { a: null }]);
  });

  it('is followed until the loop is left, the client closed, or the server refuses', async () => {
    const { one, other } = newWorld();
    for await (const _ of new Group(one, PATH).follow()) break;
    expectNothingLeft(one);
    one.failNext('getChildren', new NoAuthError(PATH));
    await expect(new Group(one, PATH).follow().next()).rejects.toThrow(NoAuthError);
    const { given, ended } = collect(new Group(other, PATH).follow());
    await until(() => given.length === 1);
    await other.close();
    await expect(ended).rejects.toThrow(ClientClosedError);
    await turns(5);
    expectNothingLeft(one, other);
  });
});

describe('a group member', () => {
  it.each(['', 'a/b', '.', '\u0000'])('refuses an id that is no name: %j', (id) => {
    const { one } = newWorld();
    expect(() => new GroupMember(one, PATH, id)).toThrow(OptionError);
  });

  it('sees itself always, also before it is there', async () => {
    const { one } = newWorld();
    const member = new GroupMember(one, PATH, 'me', { data: 'x' });
    expect(textOf(await member.members())).toEqual({ me: 'x' });
    for await (const members of member.follow()) {
      expect(textOf(members)).toEqual({ me: 'x' });
      break;
    }
    await member.join();
    expect(textOf(await member.members())).toEqual({ me: 'x' });
    await member.close();
    await member.close();
  });
});

describe('a party', () => {
  it.each([
    ['Party', Party, /^[0-9a-f]{32}__party__$/],
    ['ShallowParty', ShallowParty, /^[0-9a-f]{32}-anna-maria$/],
  ] as const)("%s has kazoo's names, and lists identifiers", async (_, Kind, name) => {
    const { server, one, other } = newWorld();
    const anna = new Kind(one, PATH, { identifier: 'anna-maria' });
    const bert = new Kind(other, PATH, { identifier: 'bert' });
    await expect(anna.leave()).rejects.toThrow(RecipeStateError);
    const { given } = collect(bert.follow());
    await until(() => given.length === 1);
    await anna.join();
    expect(namesIn(server, PATH)[0]).toMatch(name);
    expect(server.read(`${PATH}/${namesIn(server, PATH)[0]}`).data?.toString()).toBe(
      Kind === Party ? 'anna-maria' : '0',
    );
    await until(() => given.length === 2);
    await bert.join();
    expect(anna.isParticipating).toBe(true);
    expect(await anna.participants()).toEqual(['anna-maria', 'bert']);
    await until(() => given.length === 3);
    await anna.leave();
    await until(() => given.length === 4);
    expect(given).toEqual([[], ['anna-maria'], ['anna-maria', 'bert'], ['bert']]);
    await anna.join();
    expect(await bert.participants()).toHaveLength(2);
  });
});

describe('groups under random faults', () => {
  it.each(seeds(15))('are seen by all as they are in the end (seed %i)', async (seed) => {
    const random = randomFrom(seed);
    const { server, surroundings } = newWorld();
    const clients = Array.from({ length: 3 }, () => new FakeClient(server, { surroundings }));
    const stop = new AbortController();
    const followers = clients.map((client) =>
      collect(new Group(client, PATH).follow({ signal: stop.signal })),
    );
    const kept: GroupMember[] = [];
    const busy = async (client: FakeClient, index: number) => {
      for (let round = 0; round < 5; round++) {
        const member = new GroupMember(client, PATH, `m${index}`, { data: `${round}` });
        await member.join();
        await member.setData(`${round}+`);
        await turns(Math.floor(random() * 10));
        if (round < 4) await member.close();
        else kept.push(member);
      }
    };
    await runToEnd(clients.map(busy), {
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
    for (const { given } of followers) {
      expect(textOf(given.at(-1) ?? new Map())).toEqual({ m0: '4+', m1: '4+', m2: '4+' });
    }
    await Promise.all(kept.map((member) => member.close()));
    stop.abort();
    await Promise.all(followers.map(({ ended }) => ended));
    await surroundings.settle();
    expect(namesIn(server, PATH)).toEqual([]);
    expectNothingLeft(...clients);
  });
});
