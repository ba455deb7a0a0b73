/**
 * Decides requests for the leader: a request and the state that it will meet make a transaction.
 *
 * It owns the overlay of changes in flight. Whatever is wrong with a request becomes an error
 * transaction, which has a zxid too. Each transaction goes to the sink as soon as it is decided,
 * in the order of the zxids. Time and randomness are arguments. Called by RequestPreparer, once for
 * each request, in order.
 */
import {
  Acl as AclEntry,
  assert,
  COUNTER_MAX,
  CreateSessionRequest,
  counterOf,
  ErrorCode,
  epochOf,
  type ForwardedRequest,
  formatZxid,
  JuteReader,
  MarshallingError,
  makeZxid,
  OpCode,
  PASSWORD_BYTES,
  PathVersionRequest,
  type PeerId,
  pointAtRequest,
  RaiseSequenceRequest,
  ReconfigRequest,
  readOperations,
  readString,
  type SetAclRequest,
  unreachable,
  type Zxid,
} from '@rookery/protocol';
import { parentViewOf, pathViewOf } from '../state/memory/path-view.js';
import { CreateView, readPathAndData, SetDataView, WorldAcls } from '../state/op-view.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { OpenedSession } from '../state/session-record.js';
import type { ReapRules } from '../state/tree.js';
import { NO_NODE } from '../state/tree.js';
import type {
  Acl,
  ErrorOp,
  NodeOp,
  RaiseSequenceOp,
  Reused,
  SessionId,
  Txn,
  TxnOp,
} from '../state/txn.js';
import { type ProvenScheme, sizeOfAcl } from './acl-form.js';
import { Overlay } from './overlay.js';
import {
  type Decision,
  type DecisionContext,
  decideCheck,
  decideCreate,
  decideDelete,
  decideRaiseSequence,
  decideSetAcl,
  decideSetData,
  multiCreateOpcode,
} from './prepare-op.js';
import { QuotaGuard, type TreeBound, TreeRoom } from './write-room.js';

/** Where prepared transactions go: ProposalBatcher. */
export interface TxnSink {
  /** Encodes it before it returns: what it is made of is released then, and used again. */
  add(zxid: Zxid, txn: Txn): void;
}

/**
 * The member and the number of the request for the end of a session; 0 and 0 if nobody requested
 * it.
 */
export interface SessionEnd {
  readonly session: SessionId;
  readonly origin: PeerId;
  readonly request: number;
}

/** What the operator allows, from the configuration. */
export interface WriteRules {
  readonly skipAcl: boolean;
  readonly extendedTypes: boolean;
  /** Which of `x509` and `sasl` ACLs may name; absent for neither. */
  readonly aclSchemes?: ReadonlySet<ProvenScheme> | undefined;
  readonly enforceQuota: boolean;
  readonly ephemeralsPerSessionMax: number;
  readonly multiOpsMax: number;
  readonly pathDepthMax: number;
  readonly reconfigEnabled: boolean;
  readonly treeBound: TreeBound;
}

interface AskedMulti {
  readonly ops: readonly AskedOp[];
  readonly aclBytesMax: number;
}

/**
 * The first znodes that ZooKeeper leaves open to everybody. /zookeeper/config is not among them,
 * because nobody may write its data.
 */
const FIRST_NODES = ['/', '/zookeeper', '/zookeeper/quota'];
const NO_BYTES = new Uint8Array(0);
/** How much more the ACLs of a multi may have than the whole request. */
const ACL_GROWTH_BYTES_MAX = 256 << 10;

/** Its parts are public for reading; no other class changes them. */
export class TxnPreparer {
  readonly zxids: EpochZxids;
  readonly overlay: Overlay;
  readonly quotas: QuotaGuard;
  readonly room: TreeRoom;
  readonly #state: ReplicatedState;
  readonly #rules: WriteRules;
  /** With the client whose request is being decided. */
  readonly #context: Reused<DecisionContext>;
  readonly #reader = new JuteReader(NO_BYTES);
  readonly #views = new RequestViews();
  /** The transaction of a request. */
  readonly #txn: Reused<Txn>;
  readonly #sink: TxnSink;

  /** The state is at the end of the history from which the epoch starts. */
  constructor(state: ReplicatedState, rules: WriteRules, start: EpochStart, sink: TxnSink) {
    const { lastZxid } = state;
    assert(
      lastZxid === start.lastZxid,
      () => `${formatZxid(lastZxid)} applied, history ends ${formatZxid(start.lastZxid)}`,
    );
    this.#state = state;
    this.#rules = rules;
    this.zxids = new EpochZxids(start);
    this.quotas = new QuotaGuard(state, rules.enforceQuota);
    this.room = new TreeRoom(state, rules.treeBound);
    this.overlay = new Overlay(state);
    const { skipAcl, extendedTypes, aclSchemes, pathDepthMax } = rules;
    const ephemeralsMax = rules.ephemeralsPerSessionMax;
    this.#txn = { origin: 0, request: 0, session: 0, time: 0, op: failure(ErrorCode.ok) };
    this.#sink = sink;
    const nobody = { session: 0, opcode: 0, identities: [] };
    const allowed = { skipAcl, extendedTypes, aclSchemes, ephemeralsMax, pathDepthMax };
    this.#context = { ...nobody, ...allowed, quotas: this.quotas, treeRoom: this.room };
  }

  /** Decides a request. */
  prepare(
    origin: PeerId,
    request: ForwardedRequest,
    wallMs: number,
    random16: () => Uint8Array,
  ): void {
    const zxid = this.#begin();
    this.room.begin();
    const op = this.#decide(request, random16);
    if (op.kind !== 'error') this.room.commit(zxid);
    const txn = this.#txn;
    txn.origin = origin;
    txn.request = request.request;
    txn.session = request.session;
    txn.time = wallMs;
    txn.op = op;
    this.#end(zxid, txn);
    this.#views.release();
  }

  /** The end of a session, which deletes the ephemerals that it still has. */
  prepareClose({ session, ...asked }: SessionEnd, wallMs: number): void {
    const zxid = this.#begin();
    this.overlay.closeSession(session);
    this.#end(zxid, { ...asked, session, time: wallMs, op: { kind: 'closeSession' } });
  }

  /** The end of a session is decided; its close comes later. */
  prepareBeginClose({ session, ...asked }: SessionEnd, wallMs: number): void {
    const zxid = this.#begin();
    this.overlay.sessions.beginClose(session);
    this.#end(zxid, { ...asked, session, time: wallMs, op: { kind: 'beginClose' } });
  }

  /** All of them must exist and have no children. */
  prepareDeletes(paths: readonly string[], wallMs: number): void {
    const zxid = this.#begin();
    for (const path of paths) this.#delete(path);
    const ops = paths.map((path) => ({ kind: 'delete', path }) as const);
    this.#end(zxid, ownTxn({ kind: 'multi', ops }, wallMs));
  }

  /** Raises the ensemble level. Nothing else depends on it until it is applied. */
  prepareRaise(level: number, wallMs: number): void {
    this.#end(this.#begin(), ownTxn({ kind: 'raiseLevel', level }, wallMs));
  }

  /**
   * Sets the ACL of FIRST_NODES in one transaction, which is the first one of the ensemble.
   */
  prepareFounding(acl: readonly Acl[], wallMs: number): void {
    const zxid = this.#begin();
    const ops = FIRST_NODES.map((path) => {
      const version = this.overlay.setAcl(this.overlay.at(pathViewOf(path)), acl);
      return { kind: 'setAcl', path, acl, version } as const;
    });
    this.#end(zxid, ownTxn({ kind: 'multi', ops }, wallMs));
  }

  /**
   * Deletes a container or TTL node. Does nothing unless the reaper may delete it
   * (`Tree.isReapable`) and nothing in flight touches it.
   */
  prepareReap(path: string, wallMs: number, rules: ReapRules): void {
    const { tree } = this.#state;
    const node = tree.find(path);
    if (node === NO_NODE || this.overlay.touches(pathViewOf(path))) return;
    if (!tree.isReapable(node, rules)) return;
    const zxid = this.#begin();
    this.#delete(path);
    this.#end(zxid, ownTxn({ kind: 'delete', path }, wallMs));
  }

  /** The transaction is in the state now: the overlay forgets it. */
  applied(zxid: Zxid): void {
    this.overlay.applied(zxid);
    this.room.applied(zxid);
  }

  /** A session that exists or is being created, unless it is being closed. */
  liveSession(session: SessionId): OpenedSession | undefined {
    if (this.overlay.sessions.isEndDecided(session)) return undefined;
    return this.#state.sessions.get(session) ?? this.overlay.sessions.opened(session);
  }

  /** The znode exists and has no children. */
  #delete(path: string): void {
    const at = pathViewOf(path);
    this.overlay.delete(at, this.overlay.at(at), this.overlay.at(parentViewOf(at)));
  }

  #begin(): Zxid {
    const zxid = this.zxids.take();
    this.overlay.begin(zxid);
    return zxid;
  }

  #end(zxid: Zxid, txn: Txn): void {
    this.overlay.end();
    this.#sink.add(zxid, txn);
  }

  #decide(request: ForwardedRequest, random16: () => Uint8Array): TxnOp {
    try {
      return this.#decideRequest(request, random16);
    } catch (error) {
      if (!(error instanceof MarshallingError)) throw error;
      this.overlay.rollBack();
      return failure(ErrorCode.marshallingError);
    }
  }

  #decideRequest(request: ForwardedRequest, random16: () => Uint8Array): TxnOp {
    const reader = this.#reader;
    pointAtRequest(reader, request);
    const overlay = this.overlay;
    const views = this.#views;
    const context = this.#contextOf(request);
    switch (request.opcode) {
      case OpCode.create:
      case OpCode.create2:
      case OpCode.createContainer:
      case OpCode.createTtl:
        return single(decideCreate(overlay, context, views.create(reader, request.opcode)));
      case OpCode.delete:
        return single(decideDelete(overlay, context, PathVersionRequest.read(reader)));
      case OpCode.setData:
        return single(decideSetData(overlay, context, views.setData(reader)));
      case OpCode.setAcl:
        return single(decideSetAcl(overlay, context, views.setAcl(reader)));
      case OpCode.raiseSequence:
        return single(
          decideRaiseSequence(this.overlay, this.#context, RaiseSequenceRequest.read(reader)),
        );
      case OpCode.multi:
        return this.#multi({
          ops: views.multi(reader, this.#rules.multiOpsMax),
          aclBytesMax: request.body.length + ACL_GROWTH_BYTES_MAX,
        });
      case OpCode.createSession:
        return this.#openSession(CreateSessionRequest.read(reader).timeoutMs, random16());
      case OpCode.closeSession:
        // RequestPreparer takes the close of a session that is live.
        return failure(ErrorCode.sessionExpired);
      case OpCode.reconfig:
        ReconfigRequest.read(reader);
        if (!this.#rules.reconfigEnabled) return failure(ErrorCode.reconfigDisabled);
        return failure(ErrorCode.unimplemented);
      default:
        return failure(ErrorCode.unimplemented);
    }
  }

  /**
   * Each `auth` entry of its ACLs is replaced by the identities of the client, which may be many.
   * All ACLs together therefore have a bound: the transaction must fit into a frame.
   */
  #multi({ ops: requests, aclBytesMax }: AskedMulti): TxnOp {
    // A multi is decided and applied in one turn, during which nobody else is served.
    if (requests.length > this.#rules.multiOpsMax) return failure(ErrorCode.badArguments);
    const ops: NodeOp[] = [];
    let aclBytes = 0;
    this.room.beginMulti();
    this.overlay.beginMulti();
    for (const request of requests) {
      let decision = this.#decideOp(request);
      if (typeof decision === 'object' && decision.kind === 'create') {
        aclBytes += sizeOfAcl(decision.acl);
        if (aclBytes > aclBytesMax) decision = ErrorCode.invalidAcl;
      }
      if (typeof decision === 'number') {
        this.overlay.rollBack();
        return multiFailure(decision, { failed: ops.length, count: requests.length });
      }
      ops.push(decision);
    }
    if (this.room.refusesMulti()) {
      this.overlay.rollBack();
      // All operations together are too large: the last one that adds something gets the error.
      const failed = ops.findLastIndex(({ kind }) => kind !== 'delete' && kind !== 'check');
      return multiFailure(ErrorCode.quotaExceeded, { failed, count: requests.length });
    }
    return { kind: 'multi', ops };
  }

  #contextOf({ session, opcode, identities }: ForwardedRequest): DecisionContext {
    const context = this.#context;
    context.session = session;
    context.opcode = opcode;
    context.identities = identities;
    return context;
  }

  /** Decides an operation of a multi, in the request's context but with the opcode of a create. */
  #decideOp(op: AskedOp): Decision {
    const overlay = this.overlay;
    const context = this.#context;
    switch (op.kind) {
      case 'create':
        context.opcode = multiCreateOpcode(op.opcode, op.flags);
        return decideCreate(overlay, context, op);
      case 'setData':
        return decideSetData(overlay, context, op);
      case 'delete':
        return decideDelete(overlay, context, op.request);
      case 'check':
        return decideCheck(overlay, context, op.request);
      default:
        return unreachable(op);
    }
  }

  /**
   * The client's member has negotiated the timeout, but it came over a link and is checked again.
   */
  #openSession(timeoutMs: number, password: Uint8Array): TxnOp {
    if (timeoutMs <= 0) throw new MarshallingError(`a session timeout of ${timeoutMs}`);
    assert(password.length === PASSWORD_BYTES, () => `${password.length} random bytes are 16`);
    this.overlay.openSession({ timeoutMs, password });
    return { kind: 'createSession', timeoutMs, password };
  }
}

function single(decision: Decision | RaiseSequenceOp): TxnOp {
  return typeof decision === 'number' ? failure(decision) : decision;
}

/** A transaction of the leader's own: no client has requested it. */
function ownTxn(op: TxnOp, wallMs: number): Txn {
  return { origin: 0, request: 0, session: 0, time: wallMs, op };
}

/**
 * Makes the operation of a transaction whose request was refused: it has a zxid and changes
 * nothing. Called by TxnPreparer.
 */
function failure(code: ErrorCode): ErrorOp {
  return { kind: 'error', code, codes: null };
}

/** The codes of the operations: 0 before the one that failed, its code, and -2 after it. */
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

/** Where an epoch begins. */
export interface EpochStart {
  readonly epoch: number;
  /** The last zxid of the history from which this leadership starts; all of it is applied. */
  readonly lastZxid: Zxid;
  /** The counter of the epoch's first proposal; above 1 only in tests of the rollover. */
  readonly firstCounter: number;
}

/**
 * Hands out the zxids of a leader's epoch, each once, until its counter is used up.
 *
 * Invariant: each is above all before it, and of this epoch. Owned by TxnPreparer.
 */
class EpochZxids {
  #last: Zxid;
  #next: Zxid;
  #exhausted = false;

  constructor({ epoch, lastZxid, firstCounter }: EpochStart) {
    assert(epochOf(lastZxid) < epoch, () => `epoch ${epoch} is new after ${formatZxid(lastZxid)}`);
    this.#last = lastZxid;
    this.#next = makeZxid(epoch, firstCounter);
  }

  /** The last zxid that was handed out; before the first, the end of the history. */
  get last(): Zxid {
    return this.#last;
  }

  /** The number that is left. */
  get left(): number {
    return this.#exhausted ? 0 : COUNTER_MAX - counterOf(this.#next) + 1;
  }

  take(): Zxid {
    assert(!this.#exhausted, () => `no zxid is left after ${formatZxid(this.#last)}`);
    const zxid = this.#next;
    assert(zxid > this.#last, () => `${formatZxid(zxid)} comes after ${formatZxid(this.#last)}`);
    this.#last = zxid;
    if (counterOf(zxid) === COUNTER_MAX) this.#exhausted = true;
    else this.#next = zxid + 1;
    return zxid;
  }
}

/** The size of a list that allows everybody something. */
const WORLD_ACL_BYTES = 27;
/**
 * The ACL entries of one request. No list with more of them can be stored (acl-form.ts), and with
 * this many a request takes some 20 ms.
 */
const ACL_ENTRIES_MAX = 1 << 14;

/** An operation of a multi. */
type AskedOp =
  | CreateView
  | SetDataView
  | { readonly kind: 'delete' | 'check'; readonly request: PathVersionRequest };

/**
 * Reads the writes of clients in place.
 *
 * A setData or a create of a request of its own, which nearly all writes are, is read into one
 * object that serves each request. The operations of a multi get objects of their own, because all
 * of them are decided before the first is encoded. Whatever the bytes are, a read returns an
 * operation or throws MarshallingError.
 */
export class RequestViews {
  readonly #setData = new SetDataView();
  readonly #create = new CreateView();
  readonly #acls = new WorldAcls();
  /** The ACL entries that the request may still have. */
  #entriesLeft = ACL_ENTRIES_MAX;

  /** Releases the objects that serve each request; called once the last one is encoded. */
  release(): void {
    this.#entriesLeft = ACL_ENTRIES_MAX;
    this.#setData.release();
    this.#create.release();
  }

  /** The result is valid until `release`, unless it is the caller's own `op`. */
  setData(reader: JuteReader, op = this.#setData): SetDataView {
    readPathAndData(op, reader);
    op.expected = reader.int();
    return op;
  }

  /** Like `setData`. */
  create(reader: JuteReader, opcode: number, op = this.#create): CreateView {
    readPathAndData(op, reader);
    op.locateName();
    op.opcode = opcode;
    op.askedAcl = this.#acl(reader);
    op.flags = reader.int();
    op.askedTtlMs = opcode === OpCode.createTtl ? reader.long() : 0;
    return op;
  }

  setAcl(reader: JuteReader): SetAclRequest {
    return { path: readString(reader), acl: this.#entries(reader), version: reader.int() };
  }

  /** The operations of a multi, at most one more than `countMax`. */
  multi(reader: JuteReader, countMax: number): readonly AskedOp[] {
    return readOperations(reader, (from, opcode) => this.#operation(from, opcode), countMax);
  }

  #operation(reader: JuteReader, opcode: number): AskedOp {
    switch (opcode) {
      case OpCode.create:
      case OpCode.create2:
      case OpCode.createContainer:
      case OpCode.createTtl:
        return this.create(reader, opcode, new CreateView());
      case OpCode.setData:
        return this.setData(reader, new SetDataView());
      case OpCode.delete:
        return { kind: 'delete', request: PathVersionRequest.read(reader) };
      case OpCode.check:
        return { kind: 'check', request: PathVersionRequest.read(reader) };
      default:
        throw new MarshallingError(`operation ${opcode} is not allowed in a multi`);
    }
  }

  /** Nearly every create has only the world in its list. */
  #acl(reader: JuteReader): readonly Acl[] | null {
    const { view, position: at } = reader;
    if (reader.remaining < WORLD_ACL_BYTES || !isWorldAcl(view, at)) {
      return this.#entries(reader);
    }
    reader.skip(WORLD_ACL_BYTES);
    return this.#acls.of(view.getInt32(at + 4));
  }

  /** Too many entries are skipped, and read as null, which is no legal list either. */
  #entries(reader: JuteReader): readonly Acl[] | null {
    const count = reader.count();
    if (count === -1) return null;
    this.#entriesLeft -= count;
    const entries: Acl[] = [];
    for (let left = count; left > 0; left--) {
      if (this.#entriesLeft < 0) skipAclEntry(reader);
      else entries.push(AclEntry.read(reader));
    }
    return this.#entriesLeft < 0 ? null : entries;
  }
}

function skipAclEntry(reader: JuteReader): void {
  reader.int();
  reader.skipBuffer();
  reader.skipBuffer();
}

/** Whether it is a vector of one entry: its permissions, `world` and `anyone`. */
function isWorldAcl(view: DataView, at: number): boolean {
  if (view.getInt32(at) !== 1 || view.getInt32(at + 8) !== 5) return false;
  if (view.getInt32(at + 12) !== 0x776f726c || view.getInt32(at + 16) !== 0x64000000) return false;
  return view.getInt32(at + 20) === 0x06616e79 && view.getInt32(at + 23) === 0x796f6e65;
}
