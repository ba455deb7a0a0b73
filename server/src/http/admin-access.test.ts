/** Who is let in at the admin port. */
import { expect, it } from 'vitest';
import { digestOf } from '../config/digest-of.js';
import { FREE_FAILURES, LoginDelays, USERS_MAX } from '../security/login-delays.js';
import { AdminAccess } from './admin-access.js';
import { HttpLogins } from './http-logins.js';
import { HttpError } from './http-port.js';

/** `ops:hunter2`. */
const USER = 'ops:1vdFRDCql3UzcxJ7kySyFCmtSF0=';
/** `dev:hunter3`, by SHA-256. */
const OTHER = 'dev:nDq1roNi93FJqfj//Me/gEXYeh9aG9SNpvAA3dJ/K1Q=';

/** `viewer:see`. */
const READER = digestOf('viewer:see');

function access(
  users: readonly string[] = [],
  {
    now = { ms: 0 },
    ...more
  }: { now?: { ms: number }; readers?: string[]; origins?: string[] } = {},
) {
  const { readers = [], origins = [] } = more;
  const hosts = ['zk1.example'];
  const logins = new HttpLogins(new LoginDelays(), () => now.ms);
  return new AdminAccess({ users, readers, origins, hosts }, logins);
}

function refusalOf(ask: () => unknown): HttpError {
  try {
    ask();
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  throw new Error('it was let in');
}

function statusOf(ask: () => unknown): number {
  try {
    ask();
    return 200;
  } catch (error) {
    return error instanceof Error && 'status' in error ? Number(error.status) : 0;
  }
}

it('is asked for by its address, as localhost, or by a configured name, and by no other', () => {
  const one = access();
  for (const host of ['127.0.0.1:8080', 'localhost', '[::1]:8080', 'ZK1.example:8080']) {
    expect(
      statusOf(() => one.require({ remoteAddress: '10.0.0.1', headers: { host } })),
      host,
    ).toBe(200);
  }
  for (const host of ['evil.example', 'localhost.evil.example:8080', '', 'a b', '[::1', '::1']) {
    expect(
      statusOf(() => one.require({ remoteAddress: '10.0.0.1', headers: { host } })),
      host,
    ).toBe(421);
  }
});

it('lets no page of another site ask, whatever it sends', () => {
  const one = access();
  const host = 'localhost:8080';
  const ask = (more: Record<string, string>) =>
    statusOf(() => one.require({ remoteAddress: '10.0.0.1', headers: { host, ...more } }));
  expect(ask({ origin: 'http://localhost:8080' })).toBe(200);
  expect(ask({ 'sec-fetch-site': 'same-origin' })).toBe(200);
  expect(ask({ 'sec-fetch-site': 'none' })).toBe(200);
  expect(ask({ origin: 'http://evil.example' })).toBe(403);
  expect(ask({ origin: 'null' })).toBe(403);
  expect(ask({ 'sec-fetch-site': 'cross-site' })).toBe(403);
});

it('takes a password of a user, by the scheme of ZooKeeper or as Basic', () => {
  const one = access([USER]);
  const ask = (authorization?: string) =>
    statusOf(() =>
      one.require({ remoteAddress: '10.0.0.1', headers: { host: 'localhost', authorization } }),
    );
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  expect(ask('digest ops:hunter2')).toBe(200);
  expect(ask(basic('ops:hunter2'))).toBe(200);
  for (const wrong of ['digest ops:hunter3', basic('ops:'), 'digest op:hunter2', undefined, 'x']) {
    expect(ask(wrong), wrong).toBe(401);
  }
});

it('tells who may only read, and lets a user who is both do more', () => {
  const one = access([USER], { readers: [READER, USER] });
  const ask = (authorization: string) =>
    one.require({ remoteAddress: '10.0.0.1', headers: { host: 'localhost', authorization } });
  expect(ask('digest viewer:see')).toEqual({ user: 'viewer', mayChange: false });
  expect(ask('digest ops:hunter2')).toEqual({ user: 'ops', mayChange: true });
  expect(statusOf(() => ask('digest viewer:hunter2'))).toBe(401);
  // Where there are only readers, a password is needed all the same.
  const { require } = AdminAccess.prototype;
  const readersOnly = access([], { readers: [READER] });
  const anybody = { remoteAddress: '10.0.0.1', headers: { host: 'localhost' } };
  expect(statusOf(() => require.call(readersOnly, anybody))).toBe(401);
  expect(require.call(access(), anybody)).toEqual({ user: null, mayChange: true });
});

it('is reached through a proxy by the origin that is configured, and by no header of it', () => {
  const one = access([], { origins: ['https://zk.example', 'http://other.example:8443'] });
  const ask = (headers: Record<string, string>) =>
    statusOf(() => one.require({ remoteAddress: '10.0.0.1', headers }));
  const origin = 'https://zk.example';
  // A proxy passes the name on, or puts the address of the port in its place.
  for (const host of ['zk.example', 'other.example:8443', '10.0.0.7:8080', 'zk1.example']) {
    expect(ask({ host, origin }), host).toBe(200);
  }
  for (const wrong of ['http://zk.example', 'https://zk.example:8443', 'https://zk.example.evil']) {
    expect(ask({ host: '10.0.0.7:8080', origin: wrong }), wrong).toBe(403);
  }
  expect(ask({ host: 'elsewhere.example', 'x-forwarded-host': 'zk.example' })).toBe(421);
});

it('asks for a password by a prompt of the browser, but not for the console, which has a form', () => {
  const one = access([USER]);
  const challenge = (headers: Record<string, string>) => {
    const request = { remoteAddress: '10.0.0.1', headers: { host: 'localhost', ...headers } };
    return refusalOf(() => one.require(request)).headers['www-authenticate'];
  };
  expect(challenge({})).toMatch(/^Basic /);
  expect(challenge({ 'x-requested-with': 'XMLHttpRequest' })).toMatch(/^Basic /);
  const own = { 'x-requested-with': 'rookery-console' };
  for (const authorization of [undefined, 'digest ops:wrong']) {
    const headers = authorization === undefined ? own : { ...own, authorization };
    expect(challenge(headers)).toBe('Rookery realm="rookery"');
  }
});

it('makes a user of an address wait after wrong passwords, even with a right one', () => {
  const now = { ms: 0 };
  const one = access([USER, OTHER], { now });
  const ask = (password: string, remoteAddress = '10.0.0.1', user = 'ops') =>
    statusOf(() => {
      const headers = { host: 'localhost', authorization: `digest ${user}:${password}` };
      return one.require({ remoteAddress, headers });
    });
  for (let i = 0; i < FREE_FAILURES + 1; i++) expect(ask('wrong')).toBe(401);
  expect(ask('wrong')).toBe(429);
  expect(ask('hunter2')).toBe(429);
  expect(ask('hunter2', '10.0.0.2')).toBe(200);
  now.ms += 250;
  expect(ask('hunter2')).toBe(200);
  expect(ask('wrong')).toBe(401);
  expect(ask('wrong')).toBe(429);
  // Whoever was let in from there before is let in.
  expect(ask('hunter2')).toBe(200);
});

it('makes nobody wait behind a proxy because another user forgot a password', () => {
  const one = access([USER, OTHER]);
  const ask = (user: string, password: string) =>
    statusOf(() => {
      const headers = { host: 'localhost', authorization: `digest ${user}:${password}` };
      return one.require({ remoteAddress: '10.0.0.1', headers });
    });
  for (let i = 0; i < FREE_FAILURES + 1; i++) expect(ask('ops', 'wrong')).toBe(401);
  expect(ask('ops', 'hunter2')).toBe(429);
  expect(ask('dev', 'hunter3')).toBe(200);
  // Many names share what is left, so they guess no faster than a few.
  let looked = 0;
  while (looked < 1_000 && ask(`user${looked}`, 'wrong') === 401) looked += 1;
  expect(looked).toBe(USERS_MAX - 1 + FREE_FAILURES + 1);
});

it('says how long to wait', () => {
  const one = access([USER]);
  const headers = { host: 'localhost', authorization: 'digest ops:wrong' };
  for (let i = 0; i < 20; i++) statusOf(() => one.require({ remoteAddress: '::1', headers }));
  expect(() => one.require({ remoteAddress: '::1', headers })).toThrow('try again in 1 s');
});
