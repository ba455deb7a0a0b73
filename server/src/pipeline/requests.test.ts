// Tests requests that are malformed, and clients that ask for too much.
import { AuthPacket, encode, OpCode, PathRequest } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { resume, TestEnsemble, taken } from '../simulated/pipeline/test-ensemble.js';

describe('bad requests', () => {
  it('a malformed read is answered -5 and sets no watch', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.sendRaw(OpCode.getData, Buffer.from('000000022f', 'hex'));
    client.sendRaw(OpCode.exists, Buffer.from('000000022f61', 'hex'));
    client.sendRaw(OpCode.setWatches, Buffer.from('00', 'hex'));
    expect(client.takeSummary()).toEqual(['reply 1 -5', 'reply 2 -5', 'reply 3 -5']);
    expect(ensemble.leader.pipeline.watches.watchCount).toBe(0);
    expect(client.state).toBe('open');
  });

  it('a malformed write is answered -5 with a zxid of its own', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.sendRaw(OpCode.create, Buffer.from('00000003', 'hex'));
    ensemble.settle();
    expect(client.takeOne()).toMatchObject({ error: -5, zxid: 0x1_0000_0002 });
  });

  it('exists of a path with NUL is a bad argument, every other odd path is no node', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.exists('/a\0');
    client.exists('a');
    client.getData('/a//b');
    client.getData('');
    expect(client.takeSummary()).toEqual([
      'reply 1 -8',
      'reply 2 -101',
      'reply 3 -101',
      'reply 4 -101',
    ]);
  });

  for (const opcode of [77, 0, OpCode.check, OpCode.deleteContainer, OpCode.createSession, -1]) {
    it(`opcode ${opcode} is answered -6 after what is pending, and the connection ends`, () => {
      const ensemble = new TestEnsemble();
      const client = ensemble.connect();
      client.create('/a');
      client.sendRaw(opcode, new Uint8Array());
      client.create('/ignored');
      ensemble.forward();
      expect(client.state).toBe('open');
      ensemble.settle();
      expect(client.takeSummary()).toEqual(['reply 1 0', 'reply 2 -6']);
      expect(client.state).toBe('ended');
      expect(ensemble.leader.state.tree.find('/ignored')).toBe(-1);
    });
  }

  it('a frame without a whole header closes the connection', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.sendFrame(Buffer.alloc(7));
    expect(client.state).toBe('closed');
  });
});

describe('an answer is counted with the time of the turn in which it is written', () => {
  const timesOf = (client: TestClient) =>
    client.stats.replies.map(({ operation, latencyMs, nowMs }) => [operation, latencyMs, nowMs]);

  it('when a sync is confirmed, together with the read behind it', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.stats.replies.length = 0;
    client.send(OpCode.sync, PathRequest, { path: '/' });
    client.exists('/a');
    ensemble.nowMs += 250;
    ensemble.forward();
    expect(timesOf(client)).toEqual([
      ['SYNC', 250, ensemble.nowMs],
      ['EXIS', 250, ensemble.nowMs],
    ]);
  });

  it('when what a confirmed sync waits for is applied, be it the write of another member', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const writer = ensemble.connect(1);
    const client = ensemble.connect(2);
    client.stats.replies.length = 0;
    writer.create('/a');
    ensemble.forward();
    client.send(OpCode.sync, PathRequest, { path: '/' });
    client.exists('/a');
    ensemble.forward();
    expect(timesOf(client)).toEqual([]);
    ensemble.nowMs += 250;
    ensemble.apply(2);
    expect(timesOf(client)).toEqual([
      ['SYNC', 250, ensemble.nowMs],
      ['EXIS', 250, ensemble.nowMs],
    ]);
  });

  it('when the leader answers for a session that continues here', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const second = resume(ensemble, 2, ensemble.connect(1));
    ensemble.nowMs += 250;
    ensemble.forward();
    expect(timesOf(second)).toEqual([['SESS', 0, ensemble.nowMs]]);
  });
});

describe('backpressure', () => {
  it('a client with too many requests pending is held, and released at half of it', () => {
    const ensemble = new TestEnsemble({ pipeline: { outstandingMax: 8 } });
    const client = ensemble.connect();
    for (let index = 0; index < 4; index++) client.create(`/n${index}`);
    expect([...client.holds]).toEqual(['outstanding']);
    expect(client.stats.outstanding).toBe(4);
    ensemble.forward();
    ensemble.apply(1, 1);
    expect(client.holds.size).toBe(1);
    ensemble.apply(1, 1);
    expect(client.holds.size).toBe(0);
  });

  it('when the whole member is full, whoever asks is held, until half is answered', () => {
    const ensemble = new TestEnsemble({ pipeline: { outstandingMax: 8 } });
    const [one, other] = [ensemble.connect(), ensemble.connect()];
    for (let index = 0; index < 8; index++) one.create(`/n${index}`);
    other.create('/other');
    expect([one.holds.size, other.holds.size]).toEqual([1, 1]);
    ensemble.forward();
    ensemble.apply(1, 4);
    expect([one.holds.size, other.holds.size]).toEqual([1, 1]);
    // Four are left, three of the same client: more than its share while another one asks too.
    ensemble.apply(1, 1);
    expect([one.holds.size, other.holds.size]).toEqual([1, 0]);
    ensemble.apply(1, 2);
    expect(one.holds.size).toBe(0);
    ensemble.settle();
    expect(ensemble.leader.pipeline.outstanding).toBe(0);
  });

  it('a client is held before it takes the room of those who have nothing pending', () => {
    const ensemble = new TestEnsemble({ pipeline: { outstandingMax: 12 } });
    const [one, two, three] = [ensemble.connect(), ensemble.connect(), ensemble.connect()];
    for (const [client, share] of [
      [one, 6],
      [two, 4],
      [three, 2],
    ] as const) {
      for (let index = 1; index <= share; index++) {
        expect(client.holds.size, `before request ${index}`).toBe(0);
        client.create(`/${client.id}-${index}`);
      }
      expect(client.holds.size).toBe(1);
    }
    ensemble.settle();
    expect([one, two, three].map((client) => client.holds.size)).toEqual([0, 0, 0]);
  });

  it('when the bytes are too many, everybody is held, those who come meanwhile too', () => {
    const ensemble = new TestEnsemble({ pipeline: { outstandingBytesMax: 1000 } });
    const [one, silent] = [ensemble.connect(), ensemble.connect()];
    const late = ensemble.open();
    late.connect();
    one.create('/big', { data: 'x'.repeat(2000) });
    expect([one.holds.size, silent.holds.size]).toEqual([1, 1]);
    ensemble.forward();
    ensemble.apply(1, 1);
    expect([...late.holds]).toEqual(['outstanding']);
    ensemble.settle();
    expect([one, silent, late].map((client) => client.holds.size)).toEqual([0, 0, 0]);
  });

  it('identities count: each request takes those of its connection along', () => {
    const ensemble = new TestEnsemble({ pipeline: { outstandingBytesMax: 45_000 } });
    const [one, plain] = [ensemble.connect(), ensemble.connect(1, '10.0.0.2')];
    const auth = Buffer.from(`${'\u4e00'.repeat(1_000)}:`);
    one.sendRaw(OpCode.auth, encode(AuthPacket, { type: 0, scheme: 'digest', auth }));
    expect(one.takeOne().error).toBe(0);
    for (let index = 0; index < 100; index++) plain.delete('/none');
    expect(plain.holds.size).toBe(0);
    one.delete('/none');
    one.delete('/none');
    expect([one.holds.size, plain.holds.size]).toEqual([0, 0]);
    one.delete('/none');
    expect([one.holds.size, plain.holds.size]).toEqual([1, 0]);
    ensemble.settle();
    expect(one.holds.size).toBe(0);
    expect(ensemble.leader.pipeline.outstanding).toBe(0);
  });

  it('what waits of a client that goes away makes room for the others at once', () => {
    const ensemble = new TestEnsemble({ pipeline: { outstandingBytesMax: 1000 } });
    const [one, other] = [ensemble.connect(), ensemble.connect()];
    one.send(OpCode.sync, PathRequest, { path: '/' });
    one.create('/big', { data: 'x'.repeat(2000) });
    expect(other.holds.size).toBe(1);
    ensemble.leader.pipeline.onClosed(one.id);
    expect(other.holds.size).toBe(0);
    expect(ensemble.leader.pipeline.outstanding).toBe(0);
  });

  it('what the leader has of a client that went away counts until it is applied', () => {
    const ensemble = new TestEnsemble({ pipeline: { outstandingBytesMax: 1000 } });
    const [one, other] = [ensemble.connect(), ensemble.connect()];
    one.create('/big', { data: 'x'.repeat(2000) });
    ensemble.leader.pipeline.onClosed(one.id);
    const again = ensemble.open();
    again.connect();
    ensemble.forward();
    // The write, and the handshake of the client that came again.
    expect([other.holds.size, ensemble.leader.pipeline.outstanding]).toEqual([1, 2]);
    ensemble.settle();
    expect([other.holds.size, ensemble.leader.pipeline.outstanding]).toEqual([0, 0]);
    expect(again.holds.size).toBe(0);
  });

  it('what the leader refuses counts until it says so', () => {
    const ensemble = new TestEnsemble({ size: 2, pipeline: { outstandingBytesMax: 1000 } });
    const [one, other] = [ensemble.connect(2), ensemble.connect(2)];
    const { pipeline } = ensemble.member(2);
    // It has moved elsewhere before its write reaches the leader.
    one.create('/refused', { data: 'x'.repeat(2000) });
    resume(ensemble, 1, one);
    const [attach] = taken(ensemble.leader.pipeline).attaches;
    if (attach === undefined) throw new Error('an attach was asked for');
    ensemble.preparer.onAttach(1, attach, ensemble.time);
    pipeline.onClosed(one.id);
    expect([other.holds.size, pipeline.outstanding]).toEqual([1, 1]);
    ensemble.settle();
    expect([other.holds.size, pipeline.outstanding]).toEqual([0, 0]);
    expect(ensemble.leader.state.tree.find('/refused')).toBe(-1);
  });

  it('nothing counts any more when the role ends', () => {
    const ensemble = new TestEnsemble({ pipeline: { outstandingBytesMax: 1000 } });
    const { pipeline } = ensemble.leader;
    const one = ensemble.connect();
    one.create('/big', { data: 'x'.repeat(2000) });
    pipeline.onClosed(one.id);
    expect(pipeline.outstanding).toBe(1);
    pipeline.stopServing();
    expect(pipeline.outstanding).toBe(0);
    pipeline.startServing();
  });
});
