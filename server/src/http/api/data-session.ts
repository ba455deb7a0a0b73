/**
 * Client sessions within the member: one for each request of `/api/v1` that changes data, or for a
 * stream of changes. A session authenticates as the caller, sends its requests, and ends. Its
 * requests pass through everything that those of any client do: ACLs, quotas, bounds, the order of
 * the leader.
 *
 * Nothing of a session outlives the request for long: its last packet closes it, and the stream
 * ends then. An answer that does not come in time, or a stream that ends before it, leaves open
 * whether the write took effect, and the error says so.
 */
import {
  type Acl,
  AddWatchMode,
  AddWatchRequest,
  AUTH_XID,
  AuthPacket,
  ConnectRequest,
  ConnectResponse,
  Create2Response,
  CreateFlag,
  CreateRequest,
  CreateTtlRequest,
  EventType,
  encode,
  FrameReader,
  type Int64,
  JuteReader,
  OpCode,
  PASSWORD_BYTES,
  PathVersionRequest,
  PING_XID,
  ReplyHeader,
  RequestHeader,
  SetAclRequest,
  SetDataRequest,
  Stat,
  WATCH_XID,
  WatcherEvent,
} from '@rookery/protocol';
import { prefixedHex } from '../../net/four-letter/format.js';
import type { InnerClient, InnerStream } from '../../net/inner-stream.js';
import { NO_NODE } from '../../state/tree.js';
import { HttpError } from '../http-port.js';
import type { ApiMember } from './api-member.js';
import type { Caller } from './caller.js';
import { mayReadNode, readableNode, requireServing } from './member-nodes.js';
import type { NewNode, NodeMode, NodeWriter, OpenWriter } from './node-source.js';
import { keeperProblem } from './problem.js';
import type { Change, OpenWatch } from './watch-route.js';

/** How long an answer is waited for; an operator waits that long. */
const ANSWER_MS = 15_000;
/** How long the stream stays open after the session was asked to close. */
const LINGER_MS = 5_000;
const FRAME_BYTES_MAX = 4 << 20;
/** Long enough for the slowest answer; the session ends by itself if the member is killed. */
const SESSION_TIMEOUT_MS = 30_000;
const HANDSHAKE_XID = 0;

type OpenStream = (client: InnerClient) => InnerStream;

/** What a session that watches reports. */
interface Watching {
  onEvent(event: WatcherEvent, zxid: Int64): void;
  /** Called once, when the session ends; it reports nothing afterwards. */
  onEnd(): void;
}

interface DataReply {
  /** ZooKeeper's code; 0 for success. */
  readonly error: number;
  readonly body: JuteReader;
}

interface Waiting {
  readonly resolve: (reply: DataReply) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

class DataSession {
  readonly #stream: InnerStream;
  readonly #frames = new FrameReader(FRAME_BYTES_MAX);
  readonly #frame = new JuteReader(new Uint8Array(0));
  readonly #waiting = new Map<number, Waiting>();
  readonly #watching: Watching | null;
  #isWelcome = false;
  #isClosed = false;
  #nextXid = 1;

  private constructor(open: OpenStream, { remoteAddress }: Caller, watching: Watching | null) {
    this.#watching = watching;
    this.#stream = open({
      operatorAddress: remoteAddress,
      onData: (bytes) => this.#onData(bytes),
      onClosed: () => this.#onClosed(),
    });
  }

  /** Resolves when the session exists. Throws HttpError 503 where none can be had. */
  static async open(
    open: OpenStream,
    caller: Caller,
    watching: Watching | null = null,
  ): Promise<DataSession> {
    const session = new DataSession(open, caller, watching);
    const hello = {
      protocolVersion: 0,
      lastZxidSeen: 0,
      timeoutMs: SESSION_TIMEOUT_MS,
      sessionId: 0,
      password: new Uint8Array(PASSWORD_BYTES),
      readOnly: false,
    };
    const welcome = session.#await(HANDSHAKE_XID, SILENT);
    session.#send(encode(ConnectRequest, hello));
    await welcome;
    for (const auth of caller.auths) {
      session.#ask(AUTH_XID, OpCode.auth, encode(AuthPacket, { type: 0, scheme: 'digest', auth }));
    }
    return session;
  }

  /** Throws HttpError if the answer does not come. */
  request(opcode: number, body: Uint8Array): Promise<DataReply> {
    const xid = this.#nextXid++;
    const reply = this.#await(xid, UNKNOWN);
    this.#ask(xid, opcode, body);
    return reply;
  }

  /** Keeps a session alive that lasts; called more often than its timeout. */
  ping(): void {
    if (!this.#isClosed) this.#ask(PING_XID, OpCode.ping, new Uint8Array(0));
  }

  /** The session ends; nothing is asked after it. */
  end(): void {
    if (this.#isClosed) return;
    this.#ask(this.#nextXid++, OpCode.closeSession, new Uint8Array(0));
    setTimeout(() => this.#stream.leave(), LINGER_MS).unref();
  }

  #ask(xid: number, opcode: number, body: Uint8Array): void {
    this.#send(Buffer.concat([encode(RequestHeader, { xid, type: opcode }), body]));
  }

  #send(frame: Uint8Array): void {
    const bytes = Buffer.allocUnsafe(4 + frame.length);
    bytes.writeInt32BE(frame.length);
    bytes.set(frame, 4);
    this.#stream.send(bytes);
  }

  #await(xid: number, lost: string): Promise<DataReply> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new HttpError(503, SILENT));
      const onLate = (): void => {
        this.#waiting.delete(xid);
        reject(new HttpError(504, lost));
        this.#stream.leave();
      };
      this.#waiting.set(xid, { resolve, reject, timer: setTimeout(onLate, ANSWER_MS) });
    });
  }

  #onData(bytes: Uint8Array): void {
    this.#frames.push(bytes);
    while (this.#frames.pointAtNext(this.#frame)) {
      const body = new JuteReader(Uint8Array.from(this.#frame.rest()));
      if (this.#isWelcome) {
        const { xid, zxid, error } = ReplyHeader.read(body);
        if (xid === WATCH_XID) this.#watching?.onEvent(WatcherEvent.read(body), zxid);
        else this.#settle(xid, { error, body });
        continue;
      }
      // Without a session the port ends the stream, which `onClosed` handles.
      if (ConnectResponse.read(body).timeoutMs <= 0) continue;
      this.#isWelcome = true;
      this.#settle(HANDSHAKE_XID, { error: 0, body });
    }
  }

  #settle(xid: number, reply: DataReply): void {
    const waiting = this.#waiting.get(xid);
    if (waiting === undefined) return;
    this.#waiting.delete(xid);
    clearTimeout(waiting.timer);
    waiting.resolve(reply);
  }

  #onClosed(): void {
    this.#isClosed = true;
    const sentence = this.#isWelcome ? UNKNOWN : SILENT;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new HttpError(503, sentence));
    }
    this.#waiting.clear();
    this.#watching?.onEnd();
  }
}

const SILENT = 'This member takes no writes at the moment: it has no leader, or is not ready.';
const UNKNOWN = 'The member lost its leader meanwhile: whether the write took effect is not known.';

const PING_MS = 8_000;

const KINDS: ReadonlyMap<number, Change['kind']> = new Map([
  [EventType.created, 'created'],
  [EventType.deleted, 'deleted'],
  [EventType.dataChanged, 'dataChanged'],
  [EventType.childrenChanged, 'childrenChanged'],
]);

/**
 * Watches znodes of a member in a client session of the caller, which ends with the watch.
 */
export function sessionWatches(member: ApiMember): OpenWatch {
  return async ({ path, isRecursive, caller }, hearing) => {
    requireServing(member);
    readableNode(member.state, path, caller.requester);
    const open = member.openStream.bind(member);
    const session = await DataSession.open(open, caller, {
      onEvent: ({ type, path: changed }: WatcherEvent, zxid) => {
        const kind = KINDS.get(type);
        if (kind !== undefined) hearing.onChange({ kind, path: changed, zxid: prefixedHex(zxid) });
      },
      onEnd: () => hearing.onEnd(),
    });
    const mode = isRecursive ? AddWatchMode.persistentRecursive : AddWatchMode.persistent;
    const body = encode(AddWatchRequest, { path, mode });
    const { error } = await session.request(OpCode.addWatch, body);
    if (error !== 0) {
      session.end();
      throw keeperProblem(error, { path });
    }
    const timer = setInterval(() => session.ping(), PING_MS);
    return () => {
      clearInterval(timer);
      session.end();
    };
  };
}

const FLAGS: Readonly<Record<NodeMode, number>> = {
  persistent: CreateFlag.persistent,
  sequential: CreateFlag.persistentSequential,
  container: CreateFlag.container,
  ttl: CreateFlag.persistentWithTtl,
  'ttl-sequential': CreateFlag.persistentSequentialWithTtl,
};

/**
 * Changes znodes of a member in a client session that lasts for one request: see data-session.ts.
 */
export function sessionWriters(member: ApiMember): OpenWriter {
  return async (caller) => {
    const open = member.openStream.bind(member);
    return new SessionWriter(member, caller, await DataSession.open(open, caller));
  };
}

class SessionWriter implements NodeWriter {
  readonly #member: ApiMember;
  readonly #caller: Caller;
  readonly #session: DataSession;

  constructor(member: ApiMember, caller: Caller, session: DataSession) {
    this.#member = member;
    this.#caller = caller;
    this.#session = session;
  }

  async create({ path, mode, ttlMs, data, acl }: NewNode) {
    const flags = FLAGS[mode];
    const reply =
      ttlMs > 0
        ? this.#ask(
            path,
            OpCode.createTtl,
            encode(CreateTtlRequest, { path, data, acl, flags, ttlMs }),
          )
        : this.#ask(
            path,
            mode === 'container' ? OpCode.createContainer : OpCode.create2,
            encode(CreateRequest, { path, data, acl, flags }),
          );
    return Create2Response.read(await reply);
  }

  async setData(path: string, data: Uint8Array, version: number): Promise<Stat> {
    const body = encode(SetDataRequest, { path, data, version });
    return Stat.read(await this.#ask(path, OpCode.setData, body));
  }

  async setAcl(path: string, acl: readonly Acl[], version: number): Promise<Stat> {
    const body = encode(SetAclRequest, { path, acl, version });
    return Stat.read(await this.#ask(path, OpCode.setAcl, body));
  }

  async remove(path: string, version: number): Promise<void> {
    await this.#ask(path, OpCode.delete, encode(PathVersionRequest, { path, version }));
  }

  async now(path: string): Promise<Stat | null> {
    const { tree } = this.#member.state;
    const node = tree.find(path);
    if (node === NO_NODE || !mayReadNode(tree, node, this.#caller.requester)) return null;
    return tree.stat(node);
  }

  end(): void {
    this.#session.end();
  }

  /** The body of the answer; throws what went wrong as HttpError. */
  async #ask(path: string, opcode: number, body: Uint8Array): Promise<JuteReader> {
    const reply = await this.#session.request(opcode, body);
    if (reply.error !== 0) throw keeperProblem(reply.error, { path });
    return reply.body;
  }
}
