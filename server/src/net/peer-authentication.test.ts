/** What a proof is worth: for one exchange, one direction, two members and their ensembles. */
import { randomBytes } from 'node:crypto';
import type { Challenge, Claim, Proof } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import {
  AcceptorAuthentication,
  type AuthenticationStep,
  DiallerAuthentication,
} from './peer-authentication.js';

const SECRET = Buffer.from('a secret that all members know');
const OTHER = Buffer.from('a secret that no member knows ');

function partsOf(id: number, secrets: readonly Uint8Array[] = [SECRET], ensemble = 'e') {
  return { id, secrets, ensembleId: () => ensemble, nonce: randomBytes(32) };
}

function answerOf(step: AuthenticationStep): Challenge | Proof {
  if (step.kind === 'refused') throw new Error(step.reason);
  if (step.answer === null) throw new Error('there is no answer');
  return step.answer;
}

/** Every message of a whole exchange, and what both sides know at its end. */
function exchange(dialler: DiallerAuthentication, acceptor: AcceptorAuthentication) {
  const challenge = answerOf(acceptor.next(dialler.claim));
  const proof = answerOf(dialler.next(challenge));
  const accepted = acceptor.next(proof);
  if (accepted.kind !== 'proven') return { proof, accepted, dialled: null, answer: null };
  const answer = answerOf(accepted);
  return { proof, accepted, answer, dialled: dialler.next(answer) };
}

describe('two members with one secret', () => {
  it('prove to each other who they are and of which ensemble', () => {
    const dialler = new DiallerAuthentication(partsOf(3, [SECRET], 'mine'), 1);
    const acceptor = new AcceptorAuthentication(partsOf(1, [SECRET], 'yours'));
    const { accepted, dialled } = exchange(dialler, acceptor);
    expect(accepted).toMatchObject({ kind: 'proven', peer: { id: 3, ensembleId: 'mine' } });
    expect(dialled).toMatchObject({ kind: 'proven', peer: { id: 1, ensembleId: 'yours' } });
  });

  it.each([
    ['of which one has the next one, too', [SECRET], [SECRET, OTHER]],
    ['of which the other has the next one, too', [OTHER, SECRET], [SECRET]],
    ['in another order', [OTHER, SECRET], [SECRET, OTHER]],
    ['of which one has the next one only', [OTHER], [SECRET, OTHER]],
    ['of which the other has the next one only', [SECRET, OTHER], [OTHER]],
  ])('%s, understand each other', (_what, dials, accepts) => {
    const dialler = new DiallerAuthentication(partsOf(3, dials), 1);
    const { dialled } = exchange(dialler, new AcceptorAuthentication(partsOf(1, accepts)));
    expect(dialled?.kind).toBe('proven');
  });

  it('send neither the secret nor the same bytes twice', () => {
    const bytes = [1, 2].map(() => {
      const dialler = new DiallerAuthentication(partsOf(3), 1);
      const { proof, answer } = exchange(dialler, new AcceptorAuthentication(partsOf(1)));
      return JSON.stringify([dialler.claim, proof, answer]);
    });
    expect(bytes[0]).not.toBe(bytes[1]);
    expect(bytes.join()).not.toContain(SECRET.toString());
    expect(bytes.join()).not.toContain(SECRET.toString('hex'));
  });
});

describe('a proof', () => {
  const dialler = new DiallerAuthentication(partsOf(3), 1);
  const acceptor = new AcceptorAuthentication(partsOf(1));
  const challenge = answerOf(acceptor.next(dialler.claim));
  const proof = answerOf(dialler.next(challenge)) as Proof;

  /** Another member, or this one, that has given out the same challenge. */
  const acceptorAgain = (id = 1) =>
    new AcceptorAuthentication({ ...partsOf(id), nonce: nonceOf(challenge) });

  it('that was recorded is refused after another challenge', () => {
    const again = new AcceptorAuthentication(partsOf(1));
    again.next(dialler.claim);
    expect(again.next(proof)).toMatchObject({ kind: 'refused' });
  });

  it.each<[string, number, Partial<Claim>, Partial<Proof>]>([
    ['for another member', 2, { to: 2 }, {}],
    ['by another member', 1, { id: 2 }, {}],
    ['with another claim', 1, { nonce: randomBytes(32) }, {}],
    ['of another ensemble', 1, {}, { ensembleId: 'other' }],
    ['with no code', 1, {}, { codes: [] }],
  ])('%s is refused after the same challenge', (_what, id, claimed, proved) => {
    const again = acceptorAgain(id);
    again.next({ ...dialler.claim, ...claimed });
    expect(again.next({ ...proof, ...proved })).toMatchObject({ kind: 'refused' });
  });

  it.each<[string, readonly (Claim | Proof)[]]>([
    ['claim', [proof]],
    ['proof', [dialler.claim]],
    ['code', [dialler.claim, { ...proof, codes: [] }]],
    ['right code', [dialler.claim, { ...proof, codes: [Buffer.alloc(32)] }]],
    ['ensemble', [dialler.claim, { ...proof, ensembleId: '' }]],
    ['member', [{ ...dialler.claim, id: 0 }, proof]],
    ['nonce', [{ ...dialler.claim, nonce: Buffer.alloc(32) }, proof]],
  ])('CVE-2023-44981: without a %s nobody is let in', (_what, messages) => {
    const again = acceptorAgain();
    const steps = messages.map((message) => again.next(message).kind);
    expect(steps).not.toContain('proven');
  });

  it('of which one bit is changed is refused', () => {
    const [code = new Uint8Array()] = proof.codes;
    for (let bit = 0; bit < 8 * code.length; bit++) {
      const changed = Buffer.from(code);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const again = acceptorAgain();
      again.next(dialler.claim);
      expect(again.next({ ...proof, codes: [changed] }).kind).toBe('refused');
    }
  });

  it('is accepted as it is by the same check', () => {
    const again = acceptorAgain();
    again.next(dialler.claim);
    expect(again.next(proof).kind).toBe('proven');
  });

  // A member that has no ensemble yet proves the same of both sides but for their roles.
  it.each([
    ['of a member of an ensemble', 'e'],
    ['of a member without an ensemble', ''],
  ])('%s is refused by that member, to which it is reflected', (_what, ensemble) => {
    const mine = new DiallerAuthentication(partsOf(3, [SECRET], ensemble), 1);
    const sent = answerOf(mine.next({ kind: 'challenge', nonce: randomBytes(32) }));
    expect(mine.next(sent)).toMatchObject({ kind: 'refused' });
    const back = new AcceptorAuthentication(partsOf(3));
    expect(back.next({ ...mine.claim, to: 3 })).toMatchObject({ kind: 'refused' });
  });

  it('of the accepting side is worth nothing from a dialler, and the other way round', () => {
    const one = new DiallerAuthentication(partsOf(3, [SECRET], ''), 1);
    const nonce = randomBytes(32);
    const parts = { ...partsOf(1, [SECRET], ''), nonce };
    const { answer } = exchange(one, new AcceptorAuthentication(parts));
    const again = new AcceptorAuthentication(parts);
    again.next(one.claim);
    expect(again.next(answer as Proof)).toMatchObject({ kind: 'refused' });
  });

  it('by another secret is refused by both sides', () => {
    const stranger = new DiallerAuthentication(partsOf(3, [OTHER]), 1);
    const { accepted } = exchange(stranger, new AcceptorAuthentication(partsOf(1)));
    expect(accepted).toMatchObject({
      kind: 'refused',
      reason: /secrets of the two members differ/,
    });
    const member = new DiallerAuthentication(partsOf(3), 1);
    member.next({ kind: 'challenge', nonce: randomBytes(32) });
    const codes = [randomBytes(32)];
    const answer = member.next({ kind: 'proof', ensembleId: 'e', codes });
    expect(answer).toMatchObject({ kind: 'refused' });
  });
});

it.each<[string, unknown]>([
  ['a proof before the challenge', { kind: 'proof', ensembleId: '', codes: [] }],
  ['a hello', { kind: 'hello' }],
  ['a vote', { kind: 'vote' }],
])('%s is refused by both sides', (_what, message) => {
  const sides = [new DiallerAuthentication(partsOf(3), 1), new AcceptorAuthentication(partsOf(1))];
  for (const side of sides) expect(side.next(message as Claim).kind).toBe('refused');
});

function nonceOf(challenge: Challenge | Proof): Uint8Array {
  if (challenge.kind !== 'challenge') throw new Error('it is no challenge');
  return challenge.nonce;
}
