// The overlay's one promise: a request is decided alike whether what came before it is applied or
// still in flight. Random requests run on two leaders, one that applies each transaction at once
// and one that applies them at random later; both must make the same transactions.
import {
  CreateRequest,
  CreateSessionRequest,
  encode,
  type ForwardedRequest,
  MultiRequest,
  type MultiRequestOp,
  OpCode,
  PathVersionRequest,
  SetAclRequest,
  SetDataRequest,
} from '@rookery/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IGNORE_CHANGES } from '../state/change-sink.js';
import { ReplicatedState } from '../state/replicated-state.js';
import { decodeTxn, encodeTxn } from '../state/txn-codec.js';
import { Prepare, type PreparedTxn } from './prepare.js';
import { OPEN_ACL } from './test-client.js';

const PATHS = ['/a', '/a', '/a/x', '/a/x', '/a/y', '/a/x/deep'];
const SESSIONS = 3;

const path = fc.constantFrom(...PATHS);
const version = fc.constantFrom(-1, -1, 0, 0, 1, 2);
const flags = fc.constantFrom(0, 0, 0, 1, 2, 3);
const operation: fc.Arbitrary<MultiRequestOp> = fc.oneof(
  fc.record({ path, flags }).map(
    (r): MultiRequestOp => ({
      opcode: OpCode.create,
      request: { ...r, data: null, acl: OPEN_ACL },
    }),
  ),
  fc
    .record({ path, version })
    .map((request): MultiRequestOp => ({ opcode: OpCode.delete, request })),
  fc
    .record({ path, version })
    .map((request): MultiRequestOp => ({ opcode: OpCode.check, request })),
  fc.record({ path, version }).map(
    (r): MultiRequestOp => ({
      opcode: OpCode.setData,
      request: { ...r, data: Buffer.from('d') },
    }),
  ),
);

type Step =
  | { readonly kind: 'one'; readonly ops: readonly MultiRequestOp[]; readonly by: number }
  | { readonly kind: 'multi'; readonly ops: readonly MultiRequestOp[]; readonly by: number }
  | { readonly kind: 'setAcl'; readonly path: string; readonly by: number }
  | { readonly kind: 'close'; readonly by: number }
  | { readonly kind: 'expire'; readonly by: number }
  | { readonly kind: 'open'; readonly by: number }
  | { readonly kind: 'apply'; readonly count: number };

const by = fc.integer({ min: 0, max: SESSIONS - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('one' as const),
      by,
      ops: fc.array(operation, { minLength: 1, maxLength: 1 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('multi' as const),
      by,
      ops: fc.array(operation, { maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('setAcl' as const), path, by }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('close' as const, 'expire' as const, 'open' as const),
      by,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('apply' as const),
      count: fc.integer({ min: 1, max: 6 }),
    }),
  },
);

class Leader {
  readonly state = new ReplicatedState();
  readonly prepare = new Prepare(this.state, {
    skipAcl: false,
    extendedTypes: true,
    enforceQuota: false,
    reconfigEnabled: false,
  });
  readonly bodies: string[] = [];
  readonly #waiting: { zxid: number; body: Uint8Array }[] = [];
  #sessions: number[] = [];

  constructor() {
    this.prepare.begin(1, 0, 1);
    for (let index = 0; index < SESSIONS; index++) this.run({ kind: 'open', by: index });
    this.apply(SESSIONS);
  }

  run(one: Exclude<Step, { kind: 'apply' }>): void {
    const session = this.#sessions[one.by] ?? 0;
    if (one.kind === 'expire') {
      const closed = this.prepare.prepareExpiry(session, 1);
      if (closed !== null) this.#keep(closed);
      return;
    }
    const prepared = this.prepare.prepare(1, requestOf(one, session), 1, () => new Uint8Array(16));
    if (one.kind === 'open') this.#sessions[one.by] = prepared.zxid;
    this.#keep(prepared);
  }

  apply(count: number): void {
    for (const { zxid, body } of this.#waiting.splice(0, count)) {
      this.state.apply(zxid, decodeTxn(body), IGNORE_CHANGES);
      this.prepare.applied(zxid);
    }
  }

  #keep({ zxid, txn }: PreparedTxn): void {
    const body = encodeTxn(txn);
    this.bodies.push(`${zxid} ${Buffer.from(body).toString('hex')}`);
    this.#waiting.push({ zxid, body });
  }
}

function requestOf(
  one: Exclude<Step, { kind: 'apply' | 'expire' }>,
  session: number,
): ForwardedRequest {
  const made = (opcode: number, body: Uint8Array): ForwardedRequest => ({
    request: 1,
    session,
    opcode,
    body,
    identities: [],
  });
  if (one.kind === 'open') {
    const body = encode(CreateSessionRequest, { timeoutMs: 1_000 });
    return { ...made(OpCode.createSession, body), session: 0 };
  }
  if (one.kind === 'close') return made(OpCode.closeSession, new Uint8Array());
  if (one.kind === 'setAcl') {
    return made(
      OpCode.setAcl,
      encode(SetAclRequest, { path: one.path, acl: OPEN_ACL, version: -1 }),
    );
  }
  if (one.kind === 'multi') return made(OpCode.multi, encode(MultiRequest, { ops: one.ops }));
  const [op] = one.ops;
  switch (op?.opcode) {
    case OpCode.create:
      return made(op.opcode, encode(CreateRequest, op.request));
    case OpCode.delete:
      return made(op.opcode, encode(PathVersionRequest, op.request));
    case OpCode.setData:
      return made(op.opcode, encode(SetDataRequest, op.request));
    default:
      return made(OpCode.multi, encode(MultiRequest, { ops: one.ops }));
  }
}

it('a request is decided alike whether what came before is applied or in flight', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 40, maxLength: 150 }), (steps) => {
      const prompt = new Leader();
      const late = new Leader();
      for (const one of steps) {
        if (one.kind === 'apply') {
          late.apply(one.count);
          continue;
        }
        prompt.run(one);
        prompt.apply(1);
        late.run(one);
        expect(late.bodies.at(-1)).toBe(prompt.bodies.at(-1));
      }
      late.apply(steps.length);
      expect(late.prepare.overlaySize).toBe(0);
      expect(late.state.digest()).toBe(prompt.state.digest());
    }),
    { numRuns: 200 },
  );
});
