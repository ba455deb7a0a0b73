/**
 * Classifies the requests of live connections, runs or forwards them, and answers them in order.
 *
 * Each connection's CommitQueue keeps the order within a session. This class finds the request to
 * which a transaction or an answer belongs: in the queue of its session, or by its number, which
 * the Outbox has given. It never touches handshakes, sessions or the changes of the state. A
 * connection that got its last answer, or cannot continue, is left in `takeFinished` for Pipeline.
 */
import {
  assert,
  ErrorCode,
  FrameTooLargeError,
  JuteReader,
  OpCode,
  type Synced,
  unreachable,
  type Zxid,
} from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { Reused, Txn } from '../state/txn.js';
import type { WatchTable } from '../state/watches.js';
import type { Requester } from './access.js';
import type { Applier } from './apply.js';
import type { Auditor } from './audit.js';
import type { ConnectionId, ReplyRecord } from './client-channel.js';
import type { Connection, Connections, QueueEntry } from './connection.js';
import type { LeftSessions } from './left-sessions.js';
import { LOCAL_SESSION, type LocalSessions } from './local-sessions.js';
import type { Logins } from './logins.js';
import type { PipelineOptions } from './options.js';
import type { Outbox, Throttle } from './outbox.js';
import { type ReadHeader, runRead, runWatchesPart } from './read.js';
import { answerBytesOf, isListing, LARGE_BYTES, type ReadScene, ReadScenes } from './read-scene.js';
import { beginReply, writeError, writeSyncReply } from './reply.js';
import { classOf, classOfStranger, isRefusedReadOnly, kindOf, operationName } from './request.js';
import { isDivided, partsOf } from './watch-requests.js';

/** xid and type: the RequestHeader. */
export const HEADER_BYTES = 8;
/**
 * When a write is applied, the reads that are parked before it are answered even if the output is
 * full and the turn has no time left. The queue keeps their estimates small, but other sessions may
 * have made the znodes larger since: all reads of one turn together may have grown by this many
 * bytes, beyond which the connection of the next one that has grown is closed.
 */
const GROWN_BYTES_MAX = 8 << 20;
const NO_PARTS: Uint8Array[] = [];
const TOO_MANY_WATCHES = 'too many watches';
const ANSWER_TOO_LARGE = 'the answer is larger than any frame';
const LOGIN_NOT_KEPT =
  'its login has to wait, but too many of its address do already, or it is too long to be kept';

/** What the parts of one pipeline share; Pipeline owns all of it. */
export interface PipelineContext {
  readonly options: PipelineOptions;
  readonly connections: Connections;
  readonly outbox: Outbox;
  readonly throttle: Throttle;
  readonly local: LocalSessions;
  readonly left: LeftSessions;
  readonly logins: Logins;
  readonly watches: WatchTable;
  /** Null where nothing is audited. */
  readonly auditor: Auditor | null;
}

export class Requests {
  readonly #context: PipelineContext;
  /**
   * Holds by their numbers the pending requests whose answers do not name their session: syncs, and
   * writes of local sessions, whose transactions have LOCAL_SESSION.
   */
  readonly #byRequest = new Map<number, QueueEntry>();
  readonly #dueSyncs = new DueSyncs();
  readonly #scenes: ReadScenes;
  #finished: Connection[] = [];
  readonly #header: Reused<ReadHeader> = { xid: 0, opcode: 0 };
  readonly #reply: Reused<ReplyRecord> = { operation: '', xid: 0, zxid: 0, latencyMs: 0, nowMs: 0 };
  /** Connections that are held for `room`: their queued requests continue with `onRoom`. */
  readonly #parked = new Set<Connection>();
  /** What is left of GROWN_BYTES_MAX in this turn. */
  #grownBytesLeft = GROWN_BYTES_MAX;
  /** Requests that would change anything are refused. */
  isReadOnly = false;
  #state: ReplicatedState;
  /** The time of the turn. Pipeline sets it before it calls what may answer a request. */
  nowMs = 0;

  constructor(state: ReplicatedState, context: PipelineContext) {
    this.#state = state;
    this.#context = context;
    this.#scenes = new ReadScenes(context.watches, context.options.multiOpsMax);
  }

  set state(state: ReplicatedState) {
    this.#state = state;
    this.#scenes.forget();
  }

  /** Takes a frame of a live connection, which is at its header. */
  onRequest(connection: Connection, frame: JuteReader): void {
    const header = this.#header;
    header.xid = frame.int();
    header.opcode = frame.int();
    const requestClass = connection.isAdmitted ? classOf(header.opcode) : classOfStranger(header);
    if (this.isReadOnly && isRefusedReadOnly(requestClass)) return this.#refuse(connection, header);
    switch (requestClass) {
      case 'read':
        return this.#onRead(connection, header, frame);
      case 'sasl':
      case 'auth':
        return this.#onLogin(connection, header, frame);
      case 'unknown':
        connection.phase = 'leaving';
        return this.#onLast(connection, header, frame);
      case 'write':
      case 'close':
      case 'sync':
        if (requestClass === 'close') {
          connection.phase = 'leaving';
          if (connection.hasLocalSession) return this.#onLast(connection, header, frame);
        }
        return this.#enqueue(connection, this.#entryOf(connection, header, frame));
      default:
        return unreachable(requestClass);
    }
  }

  /** Looks at the attempts to log in whose time has come. */
  onTick(onLookedAt: (connection: Connection) => void): void {
    this.#context.logins.onTick(this.nowMs, (attempt) => {
      this.#login(attempt.connection, attempt, new JuteReader(attempt.body));
      onLookedAt(attempt.connection);
    });
  }

  /** The turn is over. */
  renew(): void {
    this.#grownBytesLeft = GROWN_BYTES_MAX;
  }

  /**
   * A transaction of this member is about to be applied: reads that are parked before it run now.
   * Returns the connection if they have grown too much for one turn, for Pipeline to close.
   */
  onApplying(txn: Txn): Connection | null {
    if (this.#parked.size === 0) return null;
    const entry = this.#entryOfTxn(txn);
    if (entry === undefined) return null;
    const connection = this.#connectionOf(entry);
    const { queue } = connection;
    while (queue.head !== entry) {
      const read = queue.head;
      assert(read?.kind === 'read', () => `only reads wait before request ${txn.request}`);
      if (!this.#mayForce(read)) return connection;
      queue.shift();
      this.#runQueued(connection, read);
    }
    return null;
  }

  /** A transaction of this member was applied: answers it, then runs what waited behind it. */
  onApplied(zxid: Zxid, txn: Txn, applier: Applier): void {
    const { throttle, auditor } = this.#context;
    const waiting = this.#entryOfTxn(txn);
    const entry = waiting ?? throttle.takeOrphan(txn.request);
    if (entry === undefined) return;
    auditor?.onApplied(zxid, txn, entry);
    if (waiting === undefined) return;
    this.#byRequest.delete(txn.request);
    const connection = this.#connectionOf(entry);
    assert(
      connection.queue.head === entry,
      () => `request ${txn.request} of session ${txn.session} is the oldest when it is applied`,
    );
    const { xid, opcode } = entry;
    const { channel, queue } = connection;
    applier.writeReply(channel.writer, xid, txn);
    queue.shift();
    this.#answered(connection, entry);
    if (opcode === OpCode.closeSession) this.#finished.push(connection);
    else this.#drain(connection);
  }

  /** Whether a client here waits for the answer to the write of this transaction. */
  waits(txn: Txn): boolean {
    return this.#entryOfTxn(txn) !== undefined;
  }

  /** A quorum confirmed the leader for a sync, which is answered once `zxid` is applied here. */
  onSynced({ request, zxid }: Omit<Synced, 'kind'>): void {
    const entry = this.#byRequest.get(request);
    // The leader may answer only what was a sync; anything else keeps waiting.
    if (entry?.kind !== 'sync') return;
    this.#byRequest.delete(request);
    entry.syncedAt = zxid;
    const connection = this.#connectionOf(entry);
    if (zxid <= this.#state.lastZxid) this.#drain(connection);
    else this.#dueSyncs.add(zxid, connection);
  }

  /** `zxid` is applied, and everything that was to be answered for it is answered. */
  runDueSyncs(zxid: Zxid): void {
    const ready = this.#dueSyncs.takeUpTo(zxid);
    for (const connection of ready) if (connection.phase !== 'gone') this.#drain(connection);
  }

  /** A connection that is held for `room` may continue. */
  onRoom(id: ConnectionId): void {
    const connection = this.#context.connections.get(id);
    if (connection === undefined || !this.#parked.delete(connection)) return;
    this.#drain(connection);
    if (!this.#parked.has(connection)) connection.channel.release('room');
  }

  /**
   * The connection is gone and gets no more answers. Throttle and Outbox decide which of its writes
   * still count or are forwarded.
   */
  drop(connection: Connection): void {
    this.#parked.delete(connection);
    this.#context.logins.waiting.forget(connection);
    const pending = connection.queue.takeAll();
    for (const { request } of pending) this.#byRequest.delete(request);
    this.#context.throttle.onConnectionGone(connection, pending);
  }

  /** The role has ended; every connection was dropped. */
  clear(): void {
    const { size } = this.#byRequest;
    assert(size === 0, () => `${size} requests wait after the role`);
    this.#dueSyncs.clear();
    const { throttle, auditor } = this.#context;
    for (const orphan of throttle.clear()) auditor?.onUnknown(orphan);
    this.#scenes.forget();
    this.#finished = [];
  }

  takeFinished(): readonly Connection[] {
    const finished = this.#finished;
    if (finished.length > 0) this.#finished = [];
    return finished;
  }

  /** Without a quorum nothing is ever pending, so it is answered at once. */
  #refuse(connection: Connection, header: ReadHeader): void {
    const code = ErrorCode.notReadOnly;
    writeError(connection.channel.writer, { xid: header.xid, zxid: this.#state.lastZxid, code });
    this.#count(connection, header, this.nowMs);
  }

  /**
   * Answers the last request of a connection here, in its order: an unknown operation, or the close
   * of a local session, which the leader does not know.
   */
  #onLast(connection: Connection, header: ReadHeader, body: JuteReader): void {
    this.#onRead(connection, header, body);
    this.#maybeFinish(connection);
  }

  #onRead(connection: Connection, header: ReadHeader, body: JuteReader): void {
    const { queue, channel } = connection;
    const isIdle = queue.length === 0;
    const mayWait =
      isInParts(connection, header.opcode, body.remaining) ||
      (isListing(header.opcode) && channel.isFullFor(LARGE_BYTES));
    if (isIdle && !mayWait) {
      this.#run(connection, header, body);
      return this.#count(connection, header, this.nowMs);
    }
    this.#enqueue(connection, this.#entryOf(connection, header, body));
    if (isIdle) this.#drain(connection);
  }

  /** An attempt that has to wait comes back in `onTick`. */
  #onLogin(connection: Connection, header: ReadHeader, body: JuteReader): void {
    const packet = body.rest();
    const attempt = { body: packet, nowMs: this.nowMs };
    const verdict = this.#context.logins.judge(connection, header, attempt);
    if (verdict === 'now') this.#login(connection, header, new JuteReader(packet));
    if (verdict === 'notKept') this.#giveUp(connection, LOGIN_NOT_KEPT);
  }

  /**
   * Decides at once, because the outcome holds for what comes after it. That of an AuthPacket is
   * answered in its order.
   */
  #login(connection: Connection, header: ReadHeader, body: JuteReader): void {
    const { logins } = this.#context;
    const nowMs = this.nowMs;
    if (header.opcode === OpCode.auth) {
      this.#onRead(connection, header, logins.authenticate(connection, body.rest(), nowMs));
    } else if (logins.hasSasl) {
      logins.answerSasl(connection, { xid: header.xid, body, nowMs });
      this.#count(connection, header, nowMs);
    } else {
      return this.#onRead(connection, header, body);
    }
    this.#maybeFinish(connection);
  }

  #entryOf(connection: Connection, header: ReadHeader, record: JuteReader): QueueEntry {
    const { opcode, xid } = header;
    const kind = kindOf(opcode, connection.hasLocalSession);
    const body = record.rest();
    const inParts = isInParts(connection, opcode, body.length);
    const parts = inParts ? partsOf(opcode, body) : NO_PARTS;
    const { requester, queue } = connection;
    const writeBytes = queue.largestWriteBytes;
    return {
      connection: connection.id,
      ownSession: connection.session,
      kind,
      xid,
      opcode,
      body: parts.pop() ?? body,
      partsBefore: parts,
      bytes: body.length + connection.identityBytes,
      hasBegun: false,
      session: connection.hasLocalSession ? LOCAL_SESSION : connection.session,
      attachment: connection.attachment,
      identities: requester.identities,
      requester,
      request: kind === 'read' ? 0 : this.#context.outbox.nextRequest(),
      sinceMs: this.nowMs,
      changes: 0,
      znode: kind === 'write' ? (this.#context.auditor?.znodeOf(opcode, body) ?? null) : null,
      answerBytes:
        kind === 'read'
          ? answerBytesOf(this.#state.tree, { opcode, body, writeBytes, requester })
          : 0,
      isForwarded: false,
      syncedAt: null,
    };
  }

  /** The frame is valid until this returns: the body of what is not forwarded by then is copied. */
  #enqueue(connection: Connection, entry: QueueEntry): void {
    const { throttle, outbox } = this.#context;
    const passage = connection.queue.accept(entry);
    throttle.onQueued(connection, entry);
    const hasSession = entry.kind !== 'sync' && entry.session !== LOCAL_SESSION;
    if (entry.kind !== 'read' && !hasSession) this.#byRequest.set(entry.request, entry);
    if (entry.kind === 'sync') outbox.sync(entry.request);
    else if (passage === 'pass') outbox.accept(connection, entry);
    if (!entry.isForwarded) entry.body = Buffer.from(entry.body);
  }

  /** Runs everything that can continue, in order, until an answer has to wait for room. */
  #drain(connection: Connection): void {
    const { queue, channel } = connection;
    if (this.#parked.has(connection)) return;
    for (;;) {
      const { head } = queue;
      if (head !== undefined && head.partsBefore.length > 0) this.#begin(connection, head);
      if (head !== undefined && channel.isFullFor(head.answerBytes)) {
        return this.#park(connection, head.answerBytes);
      }
      if (head !== undefined && head.kind === 'read' && head.partsBefore.length > 0) {
        if (!this.#runPart(connection, head)) return;
        continue;
      }
      const entry = queue.next(this.#state.lastZxid);
      if (entry === undefined) break;
      if (entry.kind === 'read') this.#runQueued(connection, entry);
      else if (entry.kind === 'sync') this.#answerSync(connection, entry);
      else this.#context.outbox.accept(connection, entry);
    }
    this.#maybeFinish(connection);
  }

  /**
   * A parked connection is not read from either, so that no further write comes behind what waits;
   * for one that is there already see `onApplying`.
   */
  #park(connection: Connection, answerBytes: number): void {
    this.#parked.add(connection);
    connection.channel.hold('room', answerBytes);
  }

  /**
   * A divided setWatches waits for nothing but its own parts from now on, so nobody else waits for
   * its bytes.
   */
  #begin(connection: Connection, entry: QueueEntry): void {
    if (entry.kind !== 'read' || entry.hasBegun) return;
    connection.channel.keep(entry.bytes);
    this.#context.throttle.onBegun(connection, entry);
  }

  /** Runs the next part of a divided setWatches; false if the connection must end. */
  #runPart(connection: Connection, entry: QueueEntry): boolean {
    const { partsBefore, requester, opcode } = entry;
    const part = partsBefore.shift();
    assert(part !== undefined, 'a part that runs is one of those that are left');
    const scene = this.#scenes.of(this.#state, connection, requester);
    const isSet = runWatchesPart(scene, opcode, new JuteReader(part));
    if (!isSet) this.#giveUp(connection, TOO_MANY_WATCHES);
    return isSet;
  }

  /** Whether the turn has room for what the answer has grown by since it was estimated. */
  #mayForce({ opcode, body, requester, answerBytes }: QueueEntry): boolean {
    const now = answerBytesOf(this.#state.tree, { opcode, body, requester, writeBytes: 0 });
    const grownBytes = Math.max(0, now - answerBytes);
    this.#grownBytesLeft -= grownBytes;
    return grownBytes === 0 || this.#grownBytesLeft >= 0;
  }

  #runQueued(connection: Connection, entry: QueueEntry): void {
    if (entry.hasBegun) connection.channel.keep(0);
    this.#run(connection, entry, new JuteReader(entry.body), entry.requester);
    this.#answered(connection, entry);
  }

  #run(
    connection: Connection,
    header: ReadHeader,
    body: JuteReader,
    requester: Requester = connection.requester,
  ): void {
    const { channel } = connection;
    const { xid, opcode } = header;
    const state = this.#state;
    if (!connection.isAdmitted && opcode !== OpCode.auth && classOf(opcode) !== 'unknown') {
      writeError(channel.writer, { xid, zxid: 0, code: ErrorCode.sessionClosedRequireSaslAuth });
    } else if (opcode === OpCode.closeSession) {
      connection.hasClosedLocalSession = true;
      beginReply(channel.writer, xid, state.lastZxid);
      channel.writer.endFrame();
    } else {
      const scene = this.#scenes.of(state, connection, requester);
      this.#read(connection, scene, header, body);
    }
  }

  /** An answer too large for any frame ends only this connection. */
  #read(connection: Connection, scene: ReadScene, header: ReadHeader, body: JuteReader): void {
    try {
      if (!runRead(scene, header, body)) this.#giveUp(connection, TOO_MANY_WATCHES);
    } catch (error) {
      if (!(error instanceof FrameTooLargeError)) throw error;
      this.#giveUp(connection, ANSWER_TOO_LARGE);
    }
  }

  #answerSync(connection: Connection, entry: QueueEntry): void {
    const { xid, body } = entry;
    writeSyncReply(connection.channel.writer, { xid, zxid: this.#state.lastZxid, body });
    this.#answered(connection, entry);
  }

  #answered(connection: Connection, entry: QueueEntry): void {
    this.#context.throttle.onAnswered(connection, entry);
    this.#count(connection, entry, entry.sinceMs);
  }

  #count(connection: Connection, { xid, opcode }: ReadHeader, sinceMs: number): void {
    const reply = this.#reply;
    reply.operation = operationName(opcode);
    reply.xid = xid;
    reply.zxid = this.#state.lastZxid;
    reply.latencyMs = this.nowMs - sinceMs;
    reply.nowMs = this.nowMs;
    connection.channel.stats.replied(reply);
  }

  #giveUp(connection: Connection, reason: string): void {
    connection.dropReason = reason;
    this.#finished.push(connection);
  }

  #maybeFinish(connection: Connection): void {
    if (connection.phase === 'leaving' && connection.queue.length === 0) {
      this.#finished.push(connection);
    }
  }

  /** The request of a client here that became this transaction, if it waits for the answer. */
  #entryOfTxn({ session, request }: Txn): QueueEntry | undefined {
    if (session === LOCAL_SESSION) return this.#byRequest.get(request);
    return this.#context.connections.of(session)?.queue.find(request);
  }

  #connectionOf(entry: QueueEntry): Connection {
    const connection = this.#context.connections.get(entry.connection);
    assert(connection !== undefined, () => `connection ${entry.connection} waits`);
    return connection;
  }
}

/** Whoever has not proved what this member asks for is refused as a whole, and hears of nothing. */
function isInParts({ isAdmitted }: Connection, opcode: number, bodyBytes: number): boolean {
  return isAdmitted && isDivided(opcode, bodyBytes);
}

const NONE: readonly Connection[] = [];

/**
 * Syncs that the leader has confirmed and whose zxid this member has not applied yet. Used by
 * Requests.
 */
class DueSyncs {
  /** In the order of their zxids, which never fall. */
  #due: { readonly zxid: Zxid; readonly connection: Connection }[] = [];

  add(zxid: Zxid, connection: Connection): void {
    this.#due.push({ zxid, connection });
  }

  /** Removes those that may be answered once `zxid` is applied; their connections may be gone. */
  takeUpTo(zxid: Zxid): readonly Connection[] {
    const [first] = this.#due;
    if (first === undefined || first.zxid > zxid) return NONE;
    let count = this.#due.findIndex((due) => due.zxid > zxid);
    if (count < 0) count = this.#due.length;
    return this.#due.splice(0, count).map((due) => due.connection);
  }

  clear(): void {
    this.#due = [];
  }
}
