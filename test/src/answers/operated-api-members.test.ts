/**
 * `/api/v1` of three real members: any of them tells of all, joins their events, and knows to
 * which member a session is connected.
 */
import { expect, it } from 'vitest';
import { askApi } from '../harness/api.js';
import { useServingEnsemble } from '../harness/ensemble.js';
import type { Member } from '../harness/member.js';
import { useClient } from '../harness/use-client.js';
import { until } from '../harness/wait.js';

const TEST_DEADLINE_MS = 120_000;
const DEADLINE_MS = 20_000;

async function membersAt(member: Member): Promise<readonly Record<string, unknown>[]> {
  const { json } = await askApi(member, 'GET /members');
  return json['members'] as readonly Record<string, unknown>[];
}

it(
  'tells of all members at any of them, and which do not answer',
  async () => {
    const ensemble = await useServingEnsemble({ size: 3, operated: true });
    const [one, two, three] = ensemble.members;
    if (one === undefined || two === undefined || three === undefined) throw new Error('three');
    const client = await useClient(two);
    const session = `0x${client.session.id.toString(16)}`;
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
