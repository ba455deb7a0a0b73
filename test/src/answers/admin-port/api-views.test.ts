/**
 * What `/api/v1` of a real member shows beside znodes: sessions with what they own and watch,
 * recipes with holders and waiters in their order, what a search finds, and events live.
 */
import { connect, DoubleBarrier, Lock } from '@rookery/client';
import { CreateFlag } from '@rookery/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { type ApiAnswer, askApi, linesOf } from '../../harness/api.js';
import { useServingEnsemble } from '../../harness/ensemble.js';
import type { Member } from '../../harness/member.js';
import { create, exists, getData } from '../../harness/operations.js';
import { useClient } from '../../harness/use-client.js';
import { until } from '../../harness/wait.js';

const TEST_DEADLINE_MS = 120_000;
const OPS = 'ops:hunter2';
const ADMIN_USERS = ['ops:1vdFRDCql3UzcxJ7kySyFCmtSF0='];

async function useMember(settings: Record<string, unknown> = {}): Promise<Member> {
  const [member] = (await useServingEnsemble({ size: 1, operated: true, settings })).members;
  if (member === undefined) throw new Error('there is a member');
  return member;
}

function listIn(answer: ApiAnswer, name: string): readonly Record<string, unknown>[] {
  return answer.json[name] as readonly Record<string, unknown>[];
}

it(
  'shows sessions with their addresses, what they own and watch, and ends one for a user',
  async () => {
    const member = await useMember({ adminUsers: ADMIN_USERS });
    const client = await useClient(member);
    const id = `0x${client.session.id.toString(16)}`;
    await create(client, '/owned', 'x', CreateFlag.ephemeral);
    await getData(client, '/owned', true);
    const user = OPS;
    const { sessions } = (await askApi(member, 'GET /sessions', { user })).json;
    expect(sessions).toContainEqual(
      expect.objectContaining({ session: id, ephemerals: 1, closing: false }),
    );
    const one = await askApi(member, `GET /sessions/${id}`, { user });
    expect(one.json).toMatchObject({
      ephemeralPaths: ['/owned'],
      watched: [{ path: '/owned', mode: 'data' }],
      identities: [{ scheme: 'ip', id: '127.0.0.1' }],
      connection: { address: expect.stringMatching(/^127\.0\.0\.1:\d+$/) },
    });
    const watch = { path: '/owned', mode: 'data', session: id };
    for (const query of ['', '?path=/owned', `?session=${id}`]) {
      const answer = await askApi(member, `GET /watches${query}`, { user });
      expect(listIn(answer, 'watches'), query).toMatchObject([watch]);
    }
    expect((await askApi(member, 'GET /watches?path=/other', { user })).json).toEqual({
      watches: [],
      truncated: false,
    });
    expect((await askApi(member, `DELETE /sessions/0x1`, { user })).status).toBe(404);
    expect((await askApi(member, `DELETE /sessions/${id}`, { user })).status).toBe(202);
    await until('the session has ended', 20_000, async () => {
      const gone = await askApi(member, 'GET /node?path=/owned', { user });
      return gone.status === 404 ? true : undefined;
    });
  },
  TEST_DEADLINE_MS,
);

it(
  'recognises locks with their holder and waiters in order, elections, queues and semaphores',
  async () => {
    const member = await useMember();
    const zk = await connect(`127.0.0.1:${member.clientPort}`);
    const other = await connect(`127.0.0.1:${member.clientPort}`);
    onTestFinished(async () => {
      await Promise.all([zk.close(), other.close()]);
    });
    const held = await new Lock(zk, '/locks/report').acquire();
    const waiting = new Lock(other, '/locks/report').acquire();
    const client = await useClient(member);
    const hex = 'ab'.repeat(16);
    for (const directory of ['/kazoo', '/queue', '/elect', '/sem', '/docs', '/services']) {
      await create(client, directory, directory === '/sem' ? '3' : '');
    }
    const owned = CreateFlag.ephemeralSequential;
    await create(client, `/kazoo/${hex}__lock__`, 'host', owned);
    await create(client, `/kazoo/${hex.replace('a', 'c')}__lock__`, 'two', owned);
    await create(client, '/elect/_c_00000000-0000-0000-0000-000000000000-latch-', 'me', owned);
    await create(client, '/queue/qn-', 'job', CreateFlag.persistentSequential);
    await create(client, `/sem/${hex}`, 'client', CreateFlag.ephemeral);
    await create(client, '/docs/lock-file', 'none');
    await create(client, '/services/00000000-0000-0000-0000-000000000000', '{}', 1);
    const leaves = new AbortController();
    const barrier = new DoubleBarrier(zk, '/gate', { memberCount: 2 });
    const entering = barrier.enter({ signal: leaves.signal }).catch(() => undefined);
    const gate = await until('one is at the gate', 20_000, async () => {
      const { json } = await askApi(member, 'GET /recipe?path=/gate');
      return json['kind'] === 'barrier' ? json : undefined;
    });
    expect(gate).toMatchObject({
      ready: false,
      holders: [],
      count: 1,
      waiters: [{ watches: 'ready', watchesKnown: true }],
    });
    const queued = await until('two contend', 20_000, async () => {
      const { json } = await askApi(member, 'GET /recipe?path=/locks/report');
      return json['count'] === 2 && (json['waiters'] as { watches: unknown }[])[0]?.watches !== null
        ? json
        : undefined;
    });
    expect(queued).toMatchObject({ kind: 'lock', truncated: false });
    const [holder] = queued['holders'] as Record<string, unknown>[];
    const [waiter] = queued['waiters'] as Record<string, unknown>[];
    expect(holder?.['session']).toBe(`0x${zk.session?.id.toString(16)}`);
    expect(holder?.['address']).toMatch(/^127\.0\.0\.1:/);
    expect(waiter).toMatchObject({ watches: holder?.['name'] });
    const found = linesOf(await askApi(member, 'GET /recipes'));
    expect(found.at(-1)).toMatchObject({ done: true, cut: null });
    // A service of Curator's discovery has such names, too.
    const kinds = found.slice(0, -1).map(({ path, kind }) => [path, kind]);
    expect(kinds.sort()).toEqual([
      ['/elect', 'election'],
      ['/gate', 'barrier'],
      ['/kazoo', 'lock'],
      ['/locks/report', 'lock'],
      ['/queue', 'queue'],
      ['/sem', 'semaphore'],
      ['/services', 'group'],
    ]);
    expect(linesOf(await askApi(member, 'GET /recipes?path=/kazoo')).length).toBe(2);
    expect((await askApi(member, 'GET /recipe?path=/docs')).status).toBe(404);
    leaves.abort();
    await entering;
    await held.release();
    await (await waiting).release();
  },
  TEST_DEADLINE_MS,
);

it(
  'finds znodes below a path, none of which the caller could not have walked to',
  async () => {
    const member = await useMember();
    for (const path of ['/app/one/Config', '/app/two/config-2', '/else/config']) {
      await askApi(member, `POST /node?path=${path}&parents=1`, { body: 'x'.repeat(path.length) });
    }
    const secret = { as: 'anna:secret' };
    await askApi(member, 'POST /node?path=/app/hidden&acl=auth::cdrwa', secret);
    await askApi(member, 'POST /node?path=/app/hidden/config', { ...secret, body: 'y' });
    const paths = async (query: string, as: { as?: string } = {}): Promise<unknown[]> => {
      const lines = linesOf(await askApi(member, `GET /search?${query}`, as));
      expect(lines.at(-1), query).toMatchObject({ done: true });
      return lines
        .slice(0, -1)
        .map(({ path }) => path)
        .sort();
    };
    expect(await paths('path=/app&match=config')).toEqual(['/app/one/Config', '/app/two/config-2']);
    expect(await paths('path=/app&match=config', secret)).toContain('/app/hidden/config');
    expect(await paths('glob=config-*')).toEqual(['/app/two/config-2']);
    expect(await paths('glob=/app/*/?onfig*')).toEqual(['/app/one/Config', '/app/two/config-2']);
    expect(await paths('minBytes=16')).toContain('/app/two/config-2');
    expect(await paths('minBytes=1&path=/app')).not.toContain('/app/hidden');
    const [first, end] = linesOf(await askApi(member, 'GET /search?match=config&limit=1'));
    expect([typeof first?.['path'], end?.['cut']]).toEqual(['string', 'enough']);
    expect((await askApi(member, 'GET /search?path=/none')).status).toBe(404);
    expect((await askApi(member, 'GET /search?path=/app/hidden')).status).toBe(403);
  },
  TEST_DEADLINE_MS,
);

it(
  'sends events as they come, with numbers that name the process',
  async () => {
    const member = await useMember();
    const end = new AbortController();
    onTestFinished(() => end.abort());
    const live = await fetch(`http://127.0.0.1:${member.adminPort}/api/v1/events?limit=0`, {
      headers: { accept: 'text/event-stream' },
      signal: end.signal,
    });
    expect(live.headers.get('content-type')).toBe('text/event-stream');
    const reader = live.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const readUntil = async (wanted: RegExp): Promise<RegExpExecArray> => {
      for (;;) {
        const match = wanted.exec(text);
        if (match !== null) return match;
        const part = await reader?.read();
        if (part?.done !== false) throw new Error(`ended with ${text}`);
        text += part.value;
      }
    };
    await readUntil(/event: start\n/);
    await askApi(member, 'POST /node?path=/made');
    const [, id = ''] = await readUntil(/id: (\d+-\d+)\nevent: event\ndata: .*admin\.write.*\n/);
    const [start = '', number = ''] = id.split('-');
    const since = `GET /events?start=${start}&after=${number}`;
    expect((await askApi(member, since)).json).toMatchObject({ restarted: false, lost: 0 });
    const other = await askApi(member, `GET /events?start=1&after=${number}`);
    expect(other.json).toMatchObject({ restarted: true, start });
    expect(listIn(other, 'events').length).toBeGreaterThan(3);
    const client = await useClient(member);
    await exists(client, '/made');
  },
  TEST_DEADLINE_MS,
);
