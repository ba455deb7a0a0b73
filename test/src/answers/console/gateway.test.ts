/**
 * `rookery console` on Rookery and on Apache ZooKeeper 3.8.0: its `/api/v1` answers like a
 * member's, as far as a client and four-letter words can tell, and to nobody without its key.
 */
import { connect, Lock } from '@rookery/client';
import { expect, it, onTestFinished } from 'vitest';
import { type ApiAnswer, askApi, linesOf } from '../../harness/api.js';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { mayLack } from '../../harness/foreign.js';
import { type Gateway, useGateway } from '../../harness/gateway.js';
import { type Product, productNamed } from '../../harness/product.js';
import { until } from '../../harness/wait.js';

const TEST_DEADLINE_MS = 180_000;
const DEADLINE_MS = 20_000;
const ZOOKEEPER = '/usr/share/java/zookeeper.jar';
const READS = ['/node', '/node/data', '/node/acl', '/children', '/search', '/recipe', '/recipes'];

for (const name of ['rookery', 'apache'] as const) {
  it.skipIf(name === 'apache' && mayLack(ZOOKEEPER))(
    `reads, writes, searches and watches on ${name}`,
    async () => {
      const { ports } = await useServing(productNamed(name));
      const gateway = await useGateway(ports);
      await tellsWhatThereIs(gateway, ports);
      await writesByVersions(gateway);
      await keepsToAcls(gateway);
      await listsInPages(gateway);
      await findsAndRecognizes(gateway, ports);
      await hearsChanges(gateway);
      await refusesStrangers(gateway);
      expect(await gateway.interrupt()).toBe(0);
      const reading = await useGateway(ports, ['--no-write'], { ROOKERY_AUTH: 'digest:ann:x' });
      await onlyReads(reading);
    },
    TEST_DEADLINE_MS,
  );
}

async function useServing(product: Product) {
  return await useServingEnsemble({ size: 1, product });
}

async function tellsWhatThereIs(gateway: Gateway, ports: readonly number[]): Promise<void> {
  const index = (await askApi(gateway, 'GET ')).json;
  expect(index).toMatchObject({
    user: null,
    readOnly: false,
    identities: [],
    digestAlgs: null,
  });
  const paths = Object.keys(Object(index['paths']));
  for (const path of [...READS, '/watch', '/members', '/sessions']) {
    expect(paths).toContain(`/api/v1${path}`);
  }
  for (const path of ['/events', '/backup', '/watches']) expect(paths).not.toContain(path);
  const { members } = (await askApi(gateway, 'GET /members')).json;
  expect(members).toMatchObject([
    {
      id: 1,
      answers: true,
      serving: true,
      mode: 'standalone',
      role: 'leading',
      leader: 1,
      client: { host: '127.0.0.1', port: ports[0] },
      zxids: { applied: expect.stringMatching(/^0x[\da-f]+$/) },
      release: expect.stringContaining('3.8.0'),
      znodes: expect.any(Number),
    },
  ]);
  expect((await askApi(gateway, 'GET /members/1')).json).toMatchObject({ id: 1 });
  expect((await askApi(gateway, 'GET /members/7')).status).toBe(404);
}

async function writesByVersions(gateway: Gateway): Promise<void> {
  const made = await askApi(gateway, 'POST /node?path=/a/b&parents=true', { body: 'one' });
  expect([made.status, made.headers.get('etag')]).toEqual([201, '"0"']);
  const facts = await askApi(gateway, 'GET /node?path=/a/b');
  expect(facts.json).toMatchObject({
    path: '/a/b',
    mode: 'persistent',
    descendants: 0,
    subtreeBytes: 3,
    stat: { version: 0, dataLength: 3 },
    acl: [{ scheme: 'world' }],
    may: { admin: true },
  });
  const read = await askApi(gateway, 'GET /node/data?path=/a/b');
  expect([read.text, read.headers.get('etag')]).toEqual(['one', '"0"']);
  const set = await askApi(gateway, 'PUT /node/data?path=/a/b', { body: 'two', match: '"0"' });
  expect([set.status, set.headers.get('etag')]).toEqual([200, '"1"']);
  const late = await askApi(gateway, 'PUT /node/data?path=/a/b', { body: 'x', match: '"0"' });
  expect(late.json).toMatchObject({ status: 412, error: 'badVersion', stat: { version: 1 } });
  expect((await askApi(gateway, 'PUT /node/data?path=/a/b', { body: 'x' })).status).toBe(428);
  const full = await askApi(gateway, 'DELETE /node?path=/a', { match: '*' });
  expect(full.json).toMatchObject({ status: 409, error: 'notEmpty' });
  expect((await askApi(gateway, 'DELETE /node?path=/a/b', { match: '"1"' })).status).toBe(204);
  expect((await askApi(gateway, 'GET /node?path=/a/b')).json).toMatchObject({ code: -101 });
  for (const mode of ['sequential', 'container', 'ttl&ttlMs=60000']) {
    const other = await askApi(gateway, `POST /node?path=/a/of-${mode.slice(0, 3)}&mode=${mode}`);
    expect(other.status, mode).toBe(201);
  }
}

async function keepsToAcls(gateway: Gateway): Promise<void> {
  const as = 'anna:secret';
  const mine = 'POST /node?path=/mine&acl=auth::cdrwa';
  expect((await askApi(gateway, mine)).json).toMatchObject({ error: 'invalidAcl' });
  expect((await askApi(gateway, mine, { as, body: 'x' })).status).toBe(201);
  for (const [what, match] of [
    ['GET /node?path=/mine', null],
    ['GET /node/data?path=/mine', null],
    ['GET /children?path=/mine', null],
    ['GET /search?path=/mine', null],
    ['GET /watch?path=/mine', null],
    ['PUT /node/data?path=/mine', '*'],
  ] as const) {
    for (const who of [{}, { as: 'anna:wrong' }]) {
      const asked = { ...who, ...(match === null ? {} : { match }) };
      expect((await askApi(gateway, what, asked)).json, what).toMatchObject({ status: 403 });
    }
  }
  // Others see its name among its siblings, with its Stat only where the server tells it.
  const { children } = (await askApi(gateway, 'GET /children?path=/&stat=true')).json;
  expect(children).toContainEqual(expect.objectContaining({ name: 'mine' }));
  expect(children).toContainEqual(expect.objectContaining({ name: 'a', mode: 'persistent' }));
  const own = await askApi(gateway, 'GET /node?path=/mine', { as });
  expect(own.json).toMatchObject({
    acl: [{ scheme: 'digest', perms: 'cdrwa' }],
    may: { write: true },
  });
  const open = 'PUT /node/acl?path=/mine&acl=world:anyone:r&acl=auth::cdrwa';
  expect((await askApi(gateway, open, { as, match: '"0"' })).headers.get('etag')).toBe('"1"');
  const seen = await askApi(gateway, 'GET /node?path=/mine');
  expect(seen.json).toMatchObject({ may: { read: true, write: false, admin: false } });
  const { acl, may } = seen.json;
  expect((await askApi(gateway, 'GET /node/acl?path=/mine')).json).toMatchObject({ acl, may });
}

async function listsInPages(gateway: Gateway): Promise<void> {
  const zk = await connect(await addressOf(gateway));
  await zk.create('/d');
  const names = Array.from({ length: 2345 }, (_, i) => `n${String(i).padStart(5, '0')}`);
  await Promise.all(names.map((name) => zk.create(`/d/${name}`)));
  await zk.close();
  const listed: unknown[] = [];
  let after = '';
  for (;;) {
    const page = `GET /children?path=/d&limit=1000&stat=true&after=${after}`;
    const { json } = await askApi(gateway, page);
    expect(json['numChildren']).toBe(names.length);
    listed.push(...(json['children'] as { name: string }[]).map(({ name }) => name));
    if (json['next'] === null) break;
    after = String(json['next']);
  }
  expect(listed).toEqual(names);
  const middle = await askApi(gateway, 'GET /children?path=/d&limit=2&after=n01000');
  expect(middle.json).toMatchObject({ children: ['n01001', 'n01002'], next: 'n01002' });
}

async function findsAndRecognizes(gateway: Gateway, ports: readonly number[]): Promise<void> {
  const [one, two] = await Promise.all([clientOf(ports), clientOf(ports)]);
  const lease = await new Lock(one, '/locks/report').acquire();
  const waiting = new Lock(two, '/locks/report').acquire();
  const found = await until('two contend', DEADLINE_MS, async () => {
    const { json } = await askApi(gateway, 'GET /recipe?path=/locks/report');
    return json['count'] === 2 ? json : undefined;
  });
  const [holder, waiter] = [one, two].map(({ session }) => ({
    session: `0x${session?.id.toString(16)}`,
    member: null,
    watchesKnown: false,
    watches: null,
  }));
  expect(found).toMatchObject({ kind: 'lock', holders: [holder], waiters: [waiter] });
  const located = await until('the addresses are told', DEADLINE_MS, async () => {
    const lines = linesOf(await askApi(gateway, 'GET /recipes'));
    const [recipe] = lines.filter(({ path }) => path === '/locks/report');
    return JSON.stringify(recipe).includes('"address":null') ? undefined : { recipe, lines };
  });
  expect(JSON.stringify(located.recipe)).toMatch(/"address":"127\.0\.0\.1:\d+"/);
  expect(located.lines.at(-1)).toMatchObject({ done: true, cut: null });
  const id = holder?.session;
  const session = await askApi(gateway, `GET /sessions/${id}`);
  expect(session.json).toMatchObject({ session: id, ephemerals: 1, watched: null });
  expect(String(session.json['ephemeralPaths'])).toContain('/locks/report/');
  const { sessions } = (await askApi(gateway, 'GET /sessions')).json;
  expect(sessions).toContainEqual(expect.objectContaining({ session: id, ephemerals: 1 }));
  const paths = async (query: string) => {
    const lines = linesOf(await askApi(gateway, `GET /search?${query}`));
    expect(lines.at(-1), query).toMatchObject({ done: true });
    return lines.slice(0, -1).map(({ path }) => path);
  };
  expect(await paths('path=/d&match=N0234')).toEqual(
    ['0', '1', '2', '3', '4'].map((digit) => `/d/n0234${digit}`),
  );
  expect(await paths('glob=/d/n?000*&limit=2')).toEqual(['/d/n00000', '/d/n00001']);
  expect(await paths(`session=${id}`)).toHaveLength(1);
  await lease.release();
  await (await waiting).release();
}

async function hearsChanges(gateway: Gateway): Promise<void> {
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const base = gateway.address.replace(/\/console\/$/, '');
  const live = await fetch(`${base}/api/v1/watch?path=/a&recursive=true`, { signal: end.signal });
  const reader = live.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const hears = async (wanted: string): Promise<void> => {
    while (!text.includes(wanted)) {
      const part = await reader?.read();
      if (part?.done !== false) throw new Error(`ended with ${text}`);
      text += part.value;
    }
  };
  await hears('event: watching');
  await askApi(gateway, 'POST /node?path=/a/new', { body: 'x' });
  await hears('"kind":"created","path":"/a/new"');
  await askApi(gateway, 'PUT /node/data?path=/a/new', { body: 'y', match: '*' });
  await hears('"kind":"dataChanged","path":"/a/new"');
  end.abort();
}

async function refusesStrangers({ adminPort, prefix }: Gateway): Promise<void> {
  for (const path of ['', '/x', `${prefix}x`, `/${'A'.repeat(22)}`, `/console${prefix}`]) {
    for (const below of ['/console/', '/api/v1', '/', '/api/v1/node?path=/']) {
      const answer = await fetch(`http://127.0.0.1:${adminPort}${path}${below}`);
      expect(answer.status, path + below).toBe(404);
      expect(await answer.text()).toContain('open the address');
    }
  }
  const headers = { origin: 'http://evil.example' };
  const address = `http://127.0.0.1:${adminPort}${prefix}/api/v1`;
  expect((await fetch(address, { headers })).status).toBe(403);
}

/** And has the identity that the environment gives, which the caller did not bring. */
async function onlyReads(gateway: Gateway): Promise<void> {
  const index = (await askApi(gateway, 'GET ')).json;
  expect(index['readOnly']).toBe(true);
  expect([...new Set(Object.values(Object(index['paths'])).flat())]).toEqual(['GET']);
  const refused: ApiAnswer = await askApi(gateway, 'POST /node?path=/b', { body: 'x' });
  expect([refused.status, refused.json['detail']]).toEqual([
    ...[403, 'This console is for reading only (--no-write).'],
  ]);
  expect((await askApi(gateway, 'GET /node/data?path=/a')).status).toBe(200);
}

async function clientOf(ports: readonly number[]) {
  const client = await connect(`127.0.0.1:${ports[0]}`);
  onTestFinished(() => client.close());
  return client;
}

async function addressOf(gateway: Gateway): Promise<string> {
  const { members } = (await askApi(gateway, 'GET /members')).json;
  const [{ client }] = members as [{ client: { host: string; port: number } }];
  return `${client.host}:${client.port}`;
}
