/** Who gets which route of `/api/v1`, and that the index lists for each what he gets. */
import { expect, it } from 'vitest';
import type { HttpRequest } from '../http-port.js';
import { type ApiRoutes, jsonAnswer } from './api-call.js';
import { Api } from './api-router.js';
import { Callers } from './caller.js';

const done = () => jsonAnswer('done');
const ROUTES: ApiRoutes = {
  '/node': { GET: done, POST: done, DELETE: done },
  '/sessions/{id}': { GET: done, DELETE: done },
  '/backup': { GET: done },
};
const ALL = {
  '/api/v1': ['GET'],
  '/api/v1/node': ['GET', 'POST', 'DELETE'],
  '/api/v1/sessions/{id}': ['GET', 'DELETE'],
  '/api/v1/backup': ['GET'],
};
const rules = { superDigest: null, superIdentities: new Set<string>(), skipAcl: false };

function api(readOnly: string | null = null) {
  const digestAlgs = ['SHA256'] as const;
  return new Api(() => ROUTES, new Callers(rules), { readOnly, digestAlgs });
}

async function ask(of: Api, what: string, user: string | null, mayChange = true) {
  const [method = '', path = ''] = what.split(' ');
  const request: HttpRequest = {
    method,
    path: `/api/v1${path}`,
    query: new URLSearchParams(),
    headers: {},
    remoteAddress: '',
    signal: new AbortController().signal,
    readBody: () => Promise.resolve(new Uint8Array(0)),
  };
  const { status, body } = await of.answer(request, { user, mayChange });
  const json: Record<string, unknown> = Object(JSON.parse(String(body)));
  return { status, json };
}

it('gives a user who may change something all that there is', async () => {
  const index = await ask(api(), 'GET ', 'ops');
  expect(index.json).toMatchObject({
    user: 'ops',
    readOnly: false,
    digestAlgs: ['SHA256'],
    paths: ALL,
  });
  for (const what of ['POST /node', 'DELETE /sessions/0x1', 'GET /backup']) {
    expect((await ask(api(), what, 'ops')).status, what).toBe(200);
  }
});

it('gives a user who may only read no change and no backup, and says that he reads', async () => {
  const index = await ask(api(), 'GET ', 'viewer', false);
  expect(index.json['readOnly']).toBe(true);
  expect(index.json['paths']).toEqual({
    '/api/v1': ['GET'],
    '/api/v1/node': ['GET'],
    '/api/v1/sessions/{id}': ['GET'],
  });
  for (const what of ['POST /node', 'DELETE /node', 'DELETE /sessions/0x1', 'GET /backup']) {
    const refused = await ask(api(), what, 'viewer', false);
    expect([refused.status, refused.json['detail']], what).toEqual([
      ...[403, 'This user may only read.'],
    ]);
  }
  expect((await ask(api(), 'GET /node', 'viewer', false)).status).toBe(200);
});

it('gives nobody a change where the port is for reading, and nobody without a name a backup', async () => {
  const closed = await ask(api('It is closed.'), 'DELETE /node', 'ops');
  expect(closed.json).toMatchObject({ status: 403, detail: 'It is closed.' });
  const index = await ask(api('It is closed.'), 'GET ', 'ops');
  expect(index.json).toMatchObject({ readOnly: true, paths: { '/api/v1/node': ['GET'] } });
  const open = await ask(api(), 'GET ', null);
  expect(Object.keys(Object(open.json['paths']))).not.toContain('/api/v1/backup');
  expect((await ask(api(), 'GET /backup', null)).json['detail']).toContain('adminUsers');
  expect((await ask(api(), 'DELETE /sessions/0x1', null)).status).toBe(403);
  expect((await ask(api(), 'PUT /node', null)).status).toBe(405);
});
