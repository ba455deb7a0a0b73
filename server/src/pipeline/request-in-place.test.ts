// A setData is decided in place if its znode is in the tree and only data are in flight, and so is
// a plain create if that holds for its parent; otherwise it is decided as the codec reads it. Both
// ways must make the same transaction from the same bytes.
//
// Method: two leaders with the same tree. One has a setACL of each znode in flight, to what its ACL
// is already, which rules out the first way and changes nothing else.
import {
  type Acl,
  CreateRequest,
  ErrorCode,
  encode,
  type Identity,
  OpCode,
  SetAclRequest,
  SetDataRequest,
} from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OPEN_ACL } from '../simulated/pipeline/test-client.js';
import { encodeTxn } from '../simulated/state/encoded-txn.js';
import { IGNORE_CHANGES } from '../state/change-sink.js';
import { ReplicatedState } from '../state/replicated-state.js';
import type { Txn } from '../state/txn.js';
import { LOCAL_SESSION } from './local-sessions.js';
import { Prepare } from './prepare.js';
import { NO_BOUND } from './tree-room.js';

const PATHS = ['/a', '/a/long-enough-for-words', '/ä'];
const THERE = [...PATHS, '/', '/zookeeper/quota'];
const ASKED = [...THERE, '/none', '/a/', '', '/zookeeper/config'];
const SUPER: readonly Identity[] = [{ scheme: 'super', id: '' }];
const ALLOWED = { extendedTypes: true, ephemeralsPerSessionMax: 1 };
const RULES = {
  ...ALLOWED,
  enforceQuota: false,
  multiOpsMax: 4096,
  pathDepthMax: 2000,
  reconfigEnabled: false,
  treeBound: NO_BOUND,
};

function leader(skipAcl: boolean, isSlow: boolean) {
  const state = new ReplicatedState();
  const create = { kind: 'create', data: null, mode: 'persistent', ttlMs: 0, opcode: 1 } as const;
  for (const [index, path] of PATHS.entries()) {
    const acl = path === '/a' ? [{ perms: 1, scheme: 'world', id: 'anyone' }] : OPEN_ACL;
    const op = { ...create, path, acl };
    state.apply(index + 1, { origin: 0, request: 0, session: 0, time: 1, op }, IGNORE_CHANGES);
  }
  const start = { epoch: 1, lastZxid: state.lastZxid, firstCounter: 1 };
  let last = '';
  const keep = (_: number, txn: Txn): void => {
    last = Buffer.from(encodeTxn(txn)).toString('hex');
  };
  const prepare = new Prepare(state, { ...RULES, skipAcl }, start, { add: keep });
  const ask = (opcode: number, body: Uint8Array, identities: readonly Identity[] = []): string => {
    const nobody = { session: LOCAL_SESSION, attachment: 0 };
    const request = { ...nobody, request: 7, opcode, body, identities };
    last = '';
    prepare.prepare(1, request, 1, () => new Uint8Array(16));
    return last;
  };
  for (const path of isSlow ? THERE : []) {
    const acl = state.tree.acl(state.tree.find(path));
    ask(OpCode.setAcl, encode(SetAclRequest, { path, acl, version: -1 }), SUPER);
  }
  return { ask, inFlight: () => prepare.overlay.size };
}

const body = fc
  .record({
    path: fc.constantFrom(...ASKED),
    data: fc.option(fc.uint8Array({ maxLength: 20 }), { nil: null }),
    times: fc.constantFrom(1, 1, 60),
    version: fc.constantFrom(-1, -1, 0, 1, 2),
    spoilt: fc.constantFrom('no', 'no', 'no', 'cut', 'longer', 'length'),
    at: fc.nat(),
  })
  .map(({ path, data, times, version, spoilt, at }) => {
    const long = data === null ? null : Buffer.concat(Array.from({ length: times }, () => data));
    const bytes = Buffer.from(encode(SetDataRequest, { path, data: long, version }));
    if (spoilt === 'cut') return bytes.subarray(0, at % bytes.length);
    if (spoilt === 'longer') return Buffer.concat([bytes, Buffer.alloc(1 + (at % 9))]);
    if (spoilt === 'length') bytes.writeInt32BE((at % 40) - 3, at % 2 === 0 ? 0 : 4 + path.length);
    return bytes;
  });

/** Below existing znodes, with a name that is legal, or nearly so. */
const created = fc
  .record({
    parent: fc.constantFrom('', ...THERE, '/none', '/zookeeper/config'),
    name: fc.constantFrom('x', 'x', 'y', 'long', '', '.', '..', '.x', 'x/', '\x7f', '\x1f', 'ä'),
    times: fc.constantFrom(1, 1, 1, 17, 65),
    data: fc.option(fc.uint8Array({ maxLength: 600 }), { nil: null }),
    flags: fc.constantFrom(0, 0, 0, 1, 2, 3, 4, 9),
    acl: fc.constantFrom<(readonly Acl[] | null)[]>(
      ...[OPEN_ACL, OPEN_ACL, [{ perms: 40, scheme: 'world', id: 'anyone' }]],
      ...[[{ perms: 31, scheme: 'world', id: 'anyon' }], [...OPEN_ACL, ...OPEN_ACL], [], null],
    ),
    spoilt: fc.constantFrom('no', 'no', 'no', 'cut', 'longer', 'byte'),
    at: fc.nat(),
  })
  .map(({ parent, name, times, data, flags, acl, spoilt, at }) => {
    const path = `${parent}/${name.repeat(times)}`;
    const bytes = Buffer.from(encode(CreateRequest, { path, data, flags, acl }));
    if (spoilt === 'cut') return bytes.subarray(0, at % bytes.length);
    if (spoilt === 'longer') return Buffer.concat([bytes, Buffer.alloc(1 + (at % 9))]);
    // A byte of the list or the flags.
    const last = bytes.length - 1 - (at % Math.min(bytes.length, 31));
    if (spoilt === 'byte') bytes[last] = (bytes[last] ?? 0) ^ (1 << (at % 8));
    return bytes;
  });

describe('a create that is decided where it lies', () => {
  it.each([true, false])('is what the codec makes of it (skipACL %s)', (skipAcl) => {
    const opcode = fc.constantFrom(OpCode.create, OpCode.create2, OpCode.createContainer);
    const asked = fc.record({ opcode, body: created });
    fc.assert(
      fc.property(fc.array(asked, { minLength: 1, maxLength: 12 }), (all) => {
        const viewing = leader(skipAcl, false);
        const read = leader(skipAcl, true);
        for (const one of all) {
          expect(viewing.ask(one.opcode, one.body)).toBe(read.ask(one.opcode, one.body));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('leaves one thing in flight, where the other way leaves records of parent and child', () => {
    const { ask, inFlight } = leader(false, false);
    const request = { path: '/new', data: null, flags: 0, acl: OPEN_ACL };
    ask(OpCode.create, encode(CreateRequest, request));
    expect(inFlight()).toBe(1);
    ask(OpCode.create, encode(CreateRequest, { ...request, path: '/other', flags: 2 }));
    expect(inFlight()).toBeGreaterThan(4);
  });

  it('is refused when it is there, in flight or not, and to who may not', () => {
    const { ask } = leader(false, false);
    const codeOf = (path: string): number => {
      const request = { path, data: null, flags: 0, acl: OPEN_ACL };
      const txn = ask(OpCode.create, encode(CreateRequest, request));
      // For an error, the code follows head, request, session and time.
      return txn.startsWith('0000070') ? Buffer.from(txn, 'hex').readInt32BE(28) : 0;
    };
    expect(codeOf('/new')).toBe(0);
    expect(codeOf('/new')).toBe(ErrorCode.nodeExists);
    expect(codeOf('/ä')).toBe(ErrorCode.nodeExists);
    expect(codeOf('/a/x')).toBe(ErrorCode.noAuth);
    expect(codeOf('/new/below')).toBe(0);
  });
});

describe('a setData that is decided where it lies', () => {
  it.each([true, false])('is what the codec makes of it (skipACL %s)', (skipAcl) => {
    fc.assert(
      fc.property(fc.array(body, { minLength: 1, maxLength: 12 }), (bodies) => {
        const viewing = leader(skipAcl, false);
        const read = leader(skipAcl, true);
        for (const one of bodies) {
          expect(viewing.ask(OpCode.setData, one)).toBe(read.ask(OpCode.setData, one));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('is refused to who may not', () => {
    const request = encode(SetDataRequest, { path: '/a', data: null, version: -1 });
    const { ask } = leader(false, false);
    const error = { kind: 'error', code: ErrorCode.noAuth, codes: null } as const;
    const txn = { origin: 1, request: 7, session: LOCAL_SESSION, time: 1, op: error };
    expect(ask(OpCode.setData, request)).toBe(Buffer.from(encodeTxn(txn)).toString('hex'));
  });
});
