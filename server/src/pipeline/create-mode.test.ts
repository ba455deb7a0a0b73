// Tests which kind of znode each opcode and flag makes, alone and in a multi, as ZooKeeper 3.8.0
// answers.
import {
  Create2Response,
  CreateTtlRequest,
  decode,
  MultiRequest,
  type MultiRequestOp,
  MultiResponse,
  OpCode,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { OPEN_ACL, type TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const { create, create2, createContainer, createTtl } = OpCode;

interface Asked {
  readonly opcode: 1 | 15 | 19 | 21;
  readonly flags: number;
  readonly ttlMs?: number | bigint;
}

function bodyOf({ flags, ttlMs = 1 }: Asked) {
  return { path: '/n', data: null, acl: OPEN_ACL, flags, ttlMs };
}
/** The error code, or the mode of the znode that exists afterwards. */
function alone(asked: Asked, extendedTypes = true): number | string {
  const ensemble = new TestEnsemble({ preparer: { extendedTypes } });
  const client = ensemble.connect();
  const { opcode, flags } = asked;
  if (opcode === createTtl) client.send(opcode, CreateTtlRequest, bodyOf(asked));
  else client.create('/n', { opcode, flags });
  ensemble.settle();
  return client.takeOne().error || onlyMode(ensemble);
}
/**
 * The same in a multi; if the multi fails in its first operation, the code in its body, in
 * brackets.
 */
function inMulti(asked: Asked, extendedTypes = true): number | string {
  const ensemble = new TestEnsemble({ preparer: { extendedTypes } });
  const client = ensemble.connect();
  const { opcode } = asked;
  const request = bodyOf(asked);
  const op: MultiRequestOp = { opcode, request };
  sendMulti(client, op);
  ensemble.settle();
  const reply = client.takeOne();
  if (reply.error !== 0) return reply.error;
  const [result] = decode(MultiResponse, reply.body).results;
  if (result?.opcode === OpCode.error) return `[${result.error}]`;
  return `${result?.opcode} ${onlyMode(ensemble)}`;
}
function sendMulti(client: TestClient, op: MultiRequestOp): void {
  client.send(OpCode.multi, MultiRequest, { ops: [op] });
}
function onlyMode({ leader }: TestEnsemble): string {
  const { tree } = leader.state;
  const [name] = tree.children(0).filter((one) => one !== 'zookeeper');
  const mode = tree.mode(tree.find(`/${name}`));
  return name === 'n' ? mode : `${mode} sequential`;
}

describe('a create', () => {
  it('takes its kind from the opcode, and its suffix from the flag', () => {
    const modes = [0, 1, 2, 3, 4].map((flags) => alone({ opcode: create, flags }));
    const plain = ['persistent', 'ephemeral', 'persistent sequential', 'ephemeral sequential'];
    expect(modes).toEqual([...plain, 'persistent']);
    const containers = [0, 1, 2, 3, 4].map((flags) => alone({ opcode: createContainer, flags }));
    const sequential = 'container sequential';
    expect(containers).toEqual(['container', 'container', sequential, sequential, 'container']);
    expect(alone({ opcode: createTtl, flags: 5 })).toBe('ttl');
    expect(alone({ opcode: createTtl, flags: 6 })).toBe('ttl sequential');
  });

  it('with a flag that does not go with its opcode is -8', () => {
    for (const opcode of [create, create2, createContainer]) {
      for (const flags of [5, 6, 7, -1, 9]) expect(alone({ opcode, flags })).toBe(-8);
    }
    for (const flags of [0, 1, 2, 3, 4, 7]) expect(alone({ opcode: createTtl, flags })).toBe(-8);
  });

  it('with a time to live outside 1 to 2^40 - 1 ms is -8', () => {
    const ttl = (ttlMs: number | bigint) => alone({ opcode: createTtl, flags: 5, ttlMs });
    expect([ttl(1), ttl(2 ** 40 - 1)]).toEqual(['ttl', 'ttl']);
    expect([ttl(0), ttl(-1), ttl(2 ** 40), ttl(2n ** 62n)]).toEqual([-8, -8, -8, -8]);
  });

  it('with a TTL flag is -6 where extended types are switched off, a container is not', () => {
    expect(alone({ opcode: createTtl, flags: 5 }, false)).toBe(-6);
    expect(alone({ opcode: create, flags: 6 }, false)).toBe(-6);
    expect(alone({ opcode: createContainer, flags: 4 }, false)).toBe('container');
    expect(inMulti({ opcode: createTtl, flags: 5 }, false)).toBe('[-6]');
  });

  it('shows clients neither container nor time to live', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.create('/c', { opcode: createContainer, flags: 4 });
    ensemble.settle();
    expect(decode(Create2Response, client.takeOne().body).stat.ephemeralOwner).toBe(0);
  });
});

describe('a create in a multi', () => {
  it('takes its kind from the flag; containers and TTL nodes are answered as type 15', () => {
    for (const opcode of [create, create2, createContainer, createTtl] as const) {
      expect(inMulti({ opcode, flags: 0 })).toBe('1 persistent');
      expect(inMulti({ opcode, flags: 1 })).toBe('1 ephemeral');
      expect(inMulti({ opcode, flags: 4 })).toBe('15 container');
    }
    expect(inMulti({ opcode: createTtl, flags: 5 })).toBe('15 ttl');
  });

  it('fails alone for an unknown flag or a bad time, and makes all malformed for a TTL flag', () => {
    for (const opcode of [create, create2, createContainer] as const) {
      expect(inMulti({ opcode, flags: 9 })).toBe('[-8]');
      expect(inMulti({ opcode, flags: 5 })).toBe(-5);
    }
    expect(inMulti({ opcode: createTtl, flags: 5, ttlMs: 0 })).toBe('[-8]');
  });
});
