// Tests how long attempts to log in as a user wait after failed ones, and that nobody else does.
import { AuthPacket, decode, encode, OpCode, SaslRequest, WhoAmIResponse } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { FREE_FAILURES, USERS_MAX } from '../security/login-delays.js';
import type { SaslServer } from '../security/sasl.js';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const AUTH_XID = -4;
const THERE = '10.0.0.9';

/** Takes the token `right` as a password of ann; others may begin with the name of a user. */
const sasl: SaslServer = {
  begin() {
    let hasBegun = false;
    return {
      userIn: (token) => /^(\w+) /.exec(Buffer.from(token).toString())?.[1] ?? 'ann',
      answer(token) {
        if (hasBegun) {
          const isRight = Buffer.from(token).toString() === 'right';
          return isRight
            ? { kind: 'done', token, user: 'ann' }
            : { kind: 'refused', reason: 'the password is wrong' };
        }
        hasBegun = true;
        return { kind: 'challenge', token };
      },
    };
  },
};

function authenticate(client: TestClient, auth: string, scheme = 'digest'): void {
  const packet = encode(AuthPacket, { type: 0, scheme, auth: Buffer.from(auth) });
  client.sendRaw(OpCode.auth, packet, AUTH_XID);
}

function logIn(client: TestClient, password: string): void {
  client.send(OpCode.sasl, SaslRequest, { token: null });
  client.send(OpCode.sasl, SaslRequest, { token: Buffer.from(password) });
}

function ensembleAfter(failures: number, attempt: (client: TestClient) => void): TestEnsemble {
  const ensemble = new TestEnsemble({ sasl });
  for (let count = 0; count < failures; count++) attempt(ensemble.connect());
  return ensemble;
}

/** Time passes, and every member notices. */
function pass(ensemble: TestEnsemble, ms: number): void {
  ensemble.nowMs += ms;
  for (const { pipeline } of ensemble.members) pipeline.onTick(ensemble.nowMs);
}

function schemesOf(client: TestClient): readonly string[] {
  client.sendRaw(OpCode.whoAmI, new Uint8Array());
  const { clientInfo } = decode(WhoAmIResponse, client.takeOne().body);
  return clientInfo.map(({ authScheme }) => authScheme);
}

const wrongScheme = (client: TestClient) => authenticate(client, 'x', 'nope');
const wrongPassword = (client: TestClient) => logIn(client, 'wrong');
const wrongSuper = (client: TestClient) => authenticate(client, `super:${Math.random()}`);

const rightSuper = (client: TestClient) => authenticate(client, 'super:secret');
const rightPassword = (client: TestClient) => logIn(client, 'right');

it.each([
  // The question for a challenge is answered at once.
  ['a wrong password by SASL', wrongPassword, rightPassword, 1, ['sasl', 'ip']],
  [
    'a wrong password of the super user, which is accepted as another identity',
    ...[wrongSuper, rightSuper, 0, ['super', 'digest', 'ip']],
  ],
] as const)('after %s, and then some, attempts as that user from its address wait', (...row) => {
  const [, attempt, again, answeredAtOnce, schemes] = row;
  const ensemble = ensembleAfter(FREE_FAILURES + 1, attempt);
  const [here, there] = [ensemble.connect(), ensemble.connect(1, THERE)];
  again(here);
  again(there);
  expect([here.take().length, [...here.holds]]).toEqual([answeredAtOnce, ['login']]);
  const answers = there.take().map(({ error }) => error);
  expect(answers).toEqual(Array(answeredAtOnce + 1).fill(0));
  expect(ensemble.leader.pipeline.logins.waiting.count).toBe(1);
  pass(ensemble, 249);
  expect(here.take()).toEqual([]);
  pass(ensemble, 1);
  expect([here.takeOne().error, [...here.holds]]).toEqual([0, []]);
  expect(schemesOf(here)).toEqual(schemes);
  expect(ensemble.leader.pipeline.logins.waiting.count).toBe(0);
});

it('lets another user of the address log in, even while attempts of the first one wait', () => {
  const ensemble = ensembleAfter(FREE_FAILURES + 1, (client) => logIn(client, 'bob is wrong'));
  const [bob, ann] = [ensemble.connect(), ensemble.connect()];
  logIn(bob, 'bob again');
  expect([...bob.holds]).toEqual(['login']);
  logIn(ann, 'right');
  expect([...ann.holds]).toEqual([]);
  expect(ann.take().map(({ error }) => error)).toEqual([0, 0]);
});

it('slows down who guesses with ever more names', () => {
  const ensemble = ensembleAfter(0, wrongPassword);
  let looked = 0;
  for (let count = 0; count < 100; count++) {
    const client = ensemble.connect();
    logIn(client, `user${count} guesses`);
    if (client.holds.has('login')) break;
    looked += 1;
  }
  expect(looked).toBe(USERS_MAX + FREE_FAILURES + 1);
});

it('makes nobody wait for a scheme that nobody has, because it guesses nothing', () => {
  const ensemble = ensembleAfter(FREE_FAILURES + 20, wrongScheme);
  const client = ensemble.connect();
  authenticate(client, 'super:secret');
  expect(client.takeOne().error).toBe(0);
});

it('holds up no request that logs nobody in, and no question for a challenge', () => {
  const ensemble = ensembleAfter(FREE_FAILURES + 1, wrongPassword);
  const client = ensemble.connect();
  client.send(OpCode.sasl, SaslRequest, { token: null });
  expect(client.takeOne().error).toBe(0);
  client.exists('/');
  expect(client.takeOne().error).toBe(0);
  client.send(OpCode.sasl, SaslRequest, { token: Buffer.from('right') });
  expect([...client.holds]).toEqual(['login']);
});

it('looks at one attempt of a user after the other, however many connections wait', () => {
  const ensemble = ensembleAfter(FREE_FAILURES + 1, wrongPassword);
  const [first, second, third] = [ensemble.connect(), ensemble.connect(), ensemble.connect()];
  logIn(first, 'wrong');
  logIn(second, 'right');
  logIn(third, 'right');
  for (const client of [first, second, third]) expect(client.take()).toHaveLength(1);
  pass(ensemble, 250);
  expect(first.takeOne().error).toBe(-115);
  expect(first.state).toBe('ended');
  expect([second.take(), third.take()]).toEqual([[], []]);
  // The next failure costs twice as much; what is right costs the others nothing.
  pass(ensemble, 499);
  expect(second.take()).toEqual([]);
  pass(ensemble, 1);
  expect([second.takeOne().error, third.takeOne().error]).toEqual([0, 0]);
});

it('takes up what was sent behind an attempt once it was looked at, in order', () => {
  const ensemble = ensembleAfter(FREE_FAILURES + 1, wrongSuper);
  const client = ensemble.connect();
  authenticate(client, 'super:secret');
  client.sendRaw(OpCode.whoAmI, new Uint8Array());
  expect(client.take()).toEqual([]);
  pass(ensemble, 250);
  const [outcome, who] = client.take();
  expect(outcome).toMatchObject({ xid: AUTH_XID, error: 0 });
  const { clientInfo } = decode(WhoAmIResponse, who?.body ?? new Uint8Array());
  expect(clientInfo[0]?.authScheme).toBe('super');
});

it('lets a bounded number of attempts wait, and forgets those whose clients leave', () => {
  const ensemble = ensembleAfter(FREE_FAILURES + 1, wrongSuper);
  const waiting = Array.from({ length: 32 }, () => ensemble.connect());
  for (const client of waiting) authenticate(client, 'super:secret');
  const { logins } = ensemble.leader.pipeline;
  const oneMore = ensemble.connect();
  authenticate(oneMore, 'super:secret');
  expect([oneMore.state, logins.waiting.count]).toEqual(['closed', 32]);
  for (const client of waiting) ensemble.leader.pipeline.onClosed(client.id);
  expect(logins.waiting.count).toBe(0);
  authenticate(ensemble.connect(), 'super:secret');
  expect(logins.waiting.count).toBe(1);
  expect(logins.delayed).toBe(34);
  ensemble.leader.pipeline.stopServing();
  expect(logins.waiting.count).toBe(0);
});

it('does not take a user for a guess who says the same again, or is no super user', () => {
  const ensemble = new TestEnsemble();
  const client = ensemble.connect();
  for (let count = 0; count < 50; count++) {
    authenticate(client, 'super:wrong');
    authenticate(client, `bob${count % 5}:secret`);
  }
  expect(client.take()).toHaveLength(100);
  expect(client.state).toBe('open');
});

it('lets no ordinary digest wait behind guesses of a neighbour, because it is never wrong', () => {
  const ensemble = new TestEnsemble();
  for (let count = 0; count < FREE_FAILURES + 8; count++) {
    authenticate(ensemble.connect(), `super:${count}`);
    pass(ensemble, 30_000);
  }
  authenticate(ensemble.connect(), 'super:again');
  const neighbour = ensemble.connect();
  authenticate(neighbour, 'ann:secret');
  expect([...neighbour.holds]).toEqual([]);
  neighbour.take();
  expect(schemesOf(neighbour)).toContain('digest');
});

it('keeps no large attempt while it waits', () => {
  const ensemble = new TestEnsemble();
  for (let count = 0; count < FREE_FAILURES + 8; count++) {
    authenticate(ensemble.connect(), `super:${count}`);
    pass(ensemble, 30_000);
  }
  authenticate(ensemble.connect(), 'super:again');
  const large = ensemble.connect();
  authenticate(large, `super:${'x'.repeat(100_000)}`);
  expect(large.state).not.toBe('open');
  expect(ensemble.leader.pipeline.logins.waiting.count).toBe(0);
});
