// Tests the overlay's one promise: a request is decided alike whether what came before it is
// applied or still in flight. Random requests run on two leaders, one that applies each transaction
// at once and one that applies them at random later; both must make the same transactions.
import {
  CreateRequest,
  CreateSessionRequest,
  encode,
  type ForwardedRequest,
  MultiRequest,
  type MultiRequestOp,
  OpCode,
  PathVersionRequest,
  RaiseSequenceRequest,
  SetAclRequest,
  SetDataRequest,
} from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OPEN_ACL } from '../simulated/pipeline/test-client.js';
import { decodeTxn, encodeTxn } from '../simulated/state/encoded-txn.js';
import { IGNORE_CHANGES, ReplicatedState } from '../state/replicated-state.js';
import type { Txn, TxnOp } from '../state/txn.js';
import { LOCAL_SESSION } from './local-sessions.js';
import { TxnPreparer, type WriteRules } from './prepare.js';
import { NO_BOUND } from './write-room.js';

/** Longer than the memory that an entry of the overlay has at first. */
const LONG = `/${'long-'.repeat(30)}`;
const PATHS = [
  '/a',
  '/a',
  '/a/x',
  '/a/x',
  '/a/y',
  '/a/x/deep',
  '/b',
  '/b/x',
  '/b/ä',
  '/ä/x',
  LONG,
  `${LONG}/.x`,
];
const SESSIONS = 3;
const RULES: WriteRules = {
  skipAcl: false,
  extendedTypes: true,
  enforceQuota: false,
  ephemeralsPerSessionMax: 1_000,
  multiOpsMax: 4096,
  pathDepthMax: 2000,
  reconfigEnabled: false,
  treeBound: NO_BOUND,
};

const path = fc.constantFrom(...PATHS);
const version = fc.constantFrom(-1, -1, 0, 0, 1, 2);
const flags = fc.constantFrom(0, 0, 0, 1, 2, 3);
const operation: fc.Arbitrary<MultiRequestOp> = fc.oneof(
  fc.record({ path, flags, data: fc.constantFrom(null, Buffer.from('data')) }).map(
    (r): MultiRequestOp => ({
      opcode: OpCode.create,
      request: { ...r, acl: OPEN_ACL },
    }),
  ),
  fc
    .record({ path, version })
    .map((request): MultiRequestOp => ({ opcode: OpCode.delete, request })),
  fc
    .record({ path, version })
    .map((request): MultiRequestOp => ({ opcode: OpCode.check, request })),
  fc
    .record({ path, version, data: fc.constantFrom(null, Buffer.from('d'), Buffer.alloc(600)) })
    .map((request): MultiRequestOp => ({ opcode: OpCode.setData, request })),
);

interface Raise {
  readonly kind: 'raise';
  readonly path: string;
  readonly atLeast: number;
  readonly by: number;
}
type Step =
  | { readonly kind: 'one'; readonly ops: readonly MultiRequestOp[]; readonly by: number }
  | { readonly kind: 'multi'; readonly ops: readonly MultiRequestOp[]; readonly by: number }
  | { readonly kind: 'own'; readonly paths: readonly string[]; readonly by: number }
  | { readonly kind: 'setAcl'; readonly path: string; readonly by: number }
  | Raise
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
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('raise' as const),
      path,
      by,
      atLeast: fc.integer({ min: -1, max: 9 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('own' as const),
      by,
      paths: fc.array(path, { minLength: 2, maxLength: 6 }),
    }),
  },
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
  readonly prepare = new TxnPreparer(
    this.state,
    RULES,
    { epoch: 1, lastZxid: 0, firstCounter: 1 },
    { add: (zxid, txn) => this.#keep(zxid, txn) },
  );
  readonly bodies: string[] = [];
  readonly #waiting: { zxid: number; body: Uint8Array }[] = [];
  #sessions: number[] = [];

  constructor() {
    this.state.finishLoad({ zxid: 0, lastTime: 0 });
    for (let index = 0; index < SESSIONS; index++) this.run({ kind: 'open', by: index });
    this.apply(SESSIONS);
  }

  run(one: Exclude<Step, { kind: 'apply' }>): void {
    const session = this.#sessions[one.by] ?? 0;
    const isLive = this.prepare.overlay.sessions.isLive(session);
    if (one.kind === 'expire' || (one.kind === 'close' && isLive)) {
      const asked = { session, origin: 0, request: 0 };
      if (isLive) this.prepare.prepareClose(asked, 1);
      return;
    }
    if (one.kind === 'own') {
      for (const path of one.paths) this.#decide(createEphemeral(path, session));
      return;
    }
    this.#decide(requestOf(one, session));
    if (one.kind === 'open') this.#sessions[one.by] = this.prepare.zxids.last;
  }

  apply(count: number): void {
    for (const { zxid, body } of this.#waiting.splice(0, count)) {
      this.state.apply(zxid, decodeTxn(body), IGNORE_CHANGES);
      this.prepare.applied(zxid);
    }
  }

  #decide(request: ForwardedRequest): void {
    this.prepare.prepare(1, request, 1, () => new Uint8Array(16));
  }

  #keep(zxid: number, txn: Txn): void {
    const body = encodeTxn(txn);
    this.bodies.push(`${zxid} ${Buffer.from(body).toString('hex')}`);
    this.#waiting.push({ zxid, body });
  }
}

function requestBy(session: number, opcode: number, body: Uint8Array): ForwardedRequest {
  return { request: 1, session, attachment: 0, opcode, body, identities: [] };
}

function createEphemeral(path: string, session: number): ForwardedRequest {
  const request = { path, data: null, acl: OPEN_ACL, flags: 1 };
  return requestBy(session, OpCode.create, encode(CreateRequest, request));
}

function requestOf(
  one: Exclude<Step, { kind: 'apply' | 'expire' | 'own' }>,
  session: number,
): ForwardedRequest {
  const made = (opcode: number, body: Uint8Array): ForwardedRequest =>
    requestBy(session, opcode, body);
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
  if (one.kind === 'raise') {
    const { path, atLeast } = one;
    return made(OpCode.raiseSequence, encode(RaiseSequenceRequest, { path, atLeast }));
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

/** Little but plain creates is in flight, so that many requests see what they leave. */
const plain: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ path, data: fc.constantFrom(null, Buffer.from('data')), by }).map(
      (r): Step => ({
        kind: 'one',
        by: r.by,
        ops: [{ opcode: OpCode.create, request: { ...r, flags: 0, acl: OPEN_ACL } }],
      }),
    ),
  },
  { weight: 3, arbitrary: step },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('apply' as const),
      count: fc.integer({ min: 1, max: 12 }),
    }),
  },
);

it.each([
  ['anything', step],
  ['plain creates', plain],
])('a request is decided alike whether what came before is applied or in flight: %s', (_, some) => {
  fc.assert(
    fc.property(fc.array(some, { minLength: 40, maxLength: 150 }), (steps) => {
      const prompt = new Leader();
      const late = new Leader();
      for (const one of steps) {
        if (one.kind === 'apply') {
          late.apply(one.count);
          continue;
        }
        const before = prompt.bodies.length;
        prompt.run(one);
        prompt.apply(steps.length);
        late.run(one);
        expect(late.bodies.slice(before)).toEqual(prompt.bodies.slice(before));
      }
      late.apply(late.bodies.length);
      expect(late.prepare.overlay.isEmpty).toBe(true);
      expect(late.state.digest()).toBe(prompt.state.digest());
    }),
    { numRuns: 200 },
  );
});

describe('a session with very many ephemerals', () => {
  const COUNT = 200_000;
  const session = 7;

  /** `/many` has them and `/few` has one; `others` are applied after them. */
  function leaderWith(others: readonly string[]) {
    const state = new ReplicatedState();
    let zxid = session;
    const apply = (op: TxnOp): void => {
      state.apply(zxid++, { origin: 1, request: 1, session, time: 1, op }, IGNORE_CHANGES);
    };
    const create = (path: string, mode: 'ephemeral' | 'persistent'): void => {
      const acl = OPEN_ACL;
      apply({ kind: 'create', path, data: null, acl, mode, ttlMs: 0, opcode: OpCode.create });
    };
    apply({ kind: 'createSession', timeoutMs: 1_000, password: new Uint8Array(16) });
    create('/many', 'persistent');
    create('/few', 'persistent');
    for (const other of others) create(other, 'persistent');
    for (let index = 0; index < COUNT; index++) create(`/many/e${index}`, 'ephemeral');
    create('/few/e', 'ephemeral');
    const start = { epoch: 1, lastZxid: state.lastZxid, firstCounter: 1 };
    const made: { zxid: number; txn: Txn }[] = [];
    const keep = (zxid: number, txn: Txn) =>
      void made.push({ zxid, txn: decodeTxn(encodeTxn(txn)) });
    const prepare = new TxnPreparer(state, RULES, start, { add: keep });
    return { state, prepare, made };
  }

  const ask = (
    { prepare, made }: ReturnType<typeof leaderWith>,
    request: ForwardedRequest,
  ): TxnOp | undefined => {
    const before = made.length;
    prepare.prepare(1, request, 1, () => new Uint8Array(16));
    expect(made).toHaveLength(before + 1);
    return made.at(-1)?.txn.op;
  };
  const remove = (leader: ReturnType<typeof leaderWith>, path: string): TxnOp | undefined => {
    const body = encode(PathVersionRequest, { path, version: -1 });
    return ask(leader, requestBy(LOCAL_SESSION, OpCode.delete, body));
  };

  it('is closed with a bounded overlay, and its parents are empty at once', () => {
    const leader = leaderWith([]);
    const { state, prepare } = leader;
    const body = encode(CreateRequest, { path: '/few/late', data: null, acl: OPEN_ACL, flags: 1 });
    ask(leader, requestBy(session, OpCode.create, body));
    const before = prepare.overlay.size;
    prepare.prepareClose({ session, origin: 1, request: 1 }, 1);
    expect(prepare.overlay.size).toBe(before + 1);
    const made = leader.made.slice();
    expect(remove(leader, '/many/e5')).toMatchObject({ kind: 'error', code: -101 });
    expect(remove(leader, '/few/late')).toMatchObject({ kind: 'error', code: -101 });
    expect(remove(leader, '/many')).toEqual({ kind: 'delete', path: '/many' });
    expect(remove(leader, '/few')).toEqual({ kind: 'delete', path: '/few' });
    expect(prepare.overlay.size).toBe(before + 3);
    for (const { zxid, txn } of made) {
      state.apply(zxid, txn, IGNORE_CHANGES);
      prepare.applied(zxid);
    }
    expect(state.tree.ephemeralCount).toBe(0);
  });

  it('leaves what others have in the same parent, which is not empty then', () => {
    const leader = leaderWith(['/many/kept']);
    leader.prepare.prepareClose({ session, origin: 1, request: 1 }, 1);
    expect(remove(leader, '/many')).toMatchObject({ kind: 'error', code: -111 });
    expect(remove(leader, '/many')).toMatchObject({ kind: 'error', code: -111 });
    expect(remove(leader, '/many/kept')).toEqual({ kind: 'delete', path: '/many/kept' });
    expect(remove(leader, '/many')).toEqual({ kind: 'delete', path: '/many' });
  });
});
