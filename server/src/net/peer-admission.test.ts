/**
 * Admission at the peer port over the network in memory: who is let in, what strangers get, how
 * members find a way that is open while peerAuth is introduced and while secrets change.
 */
import type { Claim, HelloOffer } from '@rookery/protocol';
import { encodePeerFrame } from '@rookery/protocol/peer';
import { describe, expect, it } from 'vitest';
import type { FarEnd } from '../simulated/net/fixtures.js';
import { dialMember1, HELLO, Member, PORT, world } from '../simulated/net/peer-member.js';
import { messagesOf, relay, TappedNetwork } from '../simulated/net/tapped-network.js';
import type { PeerSecurity } from './peer-admission.js';

const SECRET = Buffer.from('a secret of more than thirty characters');
const NEXT = Buffer.from('the secret that takes the place of it');
const secrets = (...list: Uint8Array[]) => ({ secrets: () => list });
const REQUIRED: Partial<PeerSecurity> = { ways: ['secret'], ...secrets(SECRET) };
const OPTIONAL: Partial<PeerSecurity> = { ways: ['secret', 'none'], ...secrets(SECRET) };
const NONE: Partial<PeerSecurity> = { ways: ['none'] };
const CLAIM: Claim = { kind: 'claim', id: 3, to: 1, nonce: Buffer.alloc(32, 7) };
const SHORT_OFFER: HelloOffer = { ...HELLO.offer, shared: [] };

/** Members 1 and 2 with these ways to come in, some time after both have started. */
async function pairOf(one: Partial<PeerSecurity>, two: Partial<PeerSecurity>, waitMs = 3_000) {
  const { timers, network } = world();
  const members = [
    new Member({ id: 1, timers, network, security: one }),
    new Member({ id: 2, timers, network, security: two }),
  ] as const;
  for (const member of members) await member.listen();
  await timers.advance(waitMs);
  return { timers, network, one: members[0], two: members[1] };
}

function reasonsOf(member: Member, event: string): unknown[] {
  return member.logged(event).map((line) => line['reason']);
}

describe('members with a secret', () => {
  it('join each pair of three once, in whatever order they start', async () => {
    const { timers, network } = world();
    const members = [3, 1, 2].map((id) => new Member({ id, timers, network, security: REQUIRED }));
    for (const member of members) {
      await member.listen();
      await timers.advance(120);
    }
    await timers.advance(1_000);
    expect(members.map((member) => [...member.events].sort())).toEqual([
      ['connected 1 i1', 'connected 2 i2'],
      ['connected 2 i2', 'connected 3 i3'],
      ['connected 1 i1', 'connected 3 i3'],
    ]);
    const warnings = members.flatMap(({ lines }) => lines.filter((line) => line.level > 30));
    expect(warnings).toEqual([]);
  });

  it('carry messages both ways and come back after a crash', async () => {
    const { timers, network, one, two } = await pairOf(REQUIRED, REQUIRED);
    one.ack(2, 1);
    two.ack(1, 2);
    one.port.flush();
    two.port.flush();
    await timers.advance(5);
    expect([one.events.at(-1), two.events.at(-1)]).toEqual(['ack 2 from 2', 'ack 1 from 1']);
    network.crash('m2');
    await timers.advance(10);
    const again = new Member({ id: 2, instance: 'fresh', timers, network, security: REQUIRED });
    await again.listen();
    await timers.advance(20);
    expect(one.events.at(-1)).toBe('connected 2 fresh');
  });

  it('do not wait for a back-off when the member that they dial comes up', async () => {
    const { timers, network } = world();
    const two = new Member({ id: 2, timers, network, security: REQUIRED });
    await two.listen();
    await timers.advance(5_000);
    const one = new Member({ id: 1, timers, network, security: REQUIRED });
    await one.listen();
    await timers.advance(20);
    expect([one.events, two.events]).toEqual([['connected 2 i2'], ['connected 1 i1']]);
  });

  it('and one with another secret refuse each other, with the reason in both logs', async () => {
    const other = { ...REQUIRED, ...secrets(NEXT) };
    const { one, two } = await pairOf(REQUIRED, other);
    expect([one.events, two.events]).toEqual([[], []]);
    expect(reasonsOf(one, 'peer.refused')).toEqual([expect.stringMatching(/secrets .* differ/)]);
    expect(reasonsOf(two, 'peer.refused_by')).toEqual([expect.stringMatching(/secrets .* differ/)]);
  });

  it.each([
    ['dials', NONE, REQUIRED],
    ['is dialled', REQUIRED, NONE],
  ])('and one without, where the one that requires it %s, stay apart', async (_, one, two) => {
    const members = await pairOf(one, two);
    expect([members.one.events, members.two.events]).toEqual([[], []]);
    const said = [members.one, members.two].map(({ lines }) =>
      lines.filter(({ level }) => level >= 40).map(({ msg, reason }) => `${msg} ${reason}`),
    );
    for (const lines of said) expect(lines.join('\n')).toMatch(/set peerAuth/);
  });
});

describe('while peerAuth is introduced', () => {
  it.each([
    ['neither', NONE, OPTIONAL],
    ['neither, the other way round', OPTIONAL, NONE],
    ['both', OPTIONAL, OPTIONAL],
    ['one requires it', OPTIONAL, REQUIRED],
    ['the other one requires it', REQUIRED, OPTIONAL],
  ])('members connect: %s', async (_what, one, two) => {
    const members = await pairOf(one, two);
    expect(members.one.events).toEqual(['connected 2 i2']);
    expect(members.two.events).toEqual(['connected 1 i1']);
  });

  it('a member whose peer begins to require a secret finds its way back in', async () => {
    const { timers, network, two } = await pairOf(NONE, OPTIONAL);
    network.crash('m1');
    await timers.advance(5);
    const one = new Member({ id: 1, instance: 'hardened', timers, network, security: REQUIRED });
    await one.listen();
    await timers.advance(200);
    expect(two.events.at(-1)).toBe('connected 1 hardened');
  });

  it('a member proves itself wherever the other one can judge it', async () => {
    const { network, timers } = world();
    const taps = new TappedNetwork(network);
    const one = new Member({ id: 1, timers, network, security: OPTIONAL });
    const two = new Member({
      id: 2,
      timers,
      security: OPTIONAL,
      network: taps,
    });
    await one.listen();
    await two.listen();
    await timers.advance(100);
    expect(one.events).toEqual(['connected 2 i2']);
    expect(taps.kindsTo('m1')).toEqual(['claim', 'proof', 'hello']);
  });
});

describe('while the secret is replaced', () => {
  it('every new link is made, whoever has changed its file already', async () => {
    const steps = [[SECRET], [SECRET, NEXT], [NEXT]];
    for (const [first, second] of [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
      [1, 2],
      [2, 1],
      [2, 2],
    ] as const) {
      const of = (step: number) => ({ ...REQUIRED, ...secrets(...(steps[step] ?? [])) });
      const { one, two } = await pairOf(of(first), of(second), 50);
      expect([one.events, two.events]).toEqual([['connected 2 i2'], ['connected 1 i1']]);
    }
  });

  it('links that are up stay, and the next ones need the new secret', async () => {
    let known: readonly Uint8Array[] = [SECRET];
    const security = { ...REQUIRED, secrets: () => known };
    const { timers, network, one, two } = await pairOf(security, security);
    known = [NEXT];
    await timers.advance(5_000);
    expect([one.events, two.events]).toEqual([['connected 2 i2'], ['connected 1 i1']]);
    one.port.disconnect(2, one.linkTo(2), 'test');
    await timers.advance(200);
    expect(one.events.at(-1)).toBe('connected 2 i2');
    const old = new Member({ id: 3, timers, network, security: REQUIRED });
    await old.listen();
    await timers.advance(2_000);
    expect(old.events).toEqual([]);
  });
});

describe('a stranger at a port that needs a proof', () => {
  it.each<[string, Uint8Array]>([
    ['a hello', encodePeerFrame(HELLO)],
    ['a short hello', encodePeerFrame({ ...HELLO, offer: SHORT_OFFER })],
    ['a vote', encodePeerFrame({ kind: 'ack', zxid: 1 })],
    ['text', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a huge frame', Buffer.from([0x7f, 0xff, 0xff, 0xff])],
    ['a negative length', Buffer.from([0xff, 0xff, 0xff, 0xff])],
    ['an empty frame', Buffer.from([0, 0, 0, 0])],
    ['a claim for another', encodePeerFrame({ ...CLAIM, to: 2 })],
    ['the claim of the member itself', encodePeerFrame({ ...CLAIM, id: 1 })],
    ['a proof', encodePeerFrame({ kind: 'proof', ensembleId: '', codes: [Buffer.alloc(32)] })],
    ['a challenge', encodePeerFrame({ kind: 'challenge', nonce: Buffer.alloc(32) })],
    ['a refusal', encodePeerFrame({ kind: 'refuse', reason: 'x', isLasting: true })],
  ])('that sends %s gets one sentence at most, and no event is told', async (_what, bytes) => {
    const { timers, network, one } = await hardened();
    const stranger = await dialMember1(network, timers);
    stranger.stream.write(bytes);
    await timers.advance(3_000);
    expect(stranger.isClosed).toBe(true);
    const answers = messagesOf(Buffer.concat(stranger.chunks));
    expect(answers.filter(({ kind }) => kind !== 'refuse')).toEqual([]);
    expect(stranger.text).not.toContain('the-ensemble');
    expect(stranger.text).not.toContain('test');
    expect(one.events).toEqual(['connected 2 i2']);
  });

  it('that claims a member gets a challenge, and for a guess the reason and nothing else', async () => {
    const { timers, network, one } = await hardened();
    const stranger = await dialMember1(network, timers);
    stranger.stream.write(encodePeerFrame(CLAIM));
    await timers.advance(10);
    const codes = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    stranger.stream.write(encodePeerFrame({ kind: 'proof', ensembleId: 'the-ensemble', codes }));
    stranger.stream.write(encodePeerFrame(HELLO));
    await timers.advance(3_000);
    const answers = messagesOf(Buffer.concat(stranger.chunks)).map(({ kind }) => kind);
    expect(answers).toEqual(['challenge', 'refuse']);
    expect(one.events).toEqual(['connected 2 i2']);
  });

  it('that sends a member the bytes of a handshake it has recorded is refused', async () => {
    const { timers, network } = world();
    const taps = new TappedNetwork(network);
    const one = new Member({ id: 1, timers, network, security: REQUIRED });
    const two = new Member({ id: 2, timers, network: taps, security: REQUIRED });
    await one.listen();
    await two.listen();
    await timers.advance(50);
    expect(one.events).toEqual(['connected 2 i2']);
    network.crash('m2');
    await timers.advance(1_000);
    expect(taps.kindsTo('m1').slice(0, 3)).toEqual(['claim', 'proof', 'hello']);
    const replay = await dialMember1(network, timers);
    for (const bytes of taps.writtenTo('m1')) {
      replay.stream.write(bytes);
      await timers.advance(5);
    }
    await timers.advance(3_000);
    expect(one.events).toEqual(['connected 2 i2', 'disconnected 2']);
    expect(messagesOf(Buffer.concat(replay.chunks)).map(({ kind }) => kind)).toEqual([
      'challenge',
      'refuse',
    ]);
  });

  it('that passes a member’s proof on to another member is refused there', async () => {
    const { timers, network } = world();
    const one = new Member({ id: 1, timers, network, security: REQUIRED });
    await one.listen();
    // Member 3 dials member 2, at whose address somebody passes all on to member 1.
    let relayed = 0;
    await network.transport('m2').listen({ host: 'm2', port: PORT }, (near) => {
      void network
        .transport('relay')
        .dial({ host: 'm1', port: PORT }, 1_000)
        .then((far) => relay(near, far));
      relayed += 1;
    });
    const three = new Member({ id: 3, timers, network, security: REQUIRED });
    await three.listen();
    await timers.advance(500);
    expect(relayed).toBeGreaterThan(0);
    expect(three.events).toEqual(['connected 1 i1']);
    expect(one.events).toEqual(['connected 3 i3']);
  });

  it('cannot make a member hold more than a few connections, however it is answered', async () => {
    const { timers, network } = world();
    const options = { unprovenMax: 4 };
    const one = new Member({ id: 1, timers, network, security: REQUIRED, options });
    await one.listen();
    const strangers: FarEnd[] = [];
    for (let index = 0; index < 40; index++) {
      const stranger = await dialMember1(network, timers);
      strangers.push(stranger);
      // A third of them is refused, a third is challenged, and all stay connected.
      if (index % 3 === 0) stranger.stream.write(encodePeerFrame(HELLO));
      if (index % 3 === 1) stranger.stream.write(encodePeerFrame(CLAIM));
    }
    await timers.advance(10);
    expect(strangers.filter(({ isClosed }) => !isClosed).length).toBeLessThanOrEqual(4);
    await timers.advance(3_000);
    expect(strangers.every(({ isClosed }) => isClosed)).toBe(true);
  });

  it('that has been proved cannot speak as another member', async () => {
    const { timers, network } = world();
    const one = new Member({ id: 1, timers, network, security: REQUIRED });
    await one.listen();
    const three = new Member({
      id: 3,
      timers,
      security: REQUIRED,
      network: new TappedNetwork(network, (bytes) => {
        const isHello = messagesOf(bytes)[0]?.kind === 'hello';
        return isHello ? encodePeerFrame({ ...HELLO, id: 2 }) : bytes;
      }),
    });
    await three.listen();
    await timers.advance(500);
    expect(one.events).toEqual([]);
    expect(one.logged('peer.not_as_proven').length).toBeGreaterThan(0);
  });
});

async function hardened() {
  const found = await pairOf(REQUIRED, REQUIRED, 50);
  const identity = { ensembleId: 'the-ensemble', founded: true, level: 10 };
  found.one.identity = identity;
  return found;
}
