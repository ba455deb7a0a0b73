/**
 * DIGEST-MD5 against a client that computes by itself, and the users' file.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DigestMd5Server, readSaslUsers, secretOfPassword } from './digest-md5.js';
import type { SaslAnswer } from './sasl.js';

const NONCE = 'a nonce of the test';
const EMPTY = new Uint8Array(0);
const server = new DigestMd5Server(
  (user) => (user === 'bob' ? secretOfPassword('bob', 'secret') : undefined),
  () => NONCE,
);
const md5 = (...parts: (string | Buffer)[]) => {
  const hash = createHash('md5');
  for (const part of parts) hash.update(part);
  return hash;
};
const hex = (text: string) => md5(text).digest('hex');

/** As RFC 2831 says, in the order of its section 2.1.2.1. */
function response(password: string, method: string, more = ''): string {
  const secret = md5(`bob:zk-sasl-md5:${password}`).digest();
  const first = md5(secret, `:${NONCE}:c${more}`).digest('hex');
  const second = hex(`${method}:zookeeper/zk-sasl-md5`);
  return hex(`${first}:${NONCE}:00000001:c:auth:${second}`);
}

const RIGHT = {
  username: '"bob"',
  realm: '"zk-sasl-md5"',
  nonce: `"${NONCE}"`,
  cnonce: '"c"',
  nc: '00000001',
  qop: 'auth',
  'digest-uri': '"zookeeper/zk-sasl-md5"',
  response: response('secret', 'AUTHENTICATE'),
  charset: 'utf-8',
};

function judge(changes: Readonly<Record<string, string | undefined>>): SaslAnswer {
  const exchange = server.begin();
  exchange.answer(EMPTY);
  const fields = Object.entries({ ...RIGHT, ...changes }).filter(
    ([, value]) => value !== undefined,
  );
  return exchange.answer(Buffer.from(fields.map(([key, value]) => `${key}=${value}`).join(',')));
}

const textOf = (answer: SaslAnswer) =>
  answer.kind === 'refused' ? answer.reason : Buffer.from(answer.token).toString();

describe('DIGEST-MD5', () => {
  it('challenges exactly as Java does, whatever the first token says', () => {
    const expected = `realm="zk-sasl-md5",nonce="${NONCE}",charset=utf-8,algorithm=md5-sess`;
    expect(textOf(server.begin().answer(EMPTY))).toBe(expected);
    expect(textOf(server.begin().answer(Buffer.from('anything')))).toBe(expected);
  });

  it('takes the right password, and proves that it knows it, too', () => {
    const answer = judge({});
    expect(answer).toMatchObject({ kind: 'done', user: 'bob' });
    expect(textOf(answer)).toBe(`rspauth=${response('secret', '')}`);
  });

  it('takes what clients may leave out, write otherwise or add', () => {
    expect(judge({ nc: undefined, qop: undefined, charset: undefined }).kind).toBe('done');
    expect(judge({ qop: '"auth"', maxbuf: '65536' }).kind).toBe('done');
    const authzid = { authzid: '"eve"', response: response('secret', 'AUTHENTICATE', ':eve') };
    expect(judge(authzid)).toMatchObject({ kind: 'done', user: 'bob' });
  });

  it.each([
    ['another password', { response: response('guess', 'AUTHENTICATE') }, 'is wrong'],
    ['an unknown user', { username: '"eve"' }, 'is wrong'],
    ['no user', { username: undefined }, 'is wrong'],
    ['no response', { response: undefined }, 'is wrong'],
    ['its own proof sent back', { response: response('secret', '') }, 'is wrong'],
    ['another realm', { realm: '"zk"' }, 'realm'],
    ['no realm', { realm: undefined }, 'realm'],
    ['an old nonce', { nonce: '"old"' }, 'nonce'],
    ['a second use', { nc: '00000002' }, 'nonce'],
    ['encryption', { qop: 'auth-conf' }, 'quality'],
    ['another service', { 'digest-uri': '"zookeeper/other"' }, 'service'],
    ['no nonce of its own', { cnonce: undefined }, 'nonce of the client'],
    ['a directive twice', { charset: 'utf-8,username="bob"' }, 'malformed'],
    ['an open quote', { charset: '"utf-8' }, 'malformed'],
    ['far too much', { charset: 'x'.repeat(4096) }, 'too long'],
  ])('refuses %s', (_, changes, reason) => {
    const answer = judge(changes);
    expect(answer.kind).toBe('refused');
    expect(textOf(answer)).toContain(reason);
  });

  it('takes one response for each nonce, right or wrong', () => {
    const exchange = server.begin();
    exchange.answer(EMPTY);
    expect(exchange.answer(Buffer.from('username="bob"')).kind).toBe('refused');
    const fields = Object.entries(RIGHT).map(([key, value]) => `${key}=${value}`);
    expect(textOf(exchange.answer(Buffer.from(fields.join(','))))).toContain('is over');
    const fresh = new DigestMd5Server(() => undefined);
    const nonces = new Set([1, 2, 3].map(() => textOf(fresh.begin().answer(EMPTY))));
    expect(nonces.size).toBe(3);
  });
});

describe('the list of users', () => {
  let directory = '';
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'rookery-users-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const written = (text: string, mode = 0o600) => {
    const path = join(directory, `users-${Math.random()}`);
    writeFileSync(path, text, { mode });
    return path;
  };

  it('has passwords and digests of them, comments and empty lines', () => {
    const digest = secretOfPassword('ann', 'pass:word');
    const path = written(`# ours\n\nbob:secret\r\nann:zk-sasl-md5:${digest.toUpperCase()}\n`);
    const users = readSaslUsers(path);
    expect(users.get('bob')).toBe(secretOfPassword('bob', 'secret'));
    expect(users.get('ann')).toBe(digest);
    expect(users.size).toBe(2);
  });

  it.each([
    ['bob\n', 'Line 1'],
    ['bob:\n', 'has no password'],
    ['\nbob:a\nbob:b\n', 'Line 3'],
    ['b b:secret\n', 'Line 1'],
    ['bob@home:secret\n', 'Line 1'],
    ['bob:s\u00e9cret\n', 'ASCII'],
    ['# nobody\n', 'has no user'],
  ])('is refused as %j by its line, without what it says', (text, problem) => {
    const read = () => readSaslUsers(written(text));
    expect(read).toThrow(problem);
    expect(read).not.toThrow(/secret/);
  });

  it('is refused if others can read it', () => {
    expect(() => readSaslUsers(written('bob:secret\n', 0o644))).toThrow('open to other users');
  });
});
