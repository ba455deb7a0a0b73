/**
 * The leader's decision: a request and the state it will meet make a transaction.
 *
 * Owns the next zxid, the time of transactions and the overlay of changes in flight. Whatever is
 * wrong with a request becomes an error transaction, which has a zxid too. Time and randomness are
 * arguments; transaction time never falls. Called by Leadership, once per request, in order.
 */
import {
  assert,
  COUNTER_MAX,
  CreateRequest,
  CreateSessionRequest,
  CreateTtlRequest,
  counterOf,
  ErrorCode,
  epochOf,
  type ForwardedRequest,
  formatZxid,
  JuteReader,
  MarshallingError,
  MultiRequest,
  type MultiRequestOp,
  makeZxid,
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
import {
  PlacedCreate,
  PlacedSetData,
  placeFields,
  placeName,
  WorldAcls,
} from '../state/placed-op.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import { NO_NODE } from '../state/tree.js';
import type { ErrorOp, NodeOp, SessionId, Txn, TxnOp } from '../state/txn.js';
import { sizeOfAcl } from './acl-form.js';
import { multiCreateOpcode } from './create-mode.js';
import { type OpenedSession, Overlay } from './overlay.js';
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
/** Of the list that lets everybody do something. */
const WORLD_ACL_BYTES = 27;

export class Prepare {
  readonly #state: ReplicatedState;
  readonly #overlay: Overlay;
  readonly #rules: WriteRules;
  readonly #quotas: QuotaGuard;
  /** Of the request that is decided. */
  readonly #requester: Reused<Requester>;
  readonly #reader = new JuteReader(NO_BYTES);
  readonly #setData = new PlacedSetData();
  readonly #create = new PlacedCreate();
  readonly #acls = new WorldAcls();
  readonly #prepared: { zxid: Zxid; readonly txn: Reused<Txn> };
  #lastZxid: Zxid = 0;
  /** The zxid that the next transaction gets. */
  #next: Zxid = 0;
  #exhausted = false;
  #timeMs: number;

  constructor(state: ReplicatedState, rules: WriteRules) {
    this.#state = state;
    this.#rules = rules;
    this.#quotas = new QuotaGuard(state, rules.enforceQuota);
    const { skipAcl, extendedTypes } = rules;
    const txn = { origin: 0, request: 0, session: 0, time: 0, op: this.#setData };
    this.#prepared = { zxid: 0, txn };
    const nobody = { session: 0, opcode: 0, identities: [] };
    this.#requester = { ...nobody, skipAcl, extendedTypes, quotas: this.#quotas };
    this.#overlay = new Overlay(state);
    this.#timeMs = state.lastTime;
  }

  get lastZxid(): Zxid {
    return this.#lastZxid;
  }

  /** What the overlay keeps; 0 when everything prepared is applied. */
  get overlaySize(): number {
    return this.#overlay.size;
  }

  /** Once, before the first `prepare`; the state is at `lastZxid`. */
  begin(epoch: number, lastZxid: Zxid, firstCounter: number): void {
    assert(this.#next === 0, 'a prepare begins once');
    assert(
      this.#state.lastZxid === lastZxid,
      () => `${formatZxid(this.#state.lastZxid)} applied, history ends ${formatZxid(lastZxid)}`,
    );
    assert(epochOf(lastZxid) < epoch, () => `epoch ${epoch} is new after ${formatZxid(lastZxid)}`);
    this.#lastZxid = lastZxid;
    this.#next = makeZxid(epoch, firstCounter);
  }

  /** Zxids that the epoch still has. */
  counterLeft(): number {
    return this.#exhausted ? 0 : COUNTER_MAX - counterOf(this.#next) + 1;
  }

  prepare(
    origin: PeerId,
    request: ForwardedRequest,
    wallMs: number,
    random16: () => Uint8Array,
  ): PreparedTxn {
    const zxid = this.#takeZxid();
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
    const zxid = this.#takeZxid();
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
    const zxid = this.#takeZxid();
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

  #takeZxid(): Zxid {
    assert(this.#next > 0, 'prepare has begun');
    assert(!this.#exhausted, () => `no zxid is left after ${formatZxid(this.#lastZxid)}`);
    const zxid = this.#next;
    assert(zxid > this.#lastZxid, () => `${zxid} comes after ${this.#lastZxid}`);
    this.#lastZxid = zxid;
    if (counterOf(zxid) === COUNTER_MAX) this.#exhausted = true;
    else this.#next = zxid + 1;
    return zxid;
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
      case OpCode.create2:
        if (this.#placeCreate(reader, request.opcode)) {
          return this.#single(decidePlacedCreate(overlay, requester, this.#create));
        }
        return this.#single(decideCreate(overlay, requester, CreateRequest.read(reader)));
      case OpCode.createContainer:
        return this.#single(decideCreate(overlay, requester, CreateRequest.read(reader)));
      case OpCode.createTtl:
        return this.#single(decideCreate(overlay, requester, CreateTtlRequest.read(reader)));
      case OpCode.delete:
        return this.#single(decideDelete(overlay, requester, PathVersionRequest.read(reader)));
      case OpCode.setData:
        if (this.#place(reader)) {
          return this.#single(decidePlaced(overlay, requester, this.#setData));
        }
        return this.#single(decideSetData(overlay, requester, SetDataRequest.read(reader)));
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

  /** Where the request lies, if that is enough to decide it. */
  #place(reader: JuteReader): boolean {
    const op = this.#setData;
    const at = reader.position;
    const end = at + reader.remaining;
    const next = placeFields(op, reader, { at, end });
    if (next < 0 || next + 4 > end) return false;
    op.version = reader.view.getInt32(next);
    return this.#overlay.place(op);
  }

  /** As `#place`: a persistent znode with the usual ACL. */
  #placeCreate(reader: JuteReader, opcode: number): boolean {
    const op = this.#create;
    const at = reader.position;
    const end = at + reader.remaining;
    const next = placeFields(op, reader, { at, end });
    if (next < 0 || next + WORLD_ACL_BYTES + 4 > end) return false;
    const { view } = reader;
    if (!isWorldAcl(view, next) || view.getInt32(next + WORLD_ACL_BYTES) !== 0) return false;
    if (!placeName(op) || !this.#overlay.placeCreate(op)) return false;
    op.acl = this.#acls.of(view.getInt32(next + 4));
    op.opcode = opcode;
    return true;
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

/** A vector of one entry: its permissions, `world` and `anyone`. */
function isWorldAcl(view: DataView, at: number): boolean {
  if (view.getInt32(at) !== 1 || view.getInt32(at + 8) !== 5) return false;
  if (view.getInt32(at + 12) !== 0x776f726c || view.getInt32(at + 16) !== 0x64000000) return false;
  return view.getInt32(at + 20) === 0x06616e79 && view.getInt32(at + 23) === 0x796f6e65;
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
