/**
 * `/api/v1` of three real members: any of them tells of all, joins their events, and knows to
 * which member a session is connected.
 */
import { connect, Lock } from '@rookery/client';
import { expect, it, onTestFinished } from 'vitest';
import { type ApiRequest, askApi as ask, linesOf } from '../../harness/api.js';
import { useServingEnsemble } from '../../harness/ensemble.js';
import type { Member } from '../../harness/member.js';
import { getData } from '../../harness/operations.js';
import { useClient } from '../../harness/use-client.js';
import { until } from '../../harness/wait.js';

const TEST_DEADLINE_MS = 120_000;
const DEADLINE_MS = 20_000;
const OPS = 'ops:hunter2';
const ADMIN_USERS = ['ops:1vdFRDCql3UzcxJ7kySyFCmtSF0='];

function askApi(member: Member, what: string, request: ApiRequest = {}) {
  return ask(member, what, { user: OPS, ...request });
}

async function membersAt(member: Member): Promise<readonly Record<string, unknown>[]> {
  const { json } = await askApi(member, 'GET /members');
  return json['members'] as readonly Record<string, unknown>[];
}

/** Who waits for a lock, what they watch, and the end of a session, at each member alike. */
async function askWherever(members: readonly Member[]): Promise<void> {
  const clients = await Promise.all(
    members.map(({ clientPort }) => connect(`127.0.0.1:${clientPort}`)),
  );
  onTestFinished(async () => {
    await Promise.all(clients.map((client) => client.close()));
  });
  const tries = clients.map((client) => new Lock(client, '/locks/one').acquire());
  const [holding] = await Promise.all([Promise.race(tries)]);
  for (const member of members) {
    const recipe = await until('all waiters watch', DEADLINE_MS, async () => {
      const { json } = await askApi(member, 'GET /recipe?path=/locks/one');
      const waiters = (json['waiters'] ?? []) as readonly Record<string, unknown>[];
      const isWhole = waiters.length === 2 && waiters.every(({ watches }) => watches !== null);
      return isWhole ? { holders: json['holders'] as typeof waiters, waiters } : undefined;
    });
    const all = [...recipe.holders, ...recipe.waiters];
    expect(new Set(all.map((one) => one['member']))).toEqual(new Set([1, 2, 3]));
    for (const [index, one] of all.entries()) {
      expect(one).toMatchObject({
        address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
        watchesKnown: true,
        watches: index === 0 ? null : all[index - 1]?.['name'],
      });
    }
    // An address is null where its member does not answer in time.
    const contenders = await until('all addresses are told', DEADLINE_MS, async () => {
      const [found] = linesOf(await askApi(member, 'GET /recipes'));
      const told = [found?.['holders'], found?.['waiters']].flat() as typeof all;
      return told.every(({ address }) => address !== null) ? told : undefined;
    });
    expect(contenders.map(({ address }) => address)).toEqual(all.map(({ address }) => address));
  }
  await holding?.release();
  const [{ session: first } = { session: null }] = clients;
  await clients[0]?.addAuth('digest', 'anna:secret');
  for (const member of members) {
    // At any member alike, and of the digest nothing but the user.
    const { json } = await askApi(member, `GET /sessions/0x${first?.id.toString(16)}`);
    const known = [
      { scheme: 'digest', id: 'anna' },
      { scheme: 'ip', id: '127.0.0.1' },
    ];
    expect(json['identities']).toEqual(known);
  }
  // Whoever is asked, the leader ends it.
  for (const [index, client] of clients.entries()) {
    const other = members[(index + 1) % members.length];
    const id = `0x${client.session?.id.toString(16)}`;
    if (other === undefined) continue;
    expect((await askApi(other, `DELETE /sessions/${id}`)).status).toBe(202);
    await until('the session has ended', DEADLINE_MS, async () => {
      return (await askApi(other, `GET /sessions/${id}`)).status === 404 ? 1 : undefined;
    });
  }
}

/** What the clients of one member ask for is told at each of them. */
async function askHottest(members: readonly Member[], read: () => Promise<unknown>) {
  for (const member of members) {
    const { json } = await until('the reads are told', DEADLINE_MS, async () => {
      await read();
      const answer = await askApi(member, 'GET /hot?limit=50');
      const paths = answer.json['paths'] as readonly Record<string, unknown>[];
      const root = paths.find(({ path }) => path === '/');
      return Number(root?.['readsPerSecond'] ?? 0) > 0 ? answer : undefined;
    });
    expect(json['members']).toMatchObject([1, 2, 3].map((id) => ({ id, answers: true })));
    expect(json['clients']).toContainEqual({
      session: expect.stringMatching(/^0x/),
      member: 2,
      address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      requestsPerSecond: expect.any(Number),
    });
    for (const limit of [0, 51]) {
      expect((await askApi(member, `GET /hot?limit=${limit}`)).status).toBe(400);
    }
  }
}

it(
  'tells of all members at any of them, and which do not answer',
  async () => {
    const ensemble = await useServingEnsemble({
      size: 3,
      operated: true,
      settings: { adminUsers: ADMIN_USERS },
    });
    const [one, two, three] = ensemble.members;
    if (one === undefined || two === undefined || three === undefined) throw new Error('three');
    const client = await useClient(two);
    const session = `0x${client.session.id.toString(16)}`;
    await getData(client, '/', true);
    for (const member of ensemble.members) {
      const members = await membersAt(member);
      expect(members.map(({ id }) => id)).toEqual([1, 2, 3]);
      expect(members.map(({ role }) => role).sort()).toEqual(['following', 'following', 'leading']);
      for (const facts of members) {
        expect(facts).toMatchObject({ answers: true, serving: true, disk: { isFull: false } });
      }
      const found = await askApi(member, `GET /sessions/${session}`);
      expect(found.json).toMatchObject({
        member: 2,
        address: expect.stringContaining('127.0.0.1'),
        watched: [{ path: '/', mode: 'data' }],
        connection: { lastOperation: 'GETD', outstanding: 0 },
      });
    }
    const joined = (await askApi(one, 'GET /events?members=all')).json;
    const events = joined['events'] as { member: number; event: string; time: string }[];
    const serving = events.filter(({ event }) => event === 'role.serving');
    expect(serving.map(({ member }) => member).sort()).toEqual([1, 2, 3]);
    expect(events.map(({ time }) => time)).toEqual(events.map(({ time }) => time).sort());
    const places = String(joined['places']);
    expect(places).toMatch(/^1:\d+-\d+,2:\d+-\d+,3:\d+-\d+$/);
    await askApi(three, 'POST /node?path=/made');
    const later = (await askApi(one, `GET /events?members=all&places=${places}`)).json;
    const made = (later['events'] as typeof events).filter(({ event }) => event === 'admin.write');
    expect(made.map(({ member }) => member)).toEqual([3]);
    await askHottest(ensemble.members, () => getData(client, '/'));
    await askWherever(ensemble.members);
    await three.kill();
    await until('the dead member is told of', DEADLINE_MS, async () => {
      const members = await membersAt(one);
      return members[2]?.['answers'] === false ? true : undefined;
    });
    const rest = (await askApi(one, `GET /events?members=all&places=${places}`)).json;
    expect(rest['silent']).toEqual([3]);
    expect((await askApi(one, 'GET /events?members=all&places=x')).status).toBe(400);
    expect((await askApi(one, 'GET /members/2')).json).toMatchObject({ id: 2, answers: true });
    expect((await askApi(one, 'GET /members/9')).status).toBe(404);
  },
  TEST_DEADLINE_MS,
);
