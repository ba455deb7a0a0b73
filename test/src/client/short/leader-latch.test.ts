/**
 * Leader latch and election against real members: one leader at a time, somebody always in the end,
 * nothing left, while replies are lost, connections cut, members killed and sessions over.
 */
import { Election, LeaderLatch, LeaseLostError, type Term } from '@rookery/client';
import { expect, test } from 'vitest';
import { until } from '../../harness/wait.js';
import {
  CuttableClient,
  LONG_SESSIONS,
  losingSession,
  useDirectClient,
} from '../cuttable-client.js';
import { namesIn, untilNames } from '../directory.js';
import { HoldersLedger } from '../holders-ledger.js';
import { atEachStep } from '../protocol-steps.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const DEADLINE_MS = 60_000;
const SHORT_SESSION_MS = 3_000;

const ensemble = sharedEnsemble({ settings: { maxClientCnxns: 0, ...LONG_SESSIONS } });

test('a latch leads though the reply to any step is lost, from one znode', async () => {
  const control = await useDirectClient(ensemble());
  const lost = await atEachStep(
    { ensemble: ensemble(), base: '/latch-steps', control },
    async ({ client, path }) => {
      const latch = new LeaderLatch(client, path, { id: 'me' });
      const next = new LeaderLatch(control, path, { id: 'next' });
      const term = await latch.waitForLeadership();
      next.start();
      await untilNames(control, path, 2);
      expect((await latch.leader())?.path).toBe(term.path);
      await latch.close();
      expect((await next.waitForLeadership()).fencingToken).toBeGreaterThan(term.fencingToken);
      await next.close();
    },
  );
  expect(lost).toEqual(
    expect.arrayContaining(['create2', 'createContainer', 'getData', 'getChildren2', 'delete']),
  );
});

test.each(['hold-until-lost', 'abort'] as const)(
  'one latch leads at a time while members die and connections break (%s)',
  async (onSuspended) => {
    const path = `/latches/${onSuspended}`;
    const ledger = HoldersLedger.ofExclusive();
    const clients = await Promise.all(
      Array.from({ length: 4 }, () =>
        CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS }),
      ),
    );
    let isOver = false;
    const working = clients.map(async ({ client }) => {
      while (!isOver) {
        const latch = new LeaderLatch(client, path, { onSuspended });
        ledger.add(await latch.waitForLeadership());
        await latch.close();
      }
    });
    const terms = (count: number) => {
      const goal = ledger.given + count;
      return until(`${count} terms`, DEADLINE_MS, () => ledger.given >= goal || undefined);
    };
    await terms(10);
    const leader = await ensemble().leader();
    await leader.kill();
    await terms(10);
    ensemble().start([leader.id]);
    for (const client of clients) {
      await client.cut();
      await terms(3);
      await client.heal();
    }
    const [first] = clients;
    if (first !== undefined) {
      await first.cut();
      await losingSession(first.client);
      await terms(3);
      await first.heal();
    }
    await ensemble().serving();
    isOver = true;
    await Promise.all(working);
    expect(ledger.violations).toEqual([]);
    const control = await useDirectClient(ensemble());
    await untilNames(control, path, 0);
    for (const { client } of clients) expect(client.watchCount).toBe(0);
  },
);

test('a leader that is cut off is told before the next one leads', async () => {
  const path = '/latches/cut-off';
  const leader = await CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS });
  const other = await useDirectClient(ensemble());
  const latch = new LeaderLatch(leader.client, path);
  const next = new LeaderLatch(other, path);
  const told: boolean[] = [];
  latch.onChange((term) => told.push(term !== null));
  const term = await latch.waitForLeadership();
  next.start();
  await untilNames(other, path, 2);
  await leader.cut();
  expect([term.held, latch.hasLeadership]).toEqual([true, true]);
  await next.waitForLeadership();
  expect([term.held, latch.hasLeadership]).toEqual([false, false]);
  expect(term.signal.reason).toBeInstanceOf(LeaseLostError);
  await leader.heal();
  await untilNames(other, path, 2);
  await next.close();
  await latch.waitForLeadership();
  expect(told).toEqual([true, false, true]);
  await latch.close();
  await untilNames(other, path, 0);
});

test('a latch whose session is ended behind its back, or znode deleted, leads again', async () => {
  const path = '/latches/ended';
  const leader = await CuttableClient.use(ensemble());
  const other = await useDirectClient(ensemble());
  const latch = new LeaderLatch(leader.client, path);
  const first = await latch.waitForLeadership();
  await leader.cut();
  await leader.expireSession();
  await leader.heal();
  await until('the term is over', DEADLINE_MS, () => !first.held || undefined);
  const second = await latch.waitForLeadership();
  await other.delete(second.path);
  await until('the term is over', DEADLINE_MS, () => !second.held || undefined);
  const third = await latch.waitForLeadership();
  expect(third.fencingToken).toBeGreaterThan(second.fencingToken);
  expect(await namesIn(other, path)).toHaveLength(1);
  await latch.close();
});

test('an election gives a term, acknowledged, though the reply to any step is lost', async () => {
  const control = await useDirectClient(ensemble());
  const lost = await atEachStep(
    { ensemble: ensemble(), base: '/election-steps', control },
    async ({ client, path }) => {
      const election = new Election(client, path, { id: 'me' });
      const followed = new Election(control, path).waitForLeader();
      await election.run(async (term) => {
        await term.acknowledge('ready');
        await term.acknowledge('steady');
        expect(await followed).toMatchObject({ id: 'me', token: term.token });
        const seen = await election.waitForLeader();
        expect(seen.acknowledgement?.data?.toString()).toBe('steady');
      });
    },
  );
  expect(lost).toEqual(
    expect.arrayContaining(['create2', 'createContainer', 'getData', 'getChildren2', 'multi']),
  );
});

test('candidates lead one after the other and followers find each of them, while members die', async () => {
  const path = '/elections/terms';
  const ledger = HoldersLedger.ofExclusive();
  const clients = await Promise.all(
    Array.from({ length: 3 }, () =>
      CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS }),
    ),
  );
  const stop = new AbortController();
  const failures: unknown[] = [];
  const candidates = clients.map(async ({ client }) => {
    const election = new Election(client, path);
    for await (const term of election.terms({ signal: stop.signal })) {
      ledger.add(term);
      await lead(term, failures);
    }
  });
  const control = await useDirectClient(ensemble());
  let followed = 0;
  const follower = (async () => {
    while (!stop.signal.aborted) {
      const leader = await new Election(control, path).waitForLeader();
      expect(leader.acknowledgement?.data?.toString()).toBe(String(leader.token));
      followed++;
    }
  })();
  const progress = async (count: number) => {
    const [terms, seen] = [ledger.given + count, followed + count];
    await until(
      `${count} further terms, each followed`,
      DEADLINE_MS,
      () => (ledger.given >= terms && followed >= seen) || undefined,
    );
  };
  await progress(10);
  const leader = await ensemble().leader();
  await leader.kill();
  await progress(10);
  ensemble().start([leader.id]);
  const [first] = clients;
  await first?.cut();
  if (first !== undefined) await losingSession(first.client);
  await progress(5);
  await first?.heal();
  await progress(5);
  await ensemble().serving();
  // The follower ends with a leader that it can see; the candidates go on until then.
  stop.abort();
  await Promise.all(candidates);
  const last = new Election(control, path).run(async (term) => {
    await term.acknowledge(String(term.token));
    await follower;
  });
  await last;
  expect(ledger.violations).toEqual([]);
  expect(failures).toEqual([]);
  await untilNames(control, path, 0);
});

/** Says that it leads, unless the term is over meanwhile. */
async function lead(term: Term, failures: unknown[]): Promise<void> {
  try {
    await term.acknowledge(String(term.token));
    await new Promise((resolve) => setImmediate(resolve));
  } catch (error) {
    if (term.held) failures.push(error);
  }
}
