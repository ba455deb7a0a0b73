/**
 * Peer ports over the network in memory: one link per pair, hellos, refusals, bounds, reconnects.
 */
import { InvariantViolation, ProposalBatch, WIRE_VERSION_MAX } from '@rookery/protocol';
import { encodePeerFrame } from '@rookery/protocol/peer';
import { Packr } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { dialled } from '../simulated/net/fixtures.js';
import {
  dialMember1,
  HELLO,
  Member,
  OFFER,
  PORT,
  pair,
  VERSIONS,
  world,
} from '../simulated/net/peer-member.js';
import { ListenError } from './listen-error.js';

const LATER = { ...OFFER, wireMin: 90, release: '9.9', levelMax: 19, levelAgreed: 19 };

describe('peer links', () => {
  it('join each pair of three members once, in whatever order they start', async () => {
    const { timers, network } = world();
    const members = [3, 1, 2].map((id) => new Member({ id, timers, network }));
    for (const member of members) {
      await member.listen();
      await timers.advance(120);
    }
    await timers.advance(1_000);
    const events = members.map((member) => [...member.events].sort());
    expect(events).toEqual([
      ['connected 1 i1', 'connected 2 i2'],
      ['connected 2 i2', 'connected 3 i3'],
      ['connected 1 i1', 'connected 3 i3'],
    ]);
  });

  it('let pings, and nothing else, overtake what waits in the queue of the link', async () => {
    const { timers, one, two } = await pair();
    const batch = ProposalBatch.of([{ zxid: 1, previous: 0, body: new Uint8Array(200_000) }]);
    for (let round = 0; round < 5; round++) {
      one.port.send(2, one.linkTo(2), { kind: 'propose', batch });
      one.port.send(2, one.linkTo(2), { kind: 'ack', zxid: round });
    }
    one.port.flush();
    one.port.send(2, one.linkTo(2), { kind: 'ping', sent: 1, echo: 0 });
    expect(one.port.queuedBytes(2, one.linkTo(2))).toBeGreaterThan(900_000);
    one.port.flush();
    await timers.advance(20);
    const told = two.events.slice(1);
    expect(told.indexOf('ping from 1')).toBeLessThan(5);
    expect(told.filter((event) => event !== 'ping from 1')).toEqual(
      [0, 1, 2, 3, 4].flatMap((round) => ['propose from 1', `ack ${round} from 1`]),
    );
    expect(one.port.queuedBytes(2, one.linkTo(2))).toBe(0);
  });

  it('are given nothing that the other side would refuse as too long', async () => {
    const { one } = await pair({ frameBytesMax: 5_000 });
    const of = (bytes: number) =>
      ProposalBatch.of([{ zxid: 1, previous: 0, body: new Uint8Array(bytes) }]);
    one.port.send(2, one.linkTo(2), { kind: 'propose', batch: of(4_900) });
    const tooLong = () => one.port.send(2, one.linkTo(2), { kind: 'propose', batch: of(5_000) });
    expect(tooLong).toThrow(InvariantViolation);
  });

  it('carry messages both ways in order, one write per flush', async () => {
    const { timers, one, two } = await pair();
    one.ack(2, 1);
    one.ack(2, 2);
    two.ack(1, 3);
    await timers.advance(5);
    expect(two.events.length).toBe(1);
    one.port.flush();
    two.port.flush();
    await timers.advance(5);
    expect(two.events.slice(1)).toEqual(['ack 1 from 1', 'ack 2 from 1']);
    expect(one.events.slice(1)).toEqual(['ack 3 from 2']);
  });

  it('deliver nothing after disconnect(), which is reported once and later, then come back', async () => {
    const { timers, one, two } = await pair();
    two.ack(1, 1);
    two.port.flush();
    one.port.disconnect(2, one.linkTo(2), 'silent');
    expect(one.events).toEqual(['connected 2 i2']);
    await timers.advance(10);
    expect(one.events).toEqual(['connected 2 i2', 'disconnected 2']);
    await timers.advance(60);
    expect(one.events.slice(2)).toEqual(['connected 2 i2']);
    expect(two.events).toEqual(['connected 1 i1', 'disconnected 1', 'connected 1 i1']);
  });

  it('deliver nothing behind the message that made the driver disconnect', async () => {
    const { timers, one, two } = await pair();
    two.port.send(1, two.linkTo(1), { kind: 'commit', zxid: 1 });
    two.ack(1, 2);
    two.port.flush();
    two.ack(1, 3);
    two.port.flush();
    await timers.advance(10);
    expect(one.events).toEqual(['connected 2 i2', 'commit from 2', 'disconnected 2']);
  });

  it('drop what is sent on a link that is gone', async () => {
    const { timers, one, two } = await pair();
    const old = one.linkTo(2);
    one.port.disconnect(2, old, 'test');
    await timers.advance(100);
    one.port.send(2, old, { kind: 'ack', zxid: 9 });
    one.port.flush();
    await timers.advance(10);
    expect(two.events.filter((event) => event.startsWith('ack'))).toEqual([]);
  });

  it('come back after a crash, with the new instance', async () => {
    const { timers, network, one } = await pair();
    network.crash('m2');
    await timers.advance(10);
    expect(one.events.at(-1)).toBe('disconnected 2');
    const again = new Member({ id: 2, instance: 'fresh', timers, network });
    await again.listen();
    await timers.advance(20);
    expect(one.events.at(-1)).toBe('connected 2 fresh');
  });

  it('survive a short cut, and bring what was on its way when it heals', async () => {
    const { timers, network, one, two } = await pair();
    network.cut('m1', 'm2');
    one.ack(2, 5);
    one.port.flush();
    await timers.advance(200);
    expect(two.events.length).toBe(1);
    network.heal('m1', 'm2');
    await timers.advance(5);
    expect(two.events.at(-1)).toBe('ack 5 from 1');
  });

  it('are replaced by a new one of the same process, the old one ending first', async () => {
    const { timers, network, one, two } = await pair();
    network.cut('m1', 'm2');
    two.port.disconnect(1, two.linkTo(1), 'no answer');
    await timers.advance(300);
    expect(one.events.length).toBe(1);
    network.heal('m1', 'm2');
    await timers.advance(1_000);
    expect(one.events).toEqual(['connected 2 i2', 'disconnected 2', 'connected 2 i2']);
    expect(two.events).toEqual(['connected 1 i1', 'disconnected 1', 'connected 1 i1']);
  });

  it('are dropped with one log line when more waits than their queue may hold', async () => {
    const { timers, network, one } = await pair({ queueBytesMax: 200_000 });
    network.cut('m1', 'm2');
    const body = new Uint8Array(30_000);
    for (let index = 1; index <= 20; index++) {
      const batch = ProposalBatch.of([{ zxid: index, previous: index - 1, body }]);
      one.port.send(2, one.linkTo(2), { kind: 'propose', batch });
      one.port.flush();
    }
    await timers.advance(5);
    expect(one.events).toEqual(['connected 2 i2', 'disconnected 2']);
    expect(one.logged('peer.queue_overflow').length).toBe(1);
  });
});

describe('a hello', () => {
  it('of another founded ensemble is refused, with one log line on each side', async () => {
    const { timers, network } = world();
    const one = new Member({ id: 1, timers, network });
    const two = new Member({ id: 2, timers, network });
    one.identity = { ensembleId: 'aaaa', founded: true, level: 10 };
    two.identity = { ensembleId: 'bbbb', founded: true, level: 10 };
    await one.listen();
    await two.listen();
    await timers.advance(5_000);
    expect([one.events, two.events]).toEqual([[], []]);
    const [refused] = one.logged('peer.refused');
    expect(refused?.['reason']).toMatch(/2 belongs to ensemble bbbb, member 1 to ensemble aaaa/);
    expect(one.logged('peer.refused').length).toBe(1);
    expect(two.logged('peer.refused_by').map((line) => line['reason'])).toEqual([
      refused?.['reason'],
    ]);
  });

  it('of a member that has not founded or joined yet is welcome', async () => {
    const { timers, network } = world();
    const one = new Member({ id: 1, timers, network });
    const two = new Member({ id: 2, timers, network });
    one.identity = { ensembleId: 'aaaa', founded: true, level: 10 };
    await one.listen();
    await two.listen();
    await timers.advance(20);
    expect(two.events).toEqual(['connected 1 i1']);
  });

  it('of a second process with a live id is refused, and the first keeps its link', async () => {
    const { timers, network, one, two } = await pair();
    const rival = new Member({ id: 2, host: 'elsewhere', instance: 'rival', timers, network });
    await rival.listen();
    for (let beat = 0; beat < 20; beat++) {
      two.ack(1, beat);
      two.port.flush();
      await timers.advance(100);
    }
    expect(rival.events).toEqual([]);
    expect(one.events.filter((event) => !event.startsWith('ack'))).toEqual(['connected 2 i2']);
    expect(one.logged('peer.refused')[0]?.['reason']).toMatch(/second process with the id 2/);
    expect(rival.logged('peer.refused_by').length).toBe(1);
  });

  it('of a restarted member replaces a link that has been silent for the peer timeout', async () => {
    const { timers, network, one } = await pair();
    await timers.advance(600);
    const restarted = new Member({ id: 2, host: 'm2b', instance: 'next', timers, network });
    await restarted.listen();
    await timers.advance(20);
    expect(one.events).toEqual(['connected 2 i2', 'disconnected 2', 'connected 2 next']);
  });

  it.each([
    ['a later version', { version: 99, offer: LATER }, /runs release 9.9, which speaks peer pro/],
    ['a stranger', { id: 9 }, /member 9 is not in the configuration/],
    ['one who dialled the wrong address', { to: 3 }, /hello is for member 3/],
  ])('of %s is answered with the reason', async (_name, changes, reason) => {
    const { timers, network, one } = await pair();
    const stranger = await dialMember1(network, timers);
    stranger.stream.write(encodePeerFrame({ ...HELLO, ...changes }));
    await timers.advance(10);
    expect(stranger.text).toMatch(reason);
    expect(stranger.hasEnded).toBe(true);
    expect(one.logged('peer.refused').length).toBe(1);
    expect(one.events).toEqual(['connected 2 i2']);
  });
});

describe('two releases', () => {
  const wire = { min: WIRE_VERSION_MAX + 1, max: WIRE_VERSION_MAX + 2 };
  const later = { ...VERSIONS, wire, release: 'later', levelMax: 13 };

  it('without a wire version in common refuse each other, and both name both', async () => {
    const { timers, network } = world();
    const one = new Member({ id: 1, timers, network });
    const two = new Member({ id: 2, timers, network, options: { versions: later } });
    await one.listen();
    await two.listen();
    await timers.advance(3_000);
    expect([one.events, two.events]).toEqual([[], []]);
    for (const member of [one, two]) {
      const lines = [...member.logged('peer.refused'), ...member.logged('peer.refused_by')];
      const reasons = lines.map((line) => line['reason']);
      expect(reasons.length).toBeGreaterThan(0);
      for (const reason of reasons) expect(reason).toMatch(/release (later|test).*release /);
    }
  });

  it('speak the highest version that both know', async () => {
    const { timers, network } = world();
    const wire = { min: 6, max: 99 };
    const one = new Member({ id: 1, timers, network });
    const two = new Member({ id: 2, timers, network, options: { versions: { ...later, wire } } });
    await one.listen();
    await two.listen();
    await timers.advance(20);
    const versions = [one, two].map((member) => member.logged('peer.connected')[0]?.['version']);
    expect(versions).toEqual([WIRE_VERSION_MAX, WIRE_VERSION_MAX]);
    expect(one.logged('peer.connected')[0]?.['release']).toBe('later');
  });

  it('refuse each other when the ensemble of one is at a level that the other does not know', async () => {
    const { timers, network } = world();
    const one = new Member({ id: 1, timers, network });
    const versions = { ...later, wire: VERSIONS.wire };
    const two = new Member({ id: 2, timers, network, options: { versions } });
    two.identity = { ensembleId: 'e', founded: true, level: 13 };
    await one.listen();
    await two.listen();
    await timers.advance(1_000);
    expect([one.events, two.events]).toEqual([[], []]);
    const reasons = [one, two].flatMap((member) =>
      [...member.logged('peer.refused'), ...member.logged('peer.refused_by')].map(
        (line) => line['reason'],
      ),
    );
    for (const reason of reasons) expect(reason).toMatch(/level 13, .* knows levels up to 11/);
    for (const member of [one, two]) {
      const lines = [...member.logged('peer.refused'), ...member.logged('peer.refused_by')];
      expect(lines.length).toBeGreaterThan(0);
    }
  });

  it('of which one is from before 0.3.0 refuse each other, and ours says how data moves', async () => {
    const { timers, network, one } = await pair();
    const old = await dialMember1(network, timers);
    const packr = new Packr({ useRecords: false });
    const offer = [
      ['wireMin', 7],
      ['release', '0.2.0'],
      ['level', 6],
      ['levelMax', 6],
    ];
    const payload = packr.pack([25, 17, 3, 1, 'x', '', false, offer]);
    const length = Buffer.alloc(4);
    length.writeInt32BE(payload.length);
    old.stream.write(Buffer.concat([length, payload]));
    await timers.advance(10);
    expect(old.text).toMatch(/member 3 runs release 0\.2\.0, which speaks peer protocols 7 to 17/);
    expect(old.text).toMatch(
      /they cannot work together; data of a release before 0\.3\.0 moves by/,
    );
    expect(one.logged('peer.refused').length).toBe(1);
    expect(one.events).toEqual(['connected 2 i2']);
  });
});

describe('a peer that is no peer', () => {
  it.each([
    ['text', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a frame of garbage', Buffer.from('\0\0\0\x07garbage')],
    ['a huge length', Buffer.from([0x00, 0xff, 0xff, 0xff])],
    ['a message before the hello', encodePeerFrame({ kind: 'ack', zxid: 1 })],
  ])('that sends %s is closed with one log line', async (_name, bytes) => {
    const { timers, network, one } = await pair();
    const stranger = await dialMember1(network, timers);
    stranger.stream.write(bytes);
    await timers.advance(10);
    expect(stranger.isClosed).toBe(true);
    expect(one.logged('peer.garbage').length).toBe(1);
    expect(one.events).toEqual(['connected 2 i2']);
  });

  it('that dials with TLS hears bytes that are none, and the log says what to do', async () => {
    const { timers, network, one } = await pair();
    const dialler = await dialMember1(network, timers);
    dialler.stream.write(Buffer.from('160301012401000120030380664683f4', 'hex'));
    await timers.advance(10);
    expect(dialler.text).toContain('this port speaks no TLS');
    const [line] = one.logged('peer.garbage');
    expect(line?.['problem']).toBe(
      'what came is a TLS handshake, and this port speaks no TLS: set peerAuth.tls in the file of ' +
        'this member',
    );
    expect(one.events).toEqual(['connected 2 i2']);
  });

  it('that says nothing is closed in time, or at once when too many have come since', async () => {
    const { timers, network, one } = await pair({ unprovenMax: 2 });
    const silent = [];
    for (let index = 0; index < 3; index++) silent.push(await dialMember1(network, timers));
    await timers.advance(5);
    expect(silent.map((far) => far.isClosed)).toEqual([true, false, false]);
    await timers.advance(3_000);
    expect(silent.map((far) => far.isClosed)).toEqual([true, true, true]);
    expect(one.logged('peer.hello_timeout').length).toBe(2);
    expect(one.logged('peer.too_many_unproven').length).toBe(1);
  });

  it('keeps its place while another address opens as many as it likes', async () => {
    const { timers, network, one } = await pair({ unprovenMax: 8 });
    const to = { host: 'm1', port: PORT };
    const slow = await dialled(network, timers, { to, from: 'elsewhere' });
    for (let index = 0; index < 50; index++) await dialMember1(network, timers);
    await timers.advance(5);
    expect(slow.isClosed).toBe(false);
    expect(one.logged('peer.too_many_unproven').length).toBe(1);
  });

  it('that come in a storm are told of at most once a second, with their number', async () => {
    const { timers, network, one } = await pair({ unprovenMax: 1 });
    await dialMember1(network, timers);
    for (let index = 0; index < 50; index++) await dialMember1(network, timers);
    const lines = () => one.logged('peer.too_many_unproven').map(({ leftOut }) => leftOut);
    expect(lines()).toEqual([undefined]);
    await timers.advance(1_000);
    expect(lines()).toEqual([undefined, 48]);
  });

  it('keeps no member from joining, however many come again as soon as they are dropped', async () => {
    const { timers, network, one } = await pair({ unprovenMax: 8 });
    network.crash('m2');
    let strangers = 0;
    const comeAgain = async (): Promise<void> => {
      strangers += 1;
      const far = await dialMember1(network, timers);
      while (!far.isClosed) await timers.advance(1);
      if (strangers < 200) await comeAgain();
    };
    void Promise.all(Array.from({ length: 12 }, comeAgain));
    await timers.advance(20);
    const again = new Member({ id: 2, instance: 'fresh', timers, network });
    await again.listen();
    await timers.advance(1_000);
    expect(strangers).toBeGreaterThan(20);
    expect(one.events.at(-1)).toBe('connected 2 fresh');
  });
});

describe('the peer port', () => {
  it('names the port and what to do when it is taken', async () => {
    const { timers, network } = await pair();
    const second = new Member({ id: 1, timers, network });
    const error = await second.listen().catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ListenError);
    expect(String(error)).toMatch(/peer port 2881 on m1: it is in use .* peerPort/);
  });

  it('is not opened by a standalone server', async () => {
    const { timers, network } = world();
    const alone = new Member({ id: 1, timers, network, options: { peers: new Map() } });
    await alone.listen();
    const refused = network.transport('x').dial({ host: 'm1', port: PORT }, 1000);
    refused.catch(() => {});
    await timers.advance(5);
    await expect(refused).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('reports every link and stays silent after it closed', async () => {
    const { timers, one, two } = await pair();
    await two.port.close();
    await timers.advance(2_000);
    expect(one.events).toEqual(['connected 2 i2', 'disconnected 2']);
    expect(two.events).toEqual(['connected 1 i1', 'disconnected 1']);
  });
});
