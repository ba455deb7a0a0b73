// Tests raiseSequence, Rookery's own request, through connections: what it changes, what it leaves,
// who may do it, and which numbers are refused.
import {
  type Acl,
  AuthPacket,
  CreateRequest,
  CreateResponse,
  decode,
  encode,
  MultiRequest,
  OpCode,
  RaiseSequenceRequest,
  RaiseSequenceResponse,
  SEQUENCE_MAX,
  SetWatches2Request,
  StatResponse,
} from '@rookery/protocol';
import { expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { fakeDigestOf, TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const SEQUENTIAL = 2;

function newEnsemble(): { ensemble: TestEnsemble; client: TestClient } {
  const ensemble = new TestEnsemble();
  const client = ensemble.connect();
  ensemble.raiseLevel();
  client.create('/q');
  ensemble.settle();
  client.take();
  return { ensemble, client };
}

interface Scene {
  readonly ensemble: TestEnsemble;
  readonly client: TestClient;
}

function raise(client: TestClient, path: string, atLeast: number): void {
  client.send(OpCode.raiseSequence, RaiseSequenceRequest, { path, atLeast });
}

function raised({ ensemble, client }: Scene, path: string, atLeast: number): number {
  raise(client, path, atLeast);
  ensemble.settle();
  const { error, body } = client.takeOne();
  return error === 0 ? decode(RaiseSequenceResponse, body).next : error;
}

function sequential({ ensemble, client }: Scene): string {
  client.create('/q/n-', { flags: SEQUENTIAL });
  ensemble.settle();
  return decode(CreateResponse, client.takeOne().body).path;
}

function stat({ ensemble, client }: Scene) {
  client.exists('/q');
  ensemble.settle();
  return decode(StatResponse, client.takeOne().body).stat;
}

it('gives the next sequential child the number, in one transaction', () => {
  const scene = newEnsemble();
  const { state } = scene.ensemble.leader;
  const before = state.lastZxid;
  expect(raised(scene, '/q', 5_000_000)).toBe(5_000_000);
  expect(state.lastZxid).toBe(before + 1);
  expect(sequential(scene)).toBe('/q/n-0005000000');
  expect(sequential(scene)).toBe('/q/n-0005000001');
});

it('never lowers the number, and may be repeated', () => {
  const scene = newEnsemble();
  expect(raised(scene, '/q', 7)).toBe(7);
  const { cversion } = stat(scene);
  expect(raised(scene, '/q', 7)).toBe(7);
  expect(raised(scene, '/q', 3)).toBe(7);
  expect(stat(scene).cversion).toBe(cversion);
  expect(sequential(scene)).toBe('/q/n-0000000007');
  expect(raised(scene, '/q', 7)).toBe(8);
});

it('counts with what is in flight before it and behind it', () => {
  const { ensemble, client } = newEnsemble();
  client.create('/q/n-', { flags: SEQUENTIAL });
  raise(client, '/q', 10);
  client.create('/q/n-', { flags: SEQUENTIAL });
  raise(client, '/q', 11);
  client.create('/q/n-', { flags: SEQUENTIAL });
  ensemble.settle();
  const paths = client.take().map(({ body }) => Buffer.from(body).toString('latin1').slice(4));
  expect(paths[0]).toBe('/q/n-0000000000');
  expect(paths[2]).toBe('/q/n-0000000010');
  expect(paths[4]).toBe('/q/n-0000000011');
});

it('changes the cversion, as that many creates and deletes would, and nothing else', () => {
  const scene = newEnsemble();
  const before = stat(scene);
  expect(raised(scene, '/q', 1_000)).toBe(1_000);
  expect(stat(scene)).toEqual({ ...before, cversion: 2_000 });
});

it('makes a container one that was used, which goes when it is empty', () => {
  const scene = newEnsemble();
  const { ensemble, client } = scene;
  client.create('/c', { opcode: OpCode.createContainer, flags: 4 });
  ensemble.settle();
  client.take();
  const { tree } = ensemble.leader.state;
  const ages = { ageMs: () => 0 };
  const isReapable = () => tree.isReapable(tree.find('/c'), { ages, neverUsedMs: 0 });
  expect(isReapable()).toBe(false);
  expect(raised(scene, '/c', 0)).toBe(0);
  expect(isReapable()).toBe(false);
  expect(raised(scene, '/c', 1)).toBe(1);
  expect(isReapable()).toBe(true);
});

it('is an event for nobody, then or in what setWatches reports', () => {
  const scene = newEnsemble();
  const { ensemble, client } = scene;
  const watcher = ensemble.connect();
  watcher.read(OpCode.getChildren, '/q', true);
  watcher.exists('/q', true);
  ensemble.settle();
  watcher.take();
  const before = ensemble.leader.state.lastZxid;
  expect(raised(scene, '/q', 1_000)).toBe(1_000);
  expect(watcher.take()).toEqual([]);
  const later = ensemble.connect();
  later.send(OpCode.setWatches2, SetWatches2Request, {
    relativeZxid: before,
    dataWatches: ['/q'],
    existWatches: [],
    childWatches: ['/q'],
    persistentWatches: [],
    persistentRecursiveWatches: [],
  });
  expect(later.takeSummary().filter((line) => line.startsWith('event'))).toEqual([]);
  client.create('/q/child');
  ensemble.settle();
  expect(watcher.takeSummary()).toEqual(['event 4 /q']);
});

it('takes CREATE and DELETE, as creating and deleting children does, and not READ', () => {
  const scene = newEnsemble();
  const { ensemble, client } = scene;
  const cases: readonly (readonly [string, number, number])[] = [
    ['/none', 1 + 2 + 16, -102],
    ['/creates', 31 - 8, -102],
    ['/deletes', 31 - 4, -102],
    ['/both', 4 + 8, 9],
  ];
  for (const [path, perms, expected] of cases) {
    const acl: readonly Acl[] = [{ perms, scheme: 'world', id: 'anyone' }];
    client.send(OpCode.create, CreateRequest, { path, data: null, acl, flags: 0 });
    ensemble.settle();
    client.take();
    expect([path, raised(scene, path, 9)]).toEqual([path, expected]);
  }
  const acl = [{ perms: 31, scheme: 'digest', id: fakeDigestOf('ann:secret') }];
  client.send(OpCode.create, CreateRequest, { path: '/ann', data: null, acl, flags: 0 });
  ensemble.settle();
  client.take();
  expect(raised(scene, '/ann', 9)).toBe(-102);
  const packet = { type: 0, scheme: 'digest', auth: Buffer.from('ann:secret') };
  client.sendRaw(OpCode.auth, encode(AuthPacket, packet), -4);
  ensemble.settle();
  client.take();
  expect(raised(scene, '/ann', 9)).toBe(9);
});

it.each([
  ['a number below zero', '/q', -1, -8],
  // By this one clients find out whether the request is known, so nothing else is looked at.
  ['a number below zero, wherever', '/q/none', -1, -8],
  ['the number that ZooKeeper would refuse', '/q', SEQUENCE_MAX + 1, -8],
  ['a path that is not legal', '/q/', 1, -8],
  ['a path without a znode', '/q/none', 1, -101],
  ['an ephemeral, which has no children', '/e', 1, -108],
])('refuses %s', (_, path, atLeast, code) => {
  const scene = newEnsemble();
  scene.client.create('/e', { flags: 1 });
  scene.ensemble.settle();
  scene.client.take();
  expect(raised(scene, path, atLeast)).toBe(code);
  expect(scene.client.state).toBe('open');
});

it('goes up to the highest number of ZooKeeper, and not back from beyond', () => {
  const scene = newEnsemble();
  expect(raised(scene, '/q', SEQUENCE_MAX)).toBe(SEQUENCE_MAX);
  expect(stat(scene).cversion).toBe((2 * SEQUENCE_MAX) | 0);
  expect(sequential(scene)).toBe('/q/n-2147483646');
  expect(sequential(scene)).toBe('/q/n-2147483647');
  expect(sequential(scene)).toBe('/q/n--2147483648');
  expect(raised(scene, '/q', SEQUENCE_MAX)).toBe(-2147483647);
  expect(sequential(scene)).toBe('/q/n--2147483647');
});

it('is malformed in a multi, and with too short a body', () => {
  const { ensemble, client } = newEnsemble();
  const multi = Buffer.from(encode(MultiRequest, { ops: [] }));
  const op = Buffer.alloc(9);
  op.writeInt32BE(OpCode.raiseSequence, 0);
  const request = encode(RaiseSequenceRequest, { path: '/q', atLeast: 1 });
  client.sendRaw(OpCode.multi, Buffer.concat([op, request, multi]));
  client.sendRaw(OpCode.raiseSequence, request.subarray(0, 7));
  ensemble.settle();
  expect(client.take().map(({ error }) => error)).toEqual([-5, -5]);
  expect(client.state).toBe('open');
});

it('changes no quota', () => {
  const scene = newEnsemble();
  const { ensemble, client } = scene;
  client.create('/zookeeper/quota/q');
  client.create('/zookeeper/quota/q/zookeeper_limits', { data: 'count=1,bytes=-1' });
  client.create('/zookeeper/quota/q/zookeeper_stats', { data: 'count=1,bytes=0' });
  ensemble.settle();
  client.take();
  expect(raised(scene, '/q', 100)).toBe(100);
  const { tree } = ensemble.leader.state;
  const stats = tree.data(tree.find('/zookeeper/quota/q/zookeeper_stats'));
  expect(Buffer.from(stats ?? []).toString()).toContain('count=1');
});
