// A setData is decided where it lies when its znode is in the tree and only data are in flight,
// else as the codec reads it. Both ways must make the same transaction of the same bytes. Method:
// two leaders with the same tree; one has a setACL of each znode in flight, to what its ACL is,
// which rules out the first way, and changes nothing else.
import {
  ErrorCode,
  encode,
  type Identity,
  OpCode,
  SetAclRequest,
  SetDataRequest,
} from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IGNORE_CHANGES } from '../state/change-sink.js';
import { ReplicatedState } from '../state/replicated-state.js';
import { encodeTxn } from '../state/testing.js';
import { LOCAL_SESSION } from './local-sessions.js';
import { Prepare } from './prepare.js';
import { OPEN_ACL } from './test-client.js';

const PATHS = ['/a', '/a/long-enough-for-words', '/ä'];
const THERE = [...PATHS, '/', '/zookeeper/quota'];
const ASKED = [...THERE, '/none', '/a/', '', '/zookeeper/config'];
const SUPER: readonly Identity[] = [{ scheme: 'super', id: '' }];
const RULES = { extendedTypes: true, enforceQuota: false, reconfigEnabled: false };

function leader(skipAcl: boolean, isSlow: boolean) {
  const state = new ReplicatedState();
  const create = { kind: 'create', data: null, mode: 'persistent', ttlMs: 0, opcode: 1 } as const;
  for (const [index, path] of PATHS.entries()) {
    const acl = path === '/a' ? [{ perms: 1, scheme: 'world', id: 'anyone' }] : OPEN_ACL;
    const op = { ...create, path, acl };
    state.apply(index + 1, { origin: 0, request: 0, session: 0, time: 1, op }, IGNORE_CHANGES);
  }
  const prepare = new Prepare(state, { ...RULES, skipAcl });
  prepare.begin(1, state.lastZxid, 1);
  const ask = (opcode: number, body: Uint8Array, identities: readonly Identity[] = []): string => {
    const request = { request: 7, session: LOCAL_SESSION, opcode, body, identities };
    const { txn } = prepare.prepare(1, request, 1, () => new Uint8Array(16));
    return Buffer.from(encodeTxn(txn)).toString('hex');
  };
  for (const path of isSlow ? THERE : []) {
    const acl = state.tree.acl(state.tree.find(path));
    ask(OpCode.setAcl, encode(SetAclRequest, { path, acl, version: -1 }), SUPER);
  }
  return { ask };
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

describe('a setData that is decided where it lies', () => {
  it.each([true, false])('is what the codec makes of it (skipACL %s)', (skipAcl) => {
    fc.assert(
      fc.property(fc.array(body, { minLength: 1, maxLength: 12 }), (bodies) => {
        const placed = leader(skipAcl, false);
        const read = leader(skipAcl, true);
        for (const one of bodies) {
          expect(placed.ask(OpCode.setData, one)).toBe(read.ask(OpCode.setData, one));
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
