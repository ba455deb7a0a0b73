// Tests the bound of requests per second: whom it holds up, for how long, and whom not.
import { AuthPacket, encode, JuteWriter, OpCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const TICK_MS = 50;
const CERTIFICATE = [{ scheme: 'x509', id: 'CN=batch' }];

/** Sends as long as it is read from, at most `most`. Returns how many requests that were. */
function sendUntilHeld(client: TestClient, most = 1_000): number {
  let sent = 0;
  while (sent < most && client.holds.size === 0) {
    client.exists('/');
    sent += 1;
  }
  client.take();
  return sent;
}

function pass(ensemble: TestEnsemble, ms = TICK_MS): void {
  ensemble.nowMs += ms;
  for (const { pipeline } of ensemble.members) pipeline.onTick(ensemble.nowMs);
}

function limited(requestsPerSecondMax: number): TestEnsemble {
  return new TestEnsemble({ pipeline: { requestsPerSecondMax } });
}

it('is off unless it is configured', () => {
  const client = new TestEnsemble().connect();
  expect(sendUntilHeld(client)).toBe(1_000);
});

it('takes the requests of one second at once, and from then on as many as are configured', () => {
  const ensemble = limited(100);
  const client = ensemble.connect();
  // The handshake is one of them.
  expect(sendUntilHeld(client)).toBe(99);
  expect([...client.holds]).toEqual(['rate']);
  let sent = 0;
  for (let tick = 0; tick < 200; tick++) {
    pass(ensemble);
    sent += sendUntilHeld(client);
  }
  expect(sent).toBeGreaterThanOrEqual(990);
  expect(sent).toBeLessThanOrEqual(1_000);
  pass(ensemble, 60_000);
  expect(sendUntilHeld(client)).toBe(100);
});

it('counts a request once that came while the handshake was not answered', () => {
  const ensemble = limited(10);
  const client = ensemble.open();
  client.connect();
  for (let count = 0; count < 3; count++) client.exists('/');
  ensemble.settle();
  expect(client.takeFrames()).toHaveLength(4);
  // The handshake and the three requests have taken four of the ten tokens.
  expect(sendUntilHeld(client)).toBe(6);
});

it('holds up nobody else: another address, another certificate, a super user', () => {
  const ensemble = limited(10);
  const [busy, other] = [ensemble.connect(), ensemble.connect(1, '10.0.0.2')];
  const proven = ensemble.connect(1, '127.0.0.1', CERTIFICATE);
  sendUntilHeld(busy);
  expect(sendUntilHeld(other, 8)).toBe(8);
  expect(sendUntilHeld(proven, 8)).toBe(8);
  const admin = ensemble.connect(1, '10.0.0.3');
  const auth = Buffer.from('super:secret');
  admin.sendRaw(OpCode.auth, encode(AuthPacket, { type: 0, scheme: 'digest', auth }));
  expect(sendUntilHeld(admin)).toBe(1_000);
});

it('counts all connections of one certificate together, and serves them round-robin', () => {
  const ensemble = limited(20);
  const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'];
  const clients = addresses.map((address) => ensemble.connect(1, address, CERTIFICATE));
  for (const client of clients) sendUntilHeld(client);
  const sent = clients.map(() => 0);
  for (let tick = 0; tick < 400; tick++) {
    pass(ensemble);
    for (const [index, client] of clients.entries())
      sent[index] = (sent[index] ?? 0) + sendUntilHeld(client);
  }
  const all = sent.reduce((sum, one) => sum + one, 0);
  expect(all).toBeGreaterThan(390);
  expect(all).toBeLessThanOrEqual(400);
  expect(Math.max(...sent) - Math.min(...sent)).toBeLessThanOrEqual(2);
});

it('is not escaped by digests, by new connections or by other addresses of an IPv6 network', () => {
  const ensemble = limited(10);
  const first = ensemble.connect(1, '2001:db8::1');
  for (let count = 0; count < 3; count++) {
    const auth = Buffer.from(`user${count}:x`);
    first.sendRaw(OpCode.auth, encode(AuthPacket, { type: 0, scheme: 'digest', auth }));
  }
  sendUntilHeld(first);
  const next = ensemble.open(1, '2001:db8::2');
  expect([...next.holds]).toEqual(['rate']);
  ensemble.leader.pipeline.onClosed(first.id);
  expect([...ensemble.open(1, '2001:db8::3').holds]).toEqual(['rate']);
});

/** A client that waits for its turn behind 28 others of its address, and a place is a second. */
function longWaiting() {
  const ensemble = limited(1);
  const { pipeline } = ensemble.leader;
  ensemble.connect();
  const others = Array.from({ length: 28 }, () => ensemble.open());
  expect(others.every(({ holds }) => holds.has('rate'))).toBe(true);
  const client = ensemble.connect();
  expect([client.timeoutMs, pipeline.rates.waiting]).toEqual([10_000, 30]);
  pipeline.takeTouches();
  client.takeHeard();
  const connecting = new Set(others);
  /** When the session was heard from, while time passes. */
  const heardAtMs = (durationMs: number, atEachTick: () => void = () => undefined) => {
    const times: number[] = [];
    for (let ms = 0; ms < durationMs; ms += TICK_MS) {
      atEachTick();
      pass(ensemble);
      for (const one of connecting)
        if (!one.holds.has('rate') && connecting.delete(one)) one.connect();
      if (pipeline.takeTouches().includes(Number(client.session))) times.push(ensemble.nowMs);
    }
    return times;
  };
  return { ensemble, client, heardAtMs };
}

it('hears from a client that waits whenever bytes of it come, until its timeout is over', () => {
  const { client, heardAtMs } = longWaiting();
  const times = heardAtMs(25_000, () => {
    client.hasArrived = true;
  });
  expect(client.holds.has('rate')).toBe(true);
  expect(times.length).toBeGreaterThan(15);
  expect(Math.max(...times)).toBeLessThanOrEqual(10_000);
});

it('does not hear from a client that waits and sends nothing more', () => {
  const { client, heardAtMs } = longWaiting();
  expect(heardAtMs(25_000)).toEqual([]);
  expect(client.holds.has('rate')).toBe(true);
});

it('does not hear from a client because a request is taken in that came long before', () => {
  const ensemble = limited(1);
  const client = ensemble.connect();
  const { pipeline } = ensemble.leader;
  pipeline.takeTouches();
  client.takeHeard();
  for (let second = 0; second < 20; second++) {
    pass(ensemble, 1_000);
    if (!client.holds.has('rate')) client.deliverLate(pingFrame());
  }
  expect(client.takeFrames().length).toBeGreaterThan(5);
  expect(pipeline.takeTouches()).toEqual([]);
});

function pingFrame(): Uint8Array {
  const frame = new JuteWriter();
  frame.int(-2);
  frame.int(OpCode.ping);
  return frame.take();
}

it('keeps nothing of clients that are gone once their second is over', () => {
  const ensemble = limited(10);
  const client = ensemble.connect();
  sendUntilHeld(client);
  const { pipeline } = ensemble.leader;
  expect([pipeline.rates.waiting, pipeline.rates.pauses]).toEqual([1, 1]);
  pipeline.onClosed(client.id);
  expect(pipeline.rates.waiting).toBe(0);
  expect(pipeline.rates.clientCount).toBe(1);
  pass(ensemble, 1_000);
  expect(pipeline.rates.clientCount).toBe(0);
});

/** Makes 30 connections of one address, which send whenever they are read from. */
function busyAddress(ensemble: TestEnsemble): () => void {
  const all = Array.from({ length: 30 }, () => ensemble.connect());
  const send = () => {
    for (const one of all) if (one.state === 'open' && !one.holds.has('rate')) one.exists('/');
  };
  for (let tick = 0; tick < 40; tick++) {
    pass(ensemble);
    send();
  }
  return send;
}

/** Opens a connection of that address and waits until its first request may come. */
function openWhenAllowed(ensemble: TestEnsemble, send: () => void): TestClient {
  const client = ensemble.open();
  while (client.holds.has('rate')) {
    pass(ensemble);
    send();
  }
  return client;
}

function passBusily(ensemble: TestEnsemble, ticks: number, send: () => void): void {
  for (let tick = 0; tick < ticks; tick++) {
    pass(ensemble);
    send();
  }
}

it('reports a session as heard from whose handshake had to wait', () => {
  const ensemble = limited(100);
  const send = busyAddress(ensemble);
  const client = openWhenAllowed(ensemble, send);
  client.connect();
  passBusily(ensemble, 11, send);
  ensemble.leader.pipeline.takeTouches();
  ensemble.settle();
  client.takeConnectResponse();
  let isReported = false;
  for (let tick = 0; tick < 400 && !isReported; tick++) {
    passBusily(ensemble, 1, send);
    if (!client.holds.has('rate')) client.exists('/');
    isReported = ensemble.leader.pipeline.takeTouches().includes(Number(client.session));
  }
  expect(isReported).toBe(true);
});

it('keeps no session alive because a client without its password names it', () => {
  const ensemble = limited(100);
  const { pipeline } = ensemble.leader;
  const victim = ensemble.connect(1, '10.0.0.9');
  const send = busyAddress(ensemble);
  const stranger = openWhenAllowed(ensemble, send);
  pipeline.takeTouches();
  stranger.connect({ sessionId: victim.session, password: new Uint8Array(16).fill(7) });
  passBusily(ensemble, 11, send);
  expect(pipeline.takeTouches()).not.toContain(Number(victim.session));
});

it('lets clients in to be refused while nobody is served', () => {
  const ensemble = limited(10);
  const busy = ensemble.connect();
  while (busy.holds.size === 0) busy.exists('/');
  ensemble.leader.pipeline.stopServing();
  const next = ensemble.open();
  expect([...next.holds]).toEqual(['rate']);
  for (let tick = 0; tick < 100; tick++) pass(ensemble);
  expect([...next.holds]).toEqual([]);
  expect([...ensemble.open().holds]).toEqual([]);
});
