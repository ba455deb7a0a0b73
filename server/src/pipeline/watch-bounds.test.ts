// Tests requests for more watches than a connection or a member may have.
import {
  AddWatchRequest,
  ErrorCode,
  GetChildrenPageRequest,
  OpCode,
  SetWatches2Request,
  SetWatchesRequest,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { resume, TestEnsemble } from '../simulated/pipeline/test-ensemble.js';
import { watchBytesOf } from '../state/watched-paths.js';

const { ok, noNode, systemError } = ErrorCode;
/** All paths here are as long as this one. */
const COST = watchBytesOf('/w0');

/** The watches that a connection, and each member, may have. */
function ensembleOf(watcher: number, all: number, size = 1): TestEnsemble {
  const watchLimits = { watcherBytesMax: watcher * COST, bytesMax: all * COST };
  return new TestEnsemble({ size, pipeline: { watchLimits } });
}
function watchMissing(client: TestClient, ...numbers: number[]): number[] {
  return numbers.map((number) => {
    client.exists(`/w${number}`, true);
    return client.takeOne().error;
  });
}
function setWatches(client: TestClient, count: number): void {
  const existWatches = Array.from({ length: count }, (_, index) => `/w${index}`);
  const none = { dataWatches: [], childWatches: [] };
  client.send(OpCode.setWatches, SetWatchesRequest, { relativeZxid: 1, existWatches, ...none });
}

describe('a read with a watch that there is no room for', () => {
  it('is answered -1 without a body, sets nothing, and the connection stays', () => {
    const ensemble = ensembleOf(2, 100);
    const client = ensemble.connect();
    client.create('/ww');
    ensemble.settle();
    client.take();
    expect(watchMissing(client, 0, 1, 2)).toEqual([noNode, noNode, systemError]);
    client.getData('/ww', true);
    client.read(OpCode.getChildren, '/ww', true);
    client.read(OpCode.getChildren2, '/ww', true);
    client.send(OpCode.addWatch, AddWatchRequest, { path: '/ww', mode: 0 });
    client.send(OpCode.addWatch, AddWatchRequest, { path: '/ww', mode: 1 });
    const page = { path: '/ww', startAfter: '', limit: 1, watch: true };
    client.send(OpCode.getChildrenPage, GetChildrenPageRequest, page);
    const replies = client.take();
    expect(replies.map(({ error }) => error)).toEqual(new Array(6).fill(systemError));
    expect(replies.map(({ body }) => body.length)).toEqual(new Array(6).fill(0));
    expect(ensemble.leader.pipeline.watches.watchCount).toBe(2);
    client.getData('/ww');
    expect(client.takeOne().error).toBe(ok);
    // Watches that are set already cost nothing more.
    expect(watchMissing(client, 0, 1)).toEqual([noNode, noNode]);
  });

  it('is served again once a watch has fired', () => {
    const ensemble = ensembleOf(1, 100);
    const client = ensemble.connect();
    expect(watchMissing(client, 0, 1)).toEqual([noNode, systemError]);
    client.create('/w0');
    ensemble.settle();
    expect(client.takeSummary()).toEqual(['event 1 /w0', expect.stringMatching(/^reply \d+ 0$/)]);
    expect(watchMissing(client, 1)).toEqual([noNode]);
  });

  it('is refused to one client because of others only when the member is full', () => {
    const ensemble = ensembleOf(2, 3);
    const [first, second] = [ensemble.connect(), ensemble.connect()];
    expect(watchMissing(first, 0, 1, 2)).toEqual([noNode, noNode, systemError]);
    expect(watchMissing(second, 0, 1)).toEqual([noNode, systemError]);
    ensemble.leader.pipeline.onClosed(first.id);
    expect(watchMissing(second, 1)).toEqual([noNode]);
  });
});

describe('a client that holds most of the watches of a member', () => {
  const full = 60;
  /** No path comes twice. All have three letters, as `COST` says. */
  let number = 0;
  function nextPath(): string {
    number += 1;
    return `/${number.toString(36).padStart(2, '_')}`;
  }
  function watchNext(client: TestClient): number {
    client.exists(nextPath(), true);
    return client.takeOne().error;
  }
  /** Watches as much as the client is allowed to. */
  function fill(client: TestClient): void {
    for (let code: number = noNode; code === noNode; ) code = watchNext(client);
  }

  it.each([
    ['from other addresses', '10.0.0.1', '10.0.0.2', '10.0.0.3'],
    ['from the same address', '10.0.0.1', '10.0.0.1', '10.0.0.1'],
    ['from the same network of IPv6', '2001:db8::1', '2001:db8::2', 'fd00::1'],
  ])('gives way to small clients: %s', (_, first, second, third) => {
    const ensemble = ensembleOf(full / 2, full);
    const { pipeline } = ensemble.leader;
    const attackers = [ensemble.connect(1, first), ensemble.connect(1, second)];
    for (const attacker of attackers) fill(attacker);
    const client = ensemble.connect(1, third);
    setWatches(client, 3);
    expect(client.takeOne().error).toBe(ok);
    pipeline.endTurn();
    expect(client.state).toBe('open');
    expect(attackers.map(({ state }) => state).sort()).toEqual(['closed', 'open']);
    expect([...pipeline.watches.pathsOf('data', client.id)]).toEqual(['/w0', '/w1', '/w2']);
    // The one that was closed comes back and cannot close the small one.
    const again = ensemble.connect(1, first);
    fill(again);
    pipeline.endTurn();
    expect(client.state).toBe('open');
  });

  it('has no watch from the moment on at which it gives way, and gets none', () => {
    const ensemble = ensembleOf(full, full);
    const attacker = ensemble.connect(1, '10.0.0.1');
    fill(attacker);
    const client = ensemble.connect(1, '10.0.0.2');
    expect(watchMissing(client, 0)).toEqual([noNode]);
    expect(watchMissing(attacker, 1)).toEqual([systemError]);
    expect(ensemble.leader.pipeline.watches.watchCount).toBe(1);
    ensemble.leader.pipeline.endTurn();
    expect(attacker.state).toBe('closed');
  });

  it('is counted with the other connections of its address, and of its user', () => {
    const user = [{ scheme: 'x509', id: 'CN=greedy' }];
    for (const proven of [[], user]) {
      const ensemble = ensembleOf(10, full);
      const many = Array.from({ length: 6 }, (_, index) =>
        ensemble.connect(1, proven.length === 0 ? '10.0.0.1' : `10.0.1.${index}`, proven),
      );
      for (const one of many) fill(one);
      const client = ensemble.connect(1, '10.0.0.2');
      // As many as one of the others has: by itself none of them is larger.
      for (let at = 0; at < 10; at++) expect(watchMissing(client, at)).toEqual([noNode]);
      ensemble.leader.pipeline.endTurn();
      expect(client.state).toBe('open');
      expect(many.filter(({ state }) => state === 'closed').length).toBeGreaterThan(0);
    }
  });

  it('stays where the newcomer is half as large: clients of a size do not close each other', () => {
    const ensemble = ensembleOf(20, full);
    const clients = [1, 2, 3, 4].map((host) => ensemble.connect(1, `10.0.0.${host}`));
    for (const client of clients) fill(client);
    ensemble.leader.pipeline.endTurn();
    expect(clients.map(({ state }) => state)).toContain('open');
    const before = clients.filter(({ state }) => state === 'open').length;
    for (let round = 0; round < 20; round++) {
      for (const client of clients) if (client.state === 'open') watchNext(client);
      ensemble.leader.pipeline.endTurn();
    }
    expect(clients.filter(({ state }) => state === 'open')).toHaveLength(before);
  });
});

describe('setWatches', () => {
  it('brings along to another member whatever one connection may have', () => {
    const ensemble = ensembleOf(50, 50, 2);
    const client = ensemble.connect(1);
    watchMissing(client, ...Array.from({ length: 10 }, (_, index) => index));
    const there = resume(ensemble, 2, client);
    ensemble.settle();
    there.takeConnectResponse();
    setWatches(there, 10);
    expect(there.takeOne().error).toBe(ok);
    expect(ensemble.member(2).pipeline.watches.watchCount).toBe(10);
  });

  it('at the same member takes the place of what the older connection had', () => {
    const ensemble = ensembleOf(10, 10);
    const client = ensemble.connect();
    watchMissing(client, ...Array.from({ length: 10 }, (_, index) => index));
    const again = resume(ensemble, 1, client);
    ensemble.settle();
    again.takeConnectResponse();
    setWatches(again, 10);
    expect(again.takeOne().error).toBe(ok);
  });

  it('past the bound closes the connection: no watch is lost without its client knowing', () => {
    const ensemble = ensembleOf(10, 10);
    const client = ensemble.connect();
    setWatches(client, 11);
    expect(client.state).toBe('closed');
    const { pipeline } = ensemble.leader;
    expect(pipeline.watches.watchCount).toBe(0);
    expect(pipeline.sessionOf(client.id)).toBe(0);
  });

  it('with persistent watches does so too, also when it waited behind a write', () => {
    const ensemble = ensembleOf(2, 10);
    const client = ensemble.connect();
    client.create('/x');
    client.send(OpCode.setWatches2, SetWatches2Request, {
      relativeZxid: 1,
      dataWatches: [],
      existWatches: [],
      childWatches: [],
      persistentWatches: ['/w0', '/w1'],
      persistentRecursiveWatches: ['/w2'],
    });
    client.create('/y');
    expect(client.state).toBe('open');
    ensemble.settle();
    expect(client.state).toBe('closed');
    expect(ensemble.leader.pipeline.outstanding).toBe(0);
  });
});
