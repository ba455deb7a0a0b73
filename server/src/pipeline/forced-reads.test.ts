/**
 * What sixty connections force upon one turn that applies a write of each: the reads that wait
 * before those writes. The turn has no time for them. What is counted is how many run and how much
 * they answer, not how long they take.
 */
import {
  MultiReadRequest,
  type MultiReadRequestOp,
  OpCode,
  PathRequest,
  SetAclRequest,
  SetWatchesRequest,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const CLIENTS = 60;
const LARGE = 'x'.repeat(500_000);
/** The answers that sixty connections may force together, if nothing has grown. */
const FORCED_BYTES_MAX = CLIENTS * (64 << 10);
const GROWN_BYTES_MAX = 8 << 20;

type Read = (client: TestClient) => void;

const ops: readonly MultiReadRequestOp[] = Array.from({ length: 1_000 }, () => ({
  opcode: OpCode.getData,
  request: { path: '/small', watch: false },
}));
const NOTHING = { relativeZxid: 0, dataWatches: [], existWatches: [], childWatches: [] };

const READS: readonly (readonly [string, Read])[] = [
  ['a multiRead', (client) => client.send(OpCode.multiRead, MultiReadRequest, { ops })],
  [
    'a list of ephemerals',
    (client) => client.sendRaw(OpCode.getEphemerals, Buffer.from([0, 0, 0, 0])),
  ],
  ['a large znode', (client) => client.getData('/large')],
  [
    'an ACL of very many entries',
    (client) => client.send(OpCode.getAcl, PathRequest, { path: '/guarded' }),
  ],
  ['a znode with such an ACL', (client) => client.exists('/guarded')],
  [
    'setWatches with few paths',
    (client) =>
      client.send(OpCode.setWatches, SetWatchesRequest, { ...NOTHING, existWatches: ['/w'] }),
  ],
  [
    'setWatches with so many that it is divided',
    (client) =>
      client.send(OpCode.setWatches, SetWatchesRequest, {
        ...NOTHING,
        existWatches: Array.from({ length: 2_000 }, (_, index) => `/watched${index}`),
      }),
  ],
];

function scene() {
  const watchLimits = { watcherBytesMax: 16 << 20, bytesMax: 64 << 20 };
  const ensemble = new TestEnsemble({ pipeline: { outstandingMax: 100_000, watchLimits } });
  const author = ensemble.connect();
  for (const path of ['/small', '/guarded']) author.create(path);
  author.create('/large', { data: LARGE });
  const acl = Array.from({ length: 1_000 }, (_, index) => ({
    perms: 31,
    scheme: 'ip',
    id: `10.0.${index >> 8}.${index & 255}`,
  }));
  const all = [...acl, { perms: 31, scheme: 'ip', id: '127.0.0.1' }];
  author.send(OpCode.setAcl, SetAclRequest, { path: '/guarded', acl: all, version: -1 });
  ensemble.settle();
  const clients = Array.from({ length: CLIENTS }, () => ensemble.connect());
  return { ensemble, author, clients };
}

/** Each sends the read between two writes; the first write comes, and then time is up. */
function park(ensemble: TestEnsemble, clients: readonly TestClient[], read: Read): void {
  for (const client of clients) client.create(`/first${client.id}`);
  ensemble.forward();
  for (const client of clients) {
    read(client);
    client.create(`/second${client.id}`);
  }
  ensemble.forward();
  for (const client of clients) client.softBytes = -1;
  ensemble.apply(1, CLIENTS);
  for (const client of clients) {
    expect(client.takeSummary()).toEqual(['reply 1 0']);
    expect(client.holds.has('room')).toBe(true);
  }
}

describe('sixty sessions, each with a read that waits between two writes', () => {
  it.each(READS)('are forced to run none of it in one turn: %s', (_, read) => {
    const { ensemble, clients } = scene();
    park(ensemble, clients, read);
    ensemble.settle();
    expect(clients.flatMap((client) => client.takeSummary())).toEqual([]);
    for (const client of clients) {
      client.softBytes = Number.POSITIVE_INFINITY;
      ensemble.leader.pipeline.onRoom(client.id, ensemble.nowMs);
      expect(client.takeSummary()).toEqual(['reply 2 0']);
    }
    ensemble.settle();
    for (const client of clients) expect(client.takeSummary()).toEqual(['reply 3 0']);
    expect(ensemble.leader.pipeline.outstanding).toBe(0);
  });

  it('are forced to run small ones, so that their writes go on without a delay', () => {
    const { ensemble, clients } = scene();
    park(ensemble, clients, (client) => client.getData('/small'));
    ensemble.settle();
    const bytes = clients.reduce((sum, { writer }) => sum + writer.length, 0);
    expect(bytes).toBeLessThan(FORCED_BYTES_MAX);
    for (const client of clients) expect(client.takeSummary()).toEqual(['reply 2 0', 'reply 3 0']);
  });

  it('may read in one turn what has grown meanwhile up to a bound, and are closed beyond it', () => {
    const { ensemble, author, clients } = scene();
    for (const client of clients) {
      client.create(`/first${client.id}`);
      client.getData('/small');
    }
    ensemble.forward();
    author.setData('/small', LARGE);
    ensemble.forward();
    for (const client of clients) client.create(`/second${client.id}`);
    ensemble.forward();
    for (const client of clients) client.softBytes = -1;
    ensemble.apply();
    const bytes = clients.reduce((sum, { writer }) => sum + writer.length, 0);
    expect(bytes).toBeLessThan(GROWN_BYTES_MAX + FORCED_BYTES_MAX);
    const closed = clients.filter(({ state }) => state === 'closed');
    expect(closed).toHaveLength(CLIENTS - Math.floor(GROWN_BYTES_MAX / LARGE.length));
    for (const { id } of clients) {
      expect(ensemble.leader.state.tree.find(`/second${id}`)).toBeGreaterThan(0);
    }
    expect(ensemble.leader.pipeline.outstanding).toBe(0);
  });

  it('may read as much again in the next turn', () => {
    const { ensemble, author, clients } = scene();
    for (const client of clients.slice(0, 20)) {
      author.setData('/small', '');
      ensemble.settle();
      client.create(`/first${client.id}`);
      client.getData('/small');
      ensemble.forward();
      author.setData('/small', LARGE);
      ensemble.forward();
      client.create(`/second${client.id}`);
      ensemble.forward();
      client.softBytes = -1;
      ensemble.apply();
      ensemble.leader.pipeline.endTurn();
      expect(client.state).toBe('open');
    }
  });
});
