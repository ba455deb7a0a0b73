// Tests a session with a great many ephemerals: how many it may own, and what it can list of them.
import {
  decode,
  GetEphemeralsRequest,
  GetEphemeralsResponse,
  MultiRequest,
  OpCode,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { OPEN_ACL, type TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const EPHEMERAL = 1;
/** The operations of one multi. */
const AT_ONCE = 4096;

function createMany(ensemble: TestEnsemble, client: TestClient, below: string, count: number) {
  client.create(below);
  for (let first = 0; first < count; first += AT_ONCE) {
    const names = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, at) => first + at);
    const ops = names.map((name) => ({
      opcode: OpCode.create,
      request: { path: `${below}/${name}`, data: null, acl: OPEN_ACL, flags: EPHEMERAL },
    }));
    client.send(OpCode.multi, MultiRequest, { ops });
    ensemble.settle();
  }
  client.take();
}

function askForEphemerals(client: TestClient, prefixPath: string) {
  client.send(OpCode.getEphemerals, GetEphemeralsRequest, { prefixPath });
  return client.takeOne();
}

describe('ephemeralsPerSessionMax', () => {
  it('refuses the ephemeral past the limit with -125, counting what is in flight', () => {
    const ensemble = new TestEnsemble({ preparer: { ephemeralsPerSessionMax: 3 } });
    const client = ensemble.connect();
    for (const name of ['a', 'b', 'c', 'd']) client.create(`/${name}`, { flags: EPHEMERAL });
    client.create('/persistent');
    ensemble.settle();
    expect(client.take().map(({ error }) => error)).toEqual([...[0, 0, 0, -125, 0]]);
    client.delete('/a');
    client.create('/d', { flags: EPHEMERAL });
    client.create('/e', { flags: EPHEMERAL });
    ensemble.settle();
    expect(client.take().map(({ error }) => error)).toEqual([0, 0, -125]);
  });

  it('holds for each session by itself, and a refused multi counts for nothing', () => {
    const ensemble = new TestEnsemble({ preparer: { ephemeralsPerSessionMax: 2 } });
    const [one, other] = [ensemble.connect(), ensemble.connect()];
    const create = (path: string) => ({
      opcode: OpCode.create,
      request: { path, data: null, acl: OPEN_ACL, flags: EPHEMERAL },
    });
    one.send(OpCode.multi, MultiRequest, { ops: ['/a', '/b', '/c'].map(create) });
    one.send(OpCode.multi, MultiRequest, { ops: ['/a', '/b'].map(create) });
    other.create('/c', { flags: EPHEMERAL });
    ensemble.settle();
    const { tree } = ensemble.leader.state;
    expect(['/a', '/b', '/c'].map((path) => tree.owner(tree.find(path)))).toEqual([
      one.session,
      one.session,
      other.session,
    ]);
    expect(tree.ephemeralsOwned(Number(one.session))).toBe(2);
  });
});

describe('getEphemerals of a session with very many', () => {
  it('lists 32,768 and answers -125 for one more, whatever the prefix', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    createMany(ensemble, client, '/many', 1 << 15);
    const { ephemerals } = decode(GetEphemeralsResponse, askForEphemerals(client, '').body);
    expect(ephemerals).toHaveLength(1 << 15);
    client.create('/one-more', { flags: EPHEMERAL });
    ensemble.settle();
    client.take();
    expect(askForEphemerals(client, '').error).toBe(-125);
    expect(askForEphemerals(client, '/one').error).toBe(-125);
    client.delete('/one-more');
    ensemble.settle();
    client.take();
    expect(askForEphemerals(client, '').error).toBe(0);
  });

  it('answers -125 when their paths have more than 4 MB', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    const long = `/${'x'.repeat(60_000)}`;
    // A slash and a digit are added: 69 paths have less than 4 MB, 70 have more.
    createMany(ensemble, client, long, 69);
    expect(askForEphemerals(client, '').error).toBe(0);
    client.create(`${long}/one-more`, { flags: EPHEMERAL });
    ensemble.settle();
    client.take();
    expect(askForEphemerals(client, '').error).toBe(-125);
  });
});
