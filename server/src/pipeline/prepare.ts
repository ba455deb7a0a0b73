/**
 * The leader's decision: a request and the state it will meet make a transaction.
 *
 * Owns the time of transactions and the overlay of changes in flight. Whatever is wrong with a
 * request becomes an error transaction, which has a zxid too. Time and randomness are arguments;
 * transaction time never falls. Called by Leadership, once per request, in order.
 */
import {
  assert,
  CreateRequest,
  CreateSessionRequest,
  CreateTtlRequest,
  ErrorCode,
  type ForwardedRequest,
  formatZxid,
  JuteReader,
  MarshallingError,
  MultiRequest,
  type MultiRequestOp,
  OpCode,
  PASSWORD_BYTES,
  PathVersionRequest,
  type PeerId,
  pointAtRequest,
  ReconfigRequest,
  SetAclRequest,
  SetDataRequest,
  unreachable,
  type Zxid,
} from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import { NO_NODE } from '../state/tree.js';
import type { ErrorOp, NodeOp, SessionId, Txn, TxnOp } from '../state/txn.js';
import { sizeOfAcl } from './acl-form.js';
import { multiCreateOpcode } from './create-mode.js';
import { EpochZxids } from './epoch-zxids.js';
import { type OpenedSession, Overlay } from './overlay.js';
import { PlacedRequest } from './placed-request.js';
import {
  type Decision,
  decideCheck,
  decideCreate,
  decideDelete,
  decidePlaced,
  decidePlacedCreate,
  decideSetAcl,
  decideSetData,
  type Requester,
} from './prepare-op.js';
import { QuotaGuard } from './quota-guard.js';

/** To be encoded before the next one is prepared, which is written over it. */
export interface PreparedTxn {
  readonly zxid: Zxid;
  readonly txn: Txn;
}

/** What the operator allows; from the configuration. */
export interface WriteRules {
  readonly skipAcl: boolean;
  readonly extendedTypes: boolean;
  readonly enforceQuota: boolean;
  readonly reconfigEnabled: boolean;
}

interface AskedMulti {
  readonly ops: readonly MultiRequestOp[];
  readonly aclBytesMax: number;
}

/** Written anew for each request. */
type Reused<T> = { -readonly [Field in keyof T]: T[Field] };

const NO_BYTES = new Uint8Array(0);
/** What the ACLs of a multi may have more than the whole request. */
const ACL_GROWTH_BYTES_MAX = 256 << 10;

export class Prepare {
  readonly #state: ReplicatedState;
  readonly #overlay: Overlay;
  readonly #rules: WriteRules;
  readonly #quotas: QuotaGuard;
  /** Of the request that is decided. */
  readonly #requester: Reused<Requester>;
  readonly #reader = new JuteReader(NO_BYTES);
  readonly #placed: PlacedRequest;
  readonly #prepared: { zxid: Zxid; readonly txn: Reused<Txn> };
  readonly #zxids = new EpochZxids();
  #timeMs: number;

  constructor(state: ReplicatedState, rules: WriteRules) {
    this.#state = state;
    this.#rules = rules;
    this.#quotas = new QuotaGuard(state, rules.enforceQuota);
    const { skipAcl, extendedTypes } = rules;
    const txn = { origin: 0, request: 0, session: 0, time: 0, op: failure(ErrorCode.ok) };
    this.#prepared = { zxid: 0, txn };
    const nobody = { session: 0, opcode: 0, identities: [] };
    this.#requester = { ...nobody, skipAcl, extendedTypes, quotas: this.#quotas };
    this.#overlay = new Overlay(state);
    this.#placed = new PlacedRequest(this.#overlay);
    this.#timeMs = state.lastTime;
  }

  get lastZxid(): Zxid {
    return this.#zxids.last;
  }

  /** What the overlay keeps; 0 when everything prepared is applied. */
  get overlaySize(): number {
    return this.#overlay.size;
  }

  /** Once, before the first `prepare`; the state is at `lastZxid`. */
  begin(epoch: number, lastZxid: Zxid, firstCounter: number): void {
    assert(
      this.#state.lastZxid === lastZxid,
      () => `${formatZxid(this.#state.lastZxid)} applied, history ends ${formatZxid(lastZxid)}`,
    );
    this.#zxids.begin(epoch, lastZxid, firstCounter);
  }

  /** Zxids that the epoch still has. */
  counterLeft(): number {
    return this.#zxids.left;
  }

  prepare(
    origin: PeerId,
    request: ForwardedRequest,
    wallMs: number,
    random16: () => Uint8Array,
  ): PreparedTxn {
    const zxid = this.#zxids.take();
    this.#overlay.begin(zxid);
    const op = this.#decide(request, random16);
    const prepared = this.#prepared;
    const { txn } = prepared;
    prepared.zxid = zxid;
    txn.origin = origin;
    txn.request = request.request;
    txn.session = request.session;
    txn.time = this.#tick(wallMs);
    txn.op = op;
    return prepared;
  }

  /** The close of a session that nobody asked for; null when it is being closed already. */
  prepareExpiry(session: SessionId, wallMs: number): PreparedTxn | null {
    if (!this.#overlay.isLive(session)) return null;
    const zxid = this.#zxids.take();
    this.#overlay.begin(zxid);
    this.#overlay.closeSession(session);
    const time = this.#tick(wallMs);
    return { zxid, txn: { origin: 0, request: 0, session, time, op: { kind: 'closeSession' } } };
  }

  /**
   * The delete of a container or TTL node that nobody would miss; null when somebody would after
   * all. While anything in flight touches it, somebody may.
   */
  prepareReap(path: string, wallMs: number): PreparedTxn | null {
    const { tree } = this.#state;
    const node = tree.find(path);
    if (node === NO_NODE || this.#overlay.touches(path)) return null;
    const time = this.#tick(wallMs);
    if (!tree.isReapable(node, time)) return null;
    const zxid = this.#zxids.take();
    this.#overlay.begin(zxid);
    this.#overlay.delete(path);
    this.#overlay.commit();
    return { zxid, txn: { origin: 0, request: 0, session: 0, time, op: { kind: 'delete', path } } };
  }

  /** Quotas that were exceeded since the last call, for the log. */
  takeNotes(): readonly string[] {
    return this.#quotas.takeNotes();
  }

  /** The transaction is in the state now: the overlay forgets it. */
  applied(zxid: Zxid): void {
    this.#overlay.applied(zxid);
  }

  /** A session that exists or is being created, unless it is being closed. */
  liveSession(session: SessionId): OpenedSession | undefined {
    if (this.#overlay.isClosing(session)) return undefined;
    return this.#state.sessions.get(session) ?? this.#overlay.openedSession(session);
  }

  #tick(wallMs: number): number {
    if (wallMs > this.#timeMs) this.#timeMs = wallMs;
    return this.#timeMs;
  }

  #decide(request: ForwardedRequest, random16: () => Uint8Array): TxnOp {
    try {
      return this.#decideRequest(request, random16);
    } catch (error) {
      if (!(error instanceof MarshallingError)) throw error;
      this.#overlay.rollBack();
      return failure(ErrorCode.marshallingError);
    }
  }

  #decideRequest(request: ForwardedRequest, random16: () => Uint8Array): TxnOp {
    const reader = this.#reader;
    pointAtRequest(reader, request);
    const overlay = this.#overlay;
    const requester = this.#requesterOf(request);
    switch (request.opcode) {
      case OpCode.create:
      case OpCode.create2: {
        const placed = this.#placed.create(reader, request.opcode);
        if (placed !== null) return this.#single(decidePlacedCreate(overlay, requester, placed));
        return this.#single(decideCreate(overlay, requester, CreateRequest.read(reader)));
      }
      case OpCode.createContainer:
        return this.#single(decideCreate(overlay, requester, CreateRequest.read(reader)));
      case OpCode.createTtl:
        return this.#single(decideCreate(overlay, requester, CreateTtlRequest.read(reader)));
      case OpCode.delete:
        return this.#single(decideDelete(overlay, requester, PathVersionRequest.read(reader)));
      case OpCode.setData: {
        const placed = this.#placed.setData(reader);
        if (placed !== null) return this.#single(decidePlaced(overlay, requester, placed));
        return this.#single(decideSetData(overlay, requester, SetDataRequest.read(reader)));
      }
      case OpCode.setAcl:
        return this.#single(decideSetAcl(overlay, requester, SetAclRequest.read(reader)));
      case OpCode.multi:
        return this.#multi(requester, {
          ...MultiRequest.read(reader),
          aclBytesMax: request.body.length + ACL_GROWTH_BYTES_MAX,
        });
      case OpCode.createSession:
        return this.#openSession(CreateSessionRequest.read(reader).timeoutMs, random16());
      case OpCode.closeSession:
        if (!overlay.isLive(request.session)) return failure(ErrorCode.sessionExpired);
        overlay.closeSession(request.session);
        return { kind: 'closeSession' };
      case OpCode.reconfig:
        ReconfigRequest.read(reader);
        if (!this.#rules.reconfigEnabled) return failure(ErrorCode.reconfigDisabled);
        return failure(ErrorCode.unimplemented);
      default:
        return failure(ErrorCode.unimplemented);
    }
  }

  #single(decision: Decision): TxnOp {
    if (typeof decision === 'number') return failure(decision);
    this.#overlay.commit();
    return decision;
  }

  /** Each `auth` in it is replaced by many ids: all together have a bound, or no frame holds it. */
  #multi(requester: Requester, { ops: requests, aclBytesMax }: AskedMulti): TxnOp {
    const ops: NodeOp[] = [];
    let aclBytes = 0;
    for (const request of requests) {
      let decision = this.#decideOp(requester, request);
      if (typeof decision === 'object' && decision.kind === 'create') {
        aclBytes += sizeOfAcl(decision.acl);
        if (aclBytes > aclBytesMax) decision = ErrorCode.invalidAcl;
      }
      if (typeof decision === 'number') {
        this.#overlay.rollBack();
        return multiFailure(decision, { failed: ops.length, count: requests.length });
      }
      ops.push(decision);
    }
    this.#overlay.commit();
    return { kind: 'multi', ops };
  }

  #requesterOf({ session, opcode, identities }: ForwardedRequest): Requester {
    const requester = this.#requester;
    requester.session = session;
    requester.opcode = opcode;
    requester.identities = identities;
    return requester;
  }

  #decideOp(whole: Requester, op: MultiRequestOp): Decision {
    const requester = { ...whole, opcode: op.opcode };
    switch (op.opcode) {
      case OpCode.create:
      case OpCode.create2:
      case OpCode.createContainer:
      case OpCode.createTtl: {
        const opcode = multiCreateOpcode(op.opcode, op.request.flags);
        return decideCreate(this.#overlay, { ...requester, opcode }, op.request);
      }
      case OpCode.delete:
        return decideDelete(this.#overlay, requester, op.request);
      case OpCode.setData:
        return decideSetData(this.#overlay, requester, op.request);
      case OpCode.check:
        return decideCheck(this.#overlay, requester, op.request);
      default:
        return unreachable(op);
    }
  }

  #openSession(timeoutMs: number, password: Uint8Array): TxnOp {
    assert(timeoutMs > 0, () => `session timeout ${timeoutMs} was negotiated`);
    assert(password.length === PASSWORD_BYTES, () => `${password.length} random bytes are 16`);
    this.#overlay.openSession({ timeoutMs, password });
    return { kind: 'createSession', timeoutMs, password };
  }
}

function failure(code: ErrorCode): ErrorOp {
  return { kind: 'error', code, codes: null };
}

/** Of each operation: 0 before the one that failed, its code, and -2 behind it. */
function multiFailure(
  code: ErrorCode,
  at: { readonly failed: number; readonly count: number },
): ErrorOp {
  const codes: number[] = [];
  for (let index = 0; index < at.count; index++) {
    if (index === at.failed) codes.push(code);
    else codes.push(index < at.failed ? ErrorCode.ok : ErrorCode.runtimeInconsistency);
  }
  return { kind: 'error', code, codes };
}
