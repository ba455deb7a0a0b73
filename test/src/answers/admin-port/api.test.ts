/**
 * `/api/v1` of a real member: znodes are read and written as the identity of whoever asks, with
 * versions in ETag and If-Match, and whatever is refused is a problem in JSON.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { askApi } from '../../harness/api.js';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { httpGet } from '../../harness/http.js';
import type { Member } from '../../harness/member.js';
import { create, setData } from '../../harness/operations.js';
import { REPOSITORY } from '../../harness/product.js';
import { useClient } from '../../harness/use-client.js';

const TEST_DEADLINE_MS = 120_000;

/** The methods of each path, as the published description has them. */
function described(): Record<string, readonly string[]> {
  const file = join(REPOSITORY, 'docs/operations/openapi.json');
  const { paths }: { paths: Record<string, object> } = JSON.parse(readFileSync(file, 'utf8'));
  const methods = Object.entries(paths).map(([path, of]): [string, string[]] => [
    path,
    Object.keys(of).map((method) => method.toUpperCase()),
  ]);
  return Object.fromEntries(methods);
}

function digestOf(user: string): string {
  return `${user.split(':')[0]}:${createHash('sha1').update(user).digest('base64')}`;
}

async function useMember(settings: Record<string, unknown> = {}): Promise<Member> {
  const [member] = (await useServingEnsemble({ size: 1, operated: true, settings })).members;
  if (member === undefined) throw new Error('there is a member');
  return member;
}

it(
  'creates, reads, changes and deletes znodes by the versions that were read',
  async () => {
    const member = await useMember();
    const made = await askApi(member, 'POST /node?path=/a/b&parents=true', { body: 'one' });
    expect([made.status, made.headers.get('etag')]).toEqual([201, '"0"']);
    expect(made.headers.get('location')).toBe('/api/v1/node?path=%2Fa%2Fb');
    const facts = await askApi(member, 'GET /node?path=/a/b');
    expect(facts.json).toMatchObject({ path: '/a/b', mode: 'persistent', ttlMs: null });
    expect(facts.json['may']).toMatchObject({ read: true, admin: true });
    const read = await askApi(member, 'GET /node/data?path=/a/b');
    expect([read.text, read.headers.get('etag')]).toEqual(['one', '"0"']);
    expect((await askApi(member, 'PUT /node/data?path=/a/b', { body: 'two' })).status).toBe(428);
    const set = await askApi(member, 'PUT /node/data?path=/a/b', { body: 'two', match: '"0"' });
    expect([set.status, set.headers.get('etag')]).toEqual([200, '"1"']);
    const late = await askApi(member, 'PUT /node/data?path=/a/b', { body: 'three', match: '"0"' });
    expect([late.status, late.headers.get('content-type')]).toEqual([
      412,
      'application/problem+json',
    ]);
    expect(late.json).toMatchObject({ code: -103, error: 'badVersion', stat: { version: 1 } });
    expect((await askApi(member, 'DELETE /node?path=/a', { match: '*' })).json).toMatchObject({
      status: 409,
      error: 'notEmpty',
    });
    expect((await askApi(member, 'DELETE /node?path=/a/b', { match: '"1"' })).status).toBe(204);
    expect((await askApi(member, 'GET /node?path=/a/b')).json).toMatchObject({ code: -101 });
    const ttl = await askApi(member, 'POST /node?path=/q-&mode=sequential');
    expect(ttl.json).toMatchObject({ path: '/q-0000000001' });
    expect((await askApi(member, 'GET /children?path=/')).json['children']).toEqual([
      ...['a', 'q-0000000001', 'zookeeper'],
    ]);
  },
  TEST_DEADLINE_MS,
);

it(
  'lets nobody past an ACL, and shows each caller what he may do',
  async () => {
    const member = await useMember();
    const mine = 'POST /node?path=/mine&acl=auth::cdrwa';
    expect((await askApi(member, mine)).json).toMatchObject({ error: 'invalidAcl' });
    expect((await askApi(member, mine, { as: 'anna:secret', body: 'x' })).status).toBe(201);
    for (const [what, match] of [
      ['GET /node?path=/mine'],
      ['GET /node/data?path=/mine'],
      ['GET /children?path=/mine'],
      ['PUT /node/data?path=/mine', '*'],
      ['PUT /node/acl?path=/mine&acl=world:anyone:r', '*'],
    ] as const) {
      const asked = match === undefined ? {} : { match };
      expect((await askApi(member, what, asked)).json, what).toMatchObject({ error: 'noAuth' });
      const otherwise = await askApi(member, what, { ...asked, as: 'anna:wrong' });
      expect(otherwise.status, what).toBe(403);
    }
    expect(
      (await askApi(member, 'GET /children?path=/&stat=true')).json['children'],
    ).toContainEqual({ name: 'mine', mode: null, stat: null });
    const own = await askApi(member, 'GET /node?path=/mine', { as: 'anna:secret' });
    expect(own.json).toMatchObject({ acl: [{ scheme: 'digest', perms: 'cdrwa' }] });
    const open = 'PUT /node/acl?path=/mine&acl=world:anyone:r,auth::cdrwa';
    expect((await askApi(member, open, { as: 'anna:secret', match: '"0"' })).status).toBe(200);
    const seen = await askApi(member, 'GET /node?path=/mine');
    expect(seen.json).toMatchObject({ may: { read: true, write: false, admin: false } });
    expect(JSON.stringify(seen.json['acl'])).toContain('anna:x');
    const { acl, may } = seen.json;
    expect((await askApi(member, 'GET /node/acl?path=/mine')).json).toMatchObject({ acl, may });
    // Commas in an id separate nothing where each entry is given by itself.
    const comma = { scheme: 'digest', id: digestOf('a,b:c'), perms: 'r' };
    const entry = encodeURIComponent(`digest:${comma.id}:r`);
    const aclOf = async (query: string) => {
      const set = await askApi(member, `PUT /node/acl?path=/commas&${query}`, { match: '*' });
      return set.status === 200
        ? (await askApi(member, 'GET /node/acl?path=/commas')).json['acl']
        : set.json['detail'];
    };
    await askApi(member, `POST /node?path=/commas&acl=${entry}&acl=world:anyone:cdrwa`);
    const all = { scheme: 'world', id: 'anyone', perms: 'cdrwa' };
    expect((await askApi(member, 'GET /node/acl?path=/commas')).json['acl']).toEqual([comma, all]);
    expect(await aclOf(`acl=world:anyone:cdrwa&acl=${entry}`)).toEqual([all, comma]);
    expect(await aclOf('acl=x509:CN=a:r,world:anyone:cdrwa')).toContain('a list or one entry');
    expect(await aclOf('acl=world:anyone:cdrwa,ip:10.0.0.0/8:r')).toHaveLength(2);
  },
  TEST_DEADLINE_MS,
);

it(
  'has the paths that are described, and gives a user who may only read those that change nothing',
  async () => {
    const [ops, viewer] = ['ops:hunter2', 'viewer:see'];
    const member = await useMember({
      adminUsers: ['ops:1vdFRDCql3UzcxJ7kySyFCmtSF0='],
      adminReaders: [digestOf(viewer)],
    });
    const all = (await askApi(member, 'GET ', { user: ops })).json;
    expect(all).toMatchObject({ readOnly: false, user: 'ops', digestAlgs: ['SHA1'] });
    expect(all['paths'], 'what docs/operations/openapi.json describes').toEqual(described());
    const reading = (await askApi(member, 'GET ', { user: viewer })).json;
    expect(reading).toMatchObject({ readOnly: true, user: 'viewer' });
    expect([...new Set(Object.values(Object(reading['paths'])).flat())]).toEqual(['GET']);
    await askApi(member, 'POST /node?path=/a', { user: ops, body: 'x' });
    for (const what of ['POST /node?path=/b', 'DELETE /node?path=/a', 'GET /backup']) {
      const refused = await askApi(member, what, { user: viewer, match: '*' });
      expect(refused.json, what).toMatchObject({ status: 403, detail: 'This user may only read.' });
    }
    // The super user of the tree changes nothing either, if the port lets him in as a reader.
    const asOther = { user: viewer, as: ops, match: '*', body: 'y' };
    expect((await askApi(member, 'PUT /node/data?path=/a', asOther)).status).toBe(403);
    expect((await askApi(member, 'GET /node/data?path=/a', { user: viewer })).text).toBe('x');
    const reset = { authorization: `digest ${viewer}` };
    expect((await httpGet(member.adminPort, '/commands/stat_reset', reset)).status).toBe(403);
    expect((await httpGet(member.adminPort, '/commands/stats', reset)).status).toBe(200);
  },
  TEST_DEADLINE_MS,
);

it(
  'changes nothing where it is for reading only, and judges what it is sent',
  async () => {
    const member = await useMember({ adminReadOnly: true });
    const refused = await askApi(member, 'POST /node?path=/a', { body: 'x' });
    expect([refused.status, refused.json['detail']]).toEqual([
      403,
      'This port is for reading only (adminReadOnly).',
    ]);
    const index = (await askApi(member, 'GET ')).json;
    expect(index).toMatchObject({ readOnly: true, user: null });
    expect([...new Set(Object.values(Object(index['paths'])).flat())]).toEqual(['GET']);
    for (const [what, status] of [
      ['GET /node', 400],
      ['GET /node?path=a', 400],
      ['GET /node?path=/a/', 400],
      ['GET /children?path=/&limit=1001', 400],
      ['GET /children?path=/&limit=-1', 400],
      ['GET /nothing', 404],
      ['GET /constructor', 404],
      ['POST /children?path=/', 405],
    ] as const) {
      expect((await askApi(member, what)).json, what).toMatchObject({ status });
    }
  },
  TEST_DEADLINE_MS,
);

it(
  'lists a large directory in pages that follow each other, and refuses bodies that are too large',
  async () => {
    const member = await useMember();
    const client = await useClient(member);
    await create(client, '/d');
    const names = Array.from({ length: 1234 }, (_, i) => `n${String(i).padStart(5, '0')}`);
    await Promise.all(names.map((name) => create(client, `/d/${name}`)));
    await setData(client, '/d/n00000', 'seven');
    const listed: unknown[] = [];
    let after = '';
    for (;;) {
      const { json } = await askApi(
        member,
        `GET /children?path=/d&limit=500&stat=1&after=${after}`,
      );
      listed.push(...(json['children'] as unknown[]));
      if (json['next'] === null) break;
      after = String(json['next']);
    }
    expect(listed.length).toBe(names.length);
    expect(listed[0]).toMatchObject({ name: 'n00000', stat: { version: 1, dataLength: 5 } });
    const large = { body: 'x'.repeat(1_000_001), match: '*' };
    expect((await askApi(member, 'PUT /node/data?path=/d', large)).status).toBe(413);
    const fits = { body: 'x'.repeat(1_000_000), match: '*' };
    expect((await askApi(member, 'PUT /node/data?path=/d', fits)).status).toBe(200);
  },
  TEST_DEADLINE_MS,
);
