import { NodeExistsError, NoNodeError } from '@rookery/protocol';
import { describe, expect, it, vi } from 'vitest';
import { OperationAbortedError, OptionError } from '../api/errors.js';
import type { FakeClient } from '../testing/fake-client.js';
import { newClient, newWorld, turns, until } from '../testing/lock-world.js';
import { pick, randomFrom, runToEnd, strike } from '../testing/random-faults.js';
import { RecipeStateError, WaitTimeoutError } from './shared/errors.js';
import type { Decision } from './shared/two-phase-state.js';
import { TransactionSite } from './transaction-site.js';
import { TwoPhaseCommit } from './two-phase-commit.js';

const PATH = '/app/Tx';
const SITES = ['s1', 's2', 's3'];
const KINDS = ['persistent', 'ephemeral'] as const;
const SEEDS = Array.from({ length: 25 }, (_, index) => index + 1);

/** A coordinator and three sites, each with its own client; all sites have joined. */
async function setUp(kind: 'persistent' | 'ephemeral') {
  const world = newWorld();
  const { server, surroundings } = world;
  const coordinator = await TwoPhaseCommit.begin(world.one, PATH, SITES, { kind, payload: 'hi' });
  const clients = SITES.map(() => newClient(server, surroundings));
  const sites = clients.map((client, index) => siteOf(client, SITES[index] ?? ''));
  for (const site of sites) expect((await site.join()).toString()).toBe('hi');
  const all = [world.one, ...clients];
  return { ...world, coordinator, clients, sites, all };
}

function siteOf(client: FakeClient, name: string): TransactionSite {
  return new TransactionSite(client, PATH, name);
}

function expectNothingLeft(clients: readonly FakeClient[]): void {
  for (const client of clients) {
    expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
  }
}

describe.each(KINDS)('a two-phase commit, %s', (kind) => {
  it('commits when all sites vote so, and leaves nothing when all have finished', async () => {
    const { server, coordinator, sites, all } = await setUp(kind);
    const decided = coordinator.decision();
    const outcomes = sites.map((site) => site.outcome());
    await until(() => all.every((client) => client.watchCount > 0));
    for (const site of sites) {
      expect(await site.resolve()).toBeNull();
      await site.vote('commit');
    }
    expect(await decided).toBe('commit');
    expect(await Promise.all(outcomes)).toEqual(['commit', 'commit', 'commit']);
    expect(await coordinator.abort()).toBe('commit');
    const finished = coordinator.finish();
    for (const site of sites) await site.finish();
    await finished;
    expect(server.paths()).toEqual(['/app']);
    expectNothingLeft(all);
  });

  it('finishes where somebody removes the transaction at the same time', async () => {
    const { one, coordinator, sites, clients } = await setUp(kind);
    const [other] = clients;
    for (const site of sites) await site.vote('commit');
    expect(await coordinator.decision()).toBe('commit');
    for (const site of sites) await site.finish();
    await other?.create(`${PATH}/foreign`, null);
    const getChildren = one.getChildren.bind(one);
    vi.spyOn(one, 'getChildren').mockImplementation(async (path, options) => {
      // Not the look for sites that are left, which watches.
      if (options?.watcher === undefined) {
        for (const gone of [`${PATH}/foreign`, PATH]) await other?.delete(gone);
      }
      return await getChildren(path, options);
    });
    await coordinator.finish();
  });

  it('aborts as soon as one site votes so, without the others', async () => {
    const { coordinator, sites, all } = await setUp(kind);
    const decided = coordinator.decision();
    const outcome = sites[0]?.outcome();
    await until(() => all[1] !== undefined && all[1].watchCount > 0);
    await sites[1]?.vote('abort');
    expect([await decided, await outcome]).toEqual(['abort', 'abort']);
    // Whoever comes late cannot change it.
    await sites[0]?.vote('commit');
    await sites[2]?.vote('commit');
    expect(await coordinator.resolve()).toBe('abort');
    expectNothingLeft(all);
  });

  it('stays open at a timeout, until the coordinator aborts', async () => {
    const { surroundings, coordinator, sites, all } = await setUp(kind);
    const timed = expect(coordinator.decision({ timeoutMs: 100 })).rejects.toThrow(
      WaitTimeoutError,
    );
    await sites[0]?.vote('commit');
    await until(() => (all[0]?.watchCount ?? 0) > 3);
    surroundings.advance(100);
    await timed;
    expect(await coordinator.resolve()).toBeNull();
    await expect(coordinator.finish()).rejects.toThrow(RecipeStateError);
    const stop = new AbortController();
    const stopped = expect(sites[0]?.outcome({ signal: stop.signal })).rejects.toThrow(
      OperationAbortedError,
    );
    stop.abort();
    await stopped;
    expect(await coordinator.abort()).toBe('abort');
    expect(await sites[0]?.outcome()).toBe('abort');
    expectNothingLeft(all);
  });

  it('takes each vote once, whatever is lost', async () => {
    const { clients, sites } = await setUp(kind);
    clients[0]?.failNext('setData', 'reply-lost');
    await sites[0]?.vote('commit');
    await sites[0]?.vote('commit');
    await expect(sites[0]?.vote('abort')).rejects.toThrow(RecipeStateError);
    for (const index of [1, 2]) {
      clients[index]?.failNext('setData', 'request-lost');
      await sites[index]?.vote('commit');
    }
    clients[1]?.failNext('multi', 'reply-lost');
    expect(await sites[1]?.resolve()).toBe('commit');
    expect(await sites[2]?.outcome()).toBe('commit');
  });

  it('is begun once, whatever is lost', async () => {
    const { one } = newWorld();
    await one.create('/app');
    one.failNext('multi', 'reply-lost');
    await TwoPhaseCommit.begin(one, PATH, SITES, { kind });
    await expect(TwoPhaseCommit.begin(one, PATH, SITES, { kind })).rejects.toThrow(NodeExistsError);
    for (const sites of [[], ['a', 'a'], ['_a'], ['a/b'], ['.']]) {
      await expect(TwoPhaseCommit.begin(one, '/app/Ty', sites)).rejects.toThrow(OptionError);
    }
  });

  it('is not begun at a znode that is something else', async () => {
    const { server, one } = newWorld();
    for (const path of ['/app', PATH]) {
      server.create({ path, data: 'x', mode: 'persistent', acl: undefined, session: 0n });
    }
    await expect(TwoPhaseCommit.begin(one, PATH, ['a'], { kind })).rejects.toThrow(NodeExistsError);
  });

  it('has only its sites', async () => {
    const { one, other } = newWorld();
    const joining = siteOf(other, 's1').join();
    const stranger = expect(siteOf(other, 'x').join()).rejects.toThrow(RecipeStateError);
    await until(() => other.watchCount > 0);
    await TwoPhaseCommit.begin(one, PATH, SITES, { kind });
    expect(await joining).toEqual(Buffer.alloc(0));
    await stranger;
    await expect(siteOf(other, 'x').vote('commit')).rejects.toThrow(RecipeStateError);
    await expect(new TransactionSite(other, '/none', 's1').outcome()).rejects.toThrow(NoNodeError);
  });
});

describe('a death before the decision', () => {
  it('of a site or the coordinator aborts, if the kind is ephemeral', async () => {
    const ofSite = await setUp('ephemeral');
    const decided = ofSite.coordinator.decision();
    await until(() => ofSite.one.watchCount > 3);
    ofSite.clients[2]?.expire();
    expect(await decided).toBe('abort');
    const ofCoordinator = await setUp('ephemeral');
    const outcome = ofCoordinator.sites[0]?.outcome();
    for (const site of ofCoordinator.sites) await site.vote('commit');
    const following = ofCoordinator.coordinator.decision().catch(() => null);
    ofCoordinator.one.comesBack = false;
    ofCoordinator.one.expire();
    expect(await outcome).toBe('abort');
    ofCoordinator.one.comeBack();
    expect(await following).toBe('abort');
  });

  it('just before the decision is written counts, if the kind is ephemeral', async () => {
    const { server, one, clients, sites, coordinator } = await setUp('ephemeral');
    for (const site of sites) await site.vote('commit');
    one.onSend = ({ op }) => {
      if (op === 'multi') server.endSession(clients[1]?.session?.id ?? 0n);
    };
    expect(await coordinator.decision()).toBe('abort');
    expect(await sites[0]?.outcome()).toBe('abort');
  });

  it('between two waits of the coordinator is seen by the next one', async () => {
    const { surroundings, one, clients, coordinator } = await setUp('ephemeral');
    const timed = expect(coordinator.decision({ timeoutMs: 10 })).rejects.toThrow(WaitTimeoutError);
    await until(() => one.watchCount > 4);
    await turns(5);
    surroundings.advance(10);
    await timed;
    clients[1]?.expire();
    expect(await coordinator.decision()).toBe('abort');
  });

  it('of a site or the coordinator is waited out, if the kind is persistent', async () => {
    const { server, one, clients, sites, coordinator } = await setUp('persistent');
    await sites[0]?.vote('commit');
    const outcome = sites[0]?.outcome();
    one.expire();
    clients[1]?.expire();
    const resumed = await TwoPhaseCommit.resume(one, PATH);
    expect(resumed.sites).toEqual(SITES);
    const decided = resumed.decision();
    for (const index of [1, 2]) await sites[index]?.vote('commit');
    expect([await decided, await outcome]).toEqual(['commit', 'commit']);
    for (const site of sites) await site.finish();
    await coordinator.finish();
    await sites[0]?.finish();
    expect(server.paths()).toEqual(['/app']);
  });
});

describe('a site that is started again within the timeout of its session', () => {
  it('waits for the end of that session, which aborts', async () => {
    const { server, surroundings, clients, coordinator, one } = await setUp('ephemeral');
    const decided = coordinator.decision();
    await until(() => one.watchCount > 3);
    const restarted = newClient(server, surroundings);
    const joined = siteOf(restarted, 's1').join();
    await until(() => restarted.watchCount > 0);
    clients[0]?.expire();
    expect((await joined).toString()).toBe('hi');
    expect(await decided).toBe('abort');
    expect(await siteOf(restarted, 's1').outcome()).toBe('abort');
    expectNothingLeft([restarted]);
  });

  it('waits no longer than it was told', async () => {
    const { server, surroundings } = await setUp('ephemeral');
    const restarted = newClient(server, surroundings);
    const timed = expect(siteOf(restarted, 's1').join({ timeoutMs: 100 })).rejects.toThrow(
      WaitTimeoutError,
    );
    await until(() => restarted.watchCount > 0);
    await turns(5);
    surroundings.advance(100);
    await timed;
    expectNothingLeft([restarted]);
  });

  it('takes part at once if the kind is persistent', async () => {
    const { server, surroundings } = await setUp('persistent');
    const restarted = newClient(server, surroundings);
    expect((await siteOf(restarted, 's1').join()).toString()).toBe('hi');
  });
});

describe('a two-phase commit under random faults', () => {
  it.each(SEEDS)('has one outcome, commit only if all voted so (seed %i)', async (seed) => {
    const random = randomFrom(seed);
    const kind = pick(KINDS, random) ?? 'persistent';
    const { server, surroundings, one, clients, sites, coordinator, all } = await setUp(kind);
    const votes = SITES.map((): Decision => (random() < 0.15 ? 'abort' : 'commit'));
    const outcomes: Decision[] = [];
    const parts = sites.map(async (site, index) => {
      const vote = votes[index] ?? 'abort';
      await turns(Math.floor(random() * 30));
      try {
        await site.vote(vote);
      } catch (error) {
        // Its session was lost: the ephemeral kind takes it for dead.
        if (!(error instanceof RecipeStateError) || kind === 'persistent') throw error;
      }
      outcomes.push(await site.outcome());
      await site.finish();
    });
    const leading = (async () => {
      outcomes.push(await coordinator.decision());
      await coordinator.finish();
    })();
    // A site of the ephemeral kind that died may come too late to ask.
    const tolerant = parts.map((part) =>
      part.catch((error: unknown) => {
        if (!(error instanceof NoNodeError) || kind === 'persistent') throw error;
      }),
    );
    await runToEnd([leading, ...tolerant], {
      surroundings,
      random,
      faultySteps: 150,
      fault: () => {
        const client = pick([one, ...clients], random);
        if (client !== undefined) strike({ server, client, random });
      },
      check: () => {},
    });
    await surroundings.settle();
    expect(new Set(outcomes).size, `${outcomes}`).toBe(1);
    if (outcomes[0] === 'commit') expect(votes).toEqual(['commit', 'commit', 'commit']);
    if (kind === 'persistent') {
      const isAgreed = votes.every((vote) => vote === 'commit');
      expect(outcomes[0]).toBe(isAgreed ? 'commit' : 'abort');
    }
    expect(server.paths()).toEqual(['/app']);
    expectNothingLeft(all);
    expect(surroundings.timerCount).toBe(0);
  });
});
