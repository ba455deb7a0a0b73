/**
 * Groups, parties and set partitioners against real members: everybody is seen by all in the end,
 * no item is in two partitions, while replies are lost, connections cut, members killed and
 * sessions over.
 */
import {
  Group,
  GroupMember,
  type GroupMembers,
  type Partition,
  Party,
  SetPartitioner,
  ShallowParty,
} from '@rookery/client';
import { expect, test } from 'vitest';
import { until } from '../../harness/wait.js';
import {
  CuttableClient,
  LONG_SESSIONS,
  losingSession,
  useDirectClient,
} from '../cuttable-client.js';
import { atEachStep, untilEmpty } from '../protocol-steps.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const DEADLINE_MS = 60_000;
const SHORT_SESSION_MS = 3_000;
const SET = ['a', 'b', 'c', 'd', 'e'];

const ensemble = sharedEnsemble({ settings: { maxClientCnxns: 0, ...LONG_SESSIONS } });

/** The last state that a follower was given, as text. */
function lastOf(states: AsyncIterable<GroupMembers>) {
  let last = '';
  const run = async () => {
    for await (const members of states) {
      last = [...members]
        .map(([id, data]) => `${id}=${data?.toString()}`)
        .sort()
        .join(' ');
    }
  };
  const ended = run();
  const is = (expected: string) =>
    until(`the group is ${expected}`, DEADLINE_MS, () => last === expected || undefined);
  return { ended, is };
}

test('a group is joined, followed and left though the reply to any step is lost', async () => {
  const control = await useDirectClient(ensemble());
  const lost = await atEachStep(
    { ensemble: ensemble(), base: '/group-steps', control },
    async ({ client, path }) => {
      const stop = new AbortController();
      const follower = lastOf(new Group(client, path).follow({ signal: stop.signal }));
      const [one, other] = [
        new GroupMember(client, path, 'one', { data: '1' }),
        new GroupMember(control, path, 'other', { data: '2' }),
      ];
      await Promise.all([one.join(), other.join()]);
      await follower.is('one=1 other=2');
      await other.setData('3');
      await follower.is('one=1 other=3');
      const party = new Party(client, `${path}/party`, { identifier: 'anna' });
      const shallow = new ShallowParty(client, `${path}/party-2`, { identifier: 'anna' });
      for (const joined of [party, shallow]) {
        await joined.join();
        expect(await joined.participants()).toEqual(['anna']);
        await joined.leave();
      }
      await Promise.all([one.close(), other.close()]);
      stop.abort();
      await follower.ended;
      await until('no watch is left', DEADLINE_MS, () => client.watchCount === 0 || undefined);
    },
  );
  expect(lost).toEqual(
    expect.arrayContaining([
      ...['create2', 'createContainer', 'delete', 'exists'],
      ...['getData', 'getChildren2', 'addWatch'],
    ]),
  );
});

test('a group is followed for ever: over cuts, sessions and the death of a member', async () => {
  const path = '/groups/for-ever';
  const one = await CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS });
  const other = await CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS });
  const stop = new AbortController();
  const follower = lastOf(new Group(other.client, path).follow({ signal: stop.signal }));
  const member = new GroupMember(one.client, path, 'one', { data: '1' });
  const own = lastOf(member.follow({ signal: stop.signal }));
  await own.is('one=1');
  await member.join();
  await follower.is('one=1');
  await other.cut();
  await member.setData('2');
  await other.heal();
  await follower.is('one=2');
  await one.cut();
  await losingSession(one.client);
  await follower.is('');
  await own.is('one=2');
  await one.heal();
  await follower.is('one=2');
  await other.cut();
  await losingSession(other.client);
  await member.setData('3');
  await other.heal();
  await follower.is('one=3');
  const leader = await ensemble().leader();
  await leader.kill();
  await member.setData('4');
  await follower.is('one=4');
  ensemble().start([leader.id]);
  await ensemble().serving();
  await member.close();
  await follower.is('');
  stop.abort();
  await Promise.all([follower.ended, own.ended]);
  for (const { client } of [one, other]) {
    await until('no watch is left', DEADLINE_MS, () => client.watchCount === 0 || undefined);
  }
});

test('a set is dealt out to all, never an item twice, whoever comes, goes or is cut off', async () => {
  const path = '/partitions/set';
  const clients = await Promise.all(
    Array.from({ length: 3 }, () =>
      CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS }),
    ),
  );
  const given: Partition[] = [];
  const violations: string[] = [];
  const held = () => given.filter(({ signal }) => !signal.aborted);
  const stop = new AbortController();
  const options = { set: SET, settleMs: 300, onSessionLost: 'rejoin' } as const;
  const members = clients.map(async ({ client }) => {
    const partitioner = new SetPartitioner(client, path, options);
    for await (const partition of partitioner.partitions({ signal: stop.signal })) {
      given.push(partition);
      const items = held().flatMap((one) => one.items);
      if (new Set(items).size < items.length) violations.push(items.join(' '));
    }
  });
  const isDealtTo = (count: number) =>
    until(`dealt out to ${count}`, DEADLINE_MS, () => {
      const partitions = held();
      const items = partitions.flatMap((one) => one.items);
      return (partitions.length === count && items.length === SET.length) || undefined;
    });
  await isDealtTo(3);
  const [first] = clients;
  if (first === undefined) throw new Error('three were made');
  await first.cut();
  await losingSession(first.client);
  await isDealtTo(2);
  await first.heal();
  await isDealtTo(3);
  const leader = await ensemble().leader();
  await leader.kill();
  await isDealtTo(3);
  ensemble().start([leader.id]);
  await ensemble().serving();
  stop.abort();
  await Promise.all(members);
  expect(violations).toEqual([]);
  const control = await useDirectClient(ensemble());
  await untilEmpty(control, path);
});

test('a set is dealt out though the reply to any step is lost', async () => {
  const control = await useDirectClient(ensemble());
  const lost = await atEachStep(
    { ensemble: ensemble(), base: '/set-steps', control },
    async ({ client, path }) => {
      const partitioner = new SetPartitioner(client, path, { set: SET, settleMs: 50 });
      for await (const partition of partitioner.partitions()) {
        expect(partition.items).toEqual(SET);
        break;
      }
      await until('no watch is left', DEADLINE_MS, () => client.watchCount === 0 || undefined);
    },
  );
  expect(lost).toEqual(
    expect.arrayContaining(['create2', 'createContainer', 'getChildren2', 'getData', 'addWatch']),
  );
});
