// Tests the less common reads: what each answers, and that a page of names is one page.
import {
  CreateRequest,
  decode,
  GetAllChildrenNumberResponse,
  GetChildrenPageRequest,
  GetChildrenPageResponse,
  GetEphemeralsRequest,
  GetEphemeralsResponse,
  MultiReadRequest,
  type MultiReadRequestOp,
  MultiReadResponse,
  OpCode,
  PathRequest,
  SaslRequest,
  SaslResponse,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { Reply, TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const UNREADABLE = [{ perms: 30, scheme: 'world', id: 'anyone' }];

function newClient(): { ensemble: TestEnsemble; client: TestClient } {
  const ensemble = new TestEnsemble();
  const client = ensemble.connect();
  client.create('/a', { data: 'hello' });
  client.create('/a/b');
  client.create('/a/b/c', { flags: 1 });
  client.create('/a/e', { flags: 1 });
  const hidden = { path: '/hidden', data: null, acl: UNREADABLE, flags: 0 };
  client.send(OpCode.create, CreateRequest, hidden);
  ensemble.settle();
  client.take();
  return { ensemble, client };
}

describe('multiRead', () => {
  const read = (path: string, opcode: 4 | 8): MultiReadRequestOp => ({
    opcode,
    request: { path, watch: true },
  });

  it('answers each operation, goes on behind errors, and sets no watch', () => {
    const { ensemble, client } = newClient();
    const ops = [read('/a', 4), read('/none', 8), read('/a', 8), read('/hidden', 4)];
    client.send(OpCode.multiRead, MultiReadRequest, { ops });
    const { results } = decode(MultiReadResponse, client.takeOne().body);
    expect(results).toEqual([
      { opcode: 4, data: Buffer.from('hello'), stat: expect.objectContaining({ numChildren: 2 }) },
      { opcode: -1, error: -101 },
      { opcode: 8, children: expect.arrayContaining(['b', 'e']) },
      { opcode: -1, error: -102 },
    ]);
    expect(ensemble.leader.pipeline.watches.watchCount).toBe(0);
  });

  it('of nothing is legal; with anything but getData and getChildren it is malformed', () => {
    const { client } = newClient();
    client.send(OpCode.multiRead, MultiReadRequest, { ops: [] });
    expect(decode(MultiReadResponse, client.takeOne().body).results).toEqual([]);
    const exists = Buffer.from('0000000300ffffffff000000022f6100ffffffff01ffffffff', 'hex');
    client.sendRaw(OpCode.multiRead, exists);
    expect(client.takeOne().error).toBe(-5);
    expect(client.state).toBe('open');
  });
});

describe('getEphemerals', () => {
  function ephemerals(client: TestClient, prefixPath: string): readonly string[] {
    client.send(OpCode.getEphemerals, GetEphemeralsRequest, { prefixPath });
    return decode(GetEphemeralsResponse, client.takeOne().body).ephemerals;
  }

  it('answers those of the own session with the prefix, and all for none', () => {
    const { ensemble, client } = newClient();
    for (const prefix of ['', '/', ' ']) expect(ephemerals(client, prefix)).toHaveLength(2);
    expect(ephemerals(client, '/a/b')).toEqual(['/a/b/c']);
    expect(ephemerals(client, '/a/')).toEqual(['/a/b/c', '/a/e']);
    expect(ephemerals(client, '/x')).toEqual([]);
    expect(ephemerals(ensemble.connect(), '/')).toEqual([]);
  });
});

describe('getAllChildrenNumber', () => {
  function count(client: TestClient, path: string): Reply {
    client.send(OpCode.getAllChildrenNumber, PathRequest, { path });
    return client.takeOne();
  }

  it('counts all below the path, and needs the node and the right to read it', () => {
    const { client } = newClient();
    const total = (path: string) =>
      decode(GetAllChildrenNumberResponse, count(client, path).body).totalNumber;
    expect(total('/a')).toBe(3);
    expect(total('/a/e')).toBe(0);
    expect(total('/')).toBe(8);
    expect(count(client, '/none').error).toBe(-101);
    expect(count(client, '/hidden').error).toBe(-102);
  });
});

describe('sasl', () => {
  it('is answered with a null token and zxid 0, as by a ZooKeeper without SASL', () => {
    const { client } = newClient();
    client.send(OpCode.sasl, SaslRequest, { token: Buffer.from('abc') });
    const reply = client.takeOne();
    expect(reply).toMatchObject({ zxid: 0, error: 0 });
    expect(decode(SaslResponse, reply.body).token).toBeNull();
    expect(client.state).toBe('open');
  });
});

describe('getChildrenPage', () => {
  function page(client: TestClient, request: Partial<GetChildrenPageRequest>): Reply {
    const all = { path: '/a', startAfter: '', limit: 10, watch: false, ...request };
    client.send(OpCode.getChildrenPage, GetChildrenPageRequest, all);
    return client.takeOne();
  }

  it('answers names, Stat and whether there are more', () => {
    const { client } = newClient();
    const first = decode(GetChildrenPageResponse, page(client, { limit: 1 }).body);
    expect(first).toMatchObject({ children: ['b'], stat: { numChildren: 2 }, more: true });
    const rest = decode(GetChildrenPageResponse, page(client, { startAfter: 'b' }).body);
    expect(rest).toMatchObject({ children: ['e'], more: false });
    expect(decode(GetChildrenPageResponse, page(client, { startAfter: 'z' }).body).more).toBe(
      false,
    );
  });

  it('refuses a limit below 1, a path without a node and one that may not be read', () => {
    const { client } = newClient();
    expect(page(client, { limit: 0 }).error).toBe(-8);
    expect(page(client, { limit: -1 }).error).toBe(-8);
    expect(page(client, { path: '/none', watch: true }).error).toBe(-101);
    expect(page(client, { path: '/hidden', watch: true }).error).toBe(-102);
  });

  it('sets a child watch when asked to, and only then', () => {
    const { ensemble, client } = newClient();
    page(client, {});
    client.create('/a/f');
    ensemble.settle();
    expect(client.takeSummary()).toHaveLength(1);
    page(client, { watch: true });
    client.create('/a/g');
    client.create('/a/h');
    ensemble.settle();
    expect(client.takeSummary().filter((line) => line.startsWith('event'))).toEqual(['event 4 /a']);
  });

  it('gives every name of a large directory that stays exactly once while others come and go', () => {
    const { ensemble, client } = newClient();
    const name = (index: number) => `n${String(index).padStart(5, '0')}`;
    const stays: string[] = [];
    for (let index = 0; index < 3_000; index++) {
      client.create(`/a/b/${name(index)}`);
      if (index % 2 === 0) stays.push(name(index));
      if (index % 500 === 0) ensemble.settle();
    }
    ensemble.settle();
    client.take();
    const got: string[] = [];
    for (let more = true, step = 0; more; step++) {
      const asked = { path: '/a/b', startAfter: got.at(-1) ?? '', limit: 100 };
      const answer = decode(GetChildrenPageResponse, page(client, asked).body);
      got.push(...answer.children);
      more = answer.more;
      for (let index = 1; index < 2_000; index += 2 * (step + 3)) {
        if (step % 2 === 0) client.delete(`/a/b/${name(index)}`);
        else client.create(`/a/b/${name(index)}`);
      }
      client.create(`/a/b/n${step}-new`);
      ensemble.settle();
      client.take();
    }
    expect(got).toEqual([...new Set(got)].sort());
    const seen = new Set(got);
    expect(stays.filter((one) => !seen.has(one))).toEqual([]);
  });
});
