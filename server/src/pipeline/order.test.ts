// Tests the order in which one client sees replies and events, with commits that come late.
import {
  decode,
  encode,
  OpCode,
  PathRequest,
  SaslRequest,
  SetWatchesRequest,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble, taken } from '../simulated/pipeline/test-ensemble.js';

function dataOf(body: Uint8Array): string {
  return Buffer.from(body.subarray(4, 4 + Buffer.from(body).readInt32BE(0))).toString();
}
function sync(client: TestClient, path = '/'): number {
  return client.send(OpCode.sync, PathRequest, { path });
}

describe('pipelined requests of one session', () => {
  it('write, read, write, read: each read shows the write before it and not the one after', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.create('/a', { data: '0' });
    client.getData('/a');
    client.setData('/a', '1');
    client.getData('/a');
    ensemble.forward();
    expect(client.take()).toEqual([]);
    ensemble.apply(1, 1);
    expect(
      client.take().map(({ xid, body }) => [xid, body.length > 10 ? dataOf(body) : '']),
    ).toEqual([
      [1, ''],
      [2, '0'],
    ]);
    ensemble.apply(1, 1);
    const [, read] = client.take();
    expect(read === undefined ? '' : dataOf(read.body)).toBe('1');
  });

  it('a read with nothing before it is answered at once, though other sessions wait', () => {
    const ensemble = new TestEnsemble();
    const [one, other] = [ensemble.connect(), ensemble.connect()];
    one.create('/a');
    ensemble.forward();
    other.exists('/a');
    expect(other.takeSummary()).toEqual(['reply 1 -101']);
    ensemble.settle();
    expect(one.takeSummary()).toEqual(['reply 1 0']);
  });

  it('pings and what other members never see keep their place behind a write', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.create('/a');
    client.sendRaw(OpCode.ping, new Uint8Array(), -2);
    client.sendRaw(OpCode.sasl, encode(SaslRequest, { token: Buffer.from('x') }));
    ensemble.forward();
    expect(client.take()).toEqual([]);
    ensemble.apply();
    expect(client.takeSummary()).toEqual(['reply 1 0', 'reply -2 0', 'reply 2 0']);
    expect(client.state).toBe('open');
  });

  it('zxids in replies never fall', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const client = ensemble.connect(2);
    const writer = ensemble.connect(1);
    for (let round = 0; round < 20; round++) {
      writer.create(`/w${round}`);
      client.create(`/c${round}`);
      client.exists('/');
      ensemble.forward();
      client.exists('/');
      ensemble.apply(2, round % 3);
      ensemble.apply(1);
    }
    ensemble.settle();
    const zxids = client.take().map(({ zxid }) => Number(zxid));
    expect(zxids).toEqual([...zxids].sort((one, other) => one - other));
    expect(zxids.length).toBe(60);
  });

  it('a transaction of an earlier run of this member answers nobody', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.create('/a');
    ensemble.forward();
    ensemble.leader.pipeline.onClosed(client.id);
    ensemble.settle();
    expect(client.take()).toEqual([]);
    expect(ensemble.leader.state.tree.find('/a')).not.toBe(-1);
    expect(ensemble.leader.pipeline.outstanding).toBe(0);
  });
});

describe('thousands of pipelined requests', () => {
  it('are all answered in order, in whatever portions they are applied', () => {
    const ensemble = new TestEnsemble({ pipeline: { outstandingMax: 1e6 } });
    const client = ensemble.connect();
    const xids: number[] = [];
    client.create('/a');
    ensemble.settle();
    client.take();
    for (let round = 0; round < 2_000; round++) {
      xids.push(client.setData('/a', `${round}`), client.getData('/a'));
      if (round % 700 === 0) xids.push(sync(client));
    }
    const answered: number[] = [];
    for (let portion = 1; answered.length < xids.length && portion < 100; portion++) {
      ensemble.forward();
      ensemble.apply(1, portion * 7);
      for (const { xid, error } of client.take()) {
        expect(error).toBe(0);
        answered.push(xid);
      }
    }
    expect(answered).toEqual(xids);
    expect(ensemble.preparer.txns.overlay.size).toBe(0);
    expect(ensemble.leader.pipeline.outstanding).toBe(0);
  });
});

describe('sync', () => {
  it('is a barrier: nothing behind it is forwarded or run before it is answered', () => {
    const ensemble = new TestEnsemble();
    const { pipeline } = ensemble.leader;
    const client = ensemble.connect();
    sync(client);
    client.create('/a');
    client.getData('/a');
    const { syncs, requests } = taken(pipeline);
    const [asked] = syncs;
    expect(requests).toEqual([]);
    const zxid = ensemble.leader.state.lastZxid;
    pipeline.onSynced({ request: asked?.request ?? 0, zxid }, ensemble.nowMs);
    expect(client.takeSummary()).toEqual(['reply 1 0']);
    ensemble.settle();
    expect(client.takeSummary()).toEqual(['reply 2 0', 'reply 3 0']);
  });

  it('is answered only when the confirmed zxid is applied here', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const writer = ensemble.connect(1);
    const client = ensemble.connect(2);
    writer.create('/a');
    ensemble.forward();
    ensemble.apply(1);
    sync(client, '/a');
    client.exists('/a');
    ensemble.forward();
    expect(client.take()).toEqual([]);
    ensemble.apply(2);
    expect(client.takeSummary()).toEqual(['reply 1 0', 'reply 2 0']);
  });

  it('is not answered with an earlier one that is due before it', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const writer = ensemble.connect(1);
    const client = ensemble.connect(2);
    for (const path of ['/a', '/b']) {
      writer.create(path);
      ensemble.forward();
      ensemble.apply(1);
      sync(client, path);
      ensemble.forward();
    }
    client.exists('/b');
    expect(client.take()).toEqual([]);
    ensemble.apply(2, 1);
    expect(client.takeSummary()).toEqual(['reply 1 0']);
    ensemble.apply(2, 1);
    expect(client.takeSummary()).toEqual(['reply 2 0', 'reply 3 0']);
  });

  it('waits for an earlier write of its session, and answers its path', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.create('/a');
    sync(client, '/some/path');
    sync(client, '/other');
    client.create('/b');
    ensemble.forward();
    expect(client.take()).toEqual([]);
    ensemble.settle();
    const replies = client.take();
    expect(replies.map(({ xid, error }) => [xid, error])).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
      [4, 0],
    ]);
    expect(decode(PathRequest, replies[1]?.body ?? new Uint8Array()).path).toBe('/some/path');
  });

  it('with a malformed body is answered -5 at its place', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.create('/a');
    client.sendRaw(OpCode.sync, Buffer.from([0, 0]));
    ensemble.settle();
    expect(client.takeSummary()).toEqual(['reply 1 0', 'reply 2 -5']);
  });
});

describe('watch events', () => {
  it('come before the own reply and before every read that shows the change', () => {
    const ensemble = new TestEnsemble();
    const [one, other] = [ensemble.connect(), ensemble.connect()];
    one.create('/a');
    ensemble.settle();
    one.getData('/a', true);
    other.getData('/a', true);
    one.setData('/a', '1');
    other.exists('/a');
    one.getData('/a');
    ensemble.settle();
    other.exists('/a');
    expect(one.takeSummary()).toEqual([
      'reply 1 0',
      'reply 2 0',
      'event 3 /a',
      'reply 3 0',
      'reply 4 0',
    ]);
    expect(other.takeSummary()).toEqual(['reply 1 0', 'reply 2 0', 'event 3 /a', 'reply 3 0']);
  });

  it('carry the zxid of the transaction, and are counted', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.exists('/a', true);
    client.create('/a');
    ensemble.settle();
    const [, event, reply] = client.take();
    expect(event?.zxid).toBe(reply?.zxid);
    expect(client.stats.events).toBe(1);
  });

  it('never overtake the reply of the read that set the watch', () => {
    const ensemble = new TestEnsemble();
    const [one, other] = [ensemble.connect(), ensemble.connect()];
    one.create('/a');
    ensemble.settle();
    one.take();
    // The read waits behind a write; the change of another session is applied before that write.
    other.setData('/a', '1');
    ensemble.forward();
    one.create('/b');
    one.getData('/a', true);
    other.setData('/a', '2');
    ensemble.settle();
    const summary = one.takeSummary();
    expect(summary).toEqual(['reply 2 0', 'reply 3 0', 'event 3 /a']);
  });

  it('reads of what is missing set no watch, exists does', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.getData('/x', true);
    client.read(OpCode.getChildren, '/x', true);
    expect(ensemble.leader.pipeline.watches.watchCount).toBe(0);
    client.exists('/x', true);
    expect(ensemble.leader.pipeline.watches.watchCount).toBe(1);
  });

  it('watches of a connection that is gone are gone', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.exists('/x', true);
    ensemble.leader.pipeline.onClosed(client.id);
    expect(ensemble.leader.pipeline.watches.watchCount).toBe(0);
  });

  it('one delete tells a session with both watches once, and the parent after it', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.create('/a');
    client.getData('/a', true);
    client.read(OpCode.getChildren, '/a', true);
    client.read(OpCode.getChildren, '/', true);
    ensemble.settle();
    client.take();
    client.delete('/a');
    ensemble.settle();
    expect(client.takeSummary()).toEqual(['event 2 /a', 'event 4 /', 'reply 5 0']);
  });

  it('a failed multi fires nothing, a good one each operation in order', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.exists('/a', true);
    client.exists('/b', true);
    client.take();
    const bad =
      '0000000100ffffffff000000022f6100000000000000010000001f00000005776f726c640000000661';
    client.sendRaw(OpCode.multi, Buffer.from(bad, 'hex'));
    ensemble.settle();
    expect(client.takeSummary()).toEqual(['reply 3 -5']);
    client.create('/b');
    client.create('/a');
    ensemble.settle();
    expect(client.takeSummary()).toEqual(['event 1 /b', 'reply 4 0', 'event 1 /a', 'reply 5 0']);
  });
});

describe('setWatches', () => {
  it('tells what was missed before its reply, with zxid -1, and re-arms the rest', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    for (const path of ['/old', '/changed', '/parent', '/gone']) client.create(path);
    ensemble.settle();
    const relativeZxid = ensemble.leader.state.lastZxid;
    client.setData('/changed', '1');
    client.create('/parent/child');
    client.delete('/gone');
    client.create('/born');
    ensemble.settle();
    client.take();
    client.send(OpCode.setWatches, SetWatchesRequest, {
      relativeZxid,
      dataWatches: ['/old', '/changed', '/gone'],
      existWatches: ['/born', '/unborn'],
      childWatches: ['/old', '/parent', '/gone'],
    });
    const replies = client.take();
    expect(replies.map(({ zxid }) => zxid).slice(0, -1)).toEqual([-1, -1, -1, -1, -1]);
    client.setData('/old', 'x');
    client.create('/unborn');
    client.create('/old/child');
    ensemble.settle();
    expect(client.takeSummary()).toEqual([
      'event 3 /old',
      'reply 10 0',
      'event 1 /unborn',
      'reply 11 0',
      'event 4 /old',
      'reply 12 0',
    ]);
  });

  it('echoes xid -8 and waits for its place like every read', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.create('/a');
    const body = Buffer.concat([Buffer.alloc(8), Buffer.alloc(12)]);
    client.sendRaw(OpCode.setWatches, body, -8);
    expect(client.take()).toEqual([]);
    ensemble.settle();
    expect(client.takeSummary()).toEqual(['reply 1 0', 'reply -8 0']);
  });
});
