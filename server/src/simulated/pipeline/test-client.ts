/**
 * For tests: a client's end of a connection, and the channel to it that the pipeline uses.
 *
 * `send` gives the pipeline a frame at once. `take` returns what has been written since, decoded as
 * far as its kind is known.
 */
import {
  assert,
  type Codec,
  ConnectRequest,
  ConnectResponse,
  CreateRequest,
  encode,
  FrameReader,
  type Identity,
  type Int64,
  JuteReader,
  JuteWriter,
  OpCode,
  PathVersionRequest,
  PathWatchRequest,
  ReplyHeader,
  SetDataRequest,
  WATCH_XID,
  WatcherEvent,
} from '@rookery/protocol';
import type {
  ChannelStats,
  ClientChannel,
  HoldReason,
  ReplyRecord,
} from '../../pipeline/client-channel.js';

export const OPEN_ACL = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const FRAME_BYTES_MAX = 8 << 20;
const LARGE_BYTES = 64 << 10;

export interface Reply {
  readonly xid: number;
  readonly zxid: Int64;
  readonly error: number;
  readonly body: Uint8Array;
}

class TestStats implements ChannelStats {
  outstanding = 0;
  events = 0;
  readonly replies: ReplyRecord[] = [];

  replied(reply: ReplyRecord): void {
    this.replies.push({ ...reply });
  }
  sentEvent(_bytes: number): void {
    this.events += 1;
  }
}

export interface ClientAddress {
  readonly address?: string;
  readonly proven?: readonly Identity[];
}

export class TestClient implements ClientChannel {
  readonly id: number;
  readonly remoteAddress: string;
  readonly proven: readonly Identity[];
  readonly writer = new JuteWriter();
  readonly stats = new TestStats();
  readonly holds = new Set<HoldReason>();
  softBytes = Number.POSITIVE_INFINITY;
  /** How many large answers may follow before the next ones have to wait. */
  largeLeft = Number.POSITIVE_INFINITY;
  keptBytes = 0;
  /** Something of the client has come, whether it is delivered or waits. */
  hasArrived = false;
  state: 'open' | 'ended' | 'closed' = 'open';
  closedBecause = '';
  session: Int64 = 0;
  password: Uint8Array = new Uint8Array(16);
  timeoutMs = 0;
  readonly #deliver: (frame: Uint8Array) => void;
  readonly #frames = new FrameReader(FRAME_BYTES_MAX);
  #nextXid = 1;

  constructor(id: number, deliver: (frame: Uint8Array) => void, at: ClientAddress = {}) {
    this.id = id;
    this.remoteAddress = at.address ?? '127.0.0.1';
    this.proven = at.proven ?? [];
    this.#deliver = deliver;
  }

  isFullFor(answerBytes: number): boolean {
    if (this.writer.length > this.softBytes) return true;
    if (answerBytes < LARGE_BYTES) return false;
    this.largeLeft -= 1;
    return this.largeLeft < 0;
  }

  takeHeard(): boolean {
    const isHeard = this.hasArrived;
    this.hasArrived = false;
    return isHeard;
  }

  bindSession(session: { readonly id: Int64; readonly timeoutMs: number }): void {
    this.session = session.id;
    this.timeoutMs = session.timeoutMs;
  }
  hold(reason: HoldReason): void {
    this.holds.add(reason);
  }
  release(reason: HoldReason): void {
    this.holds.delete(reason);
  }
  keep(bytes: number): void {
    this.keptBytes = bytes;
  }
  end(): void {
    assert(this.state === 'open', () => `an open connection is ended, not one ${this.state}`);
    this.state = 'ended';
  }
  close(reason: string): void {
    assert(this.state === 'open', () => `an open connection is closed, not one ${this.state}`);
    this.state = 'closed';
    this.closedBecause = reason;
  }

  sendFrame(frame: Uint8Array): void {
    this.hasArrived = true;
    this.#deliver(frame);
  }

  /** A frame that came long ago, and had to wait. */
  deliverLate(frame: Uint8Array): void {
    this.#deliver(frame);
  }

  connect(options: Partial<ConnectRequest> = {}): void {
    const request = encode(ConnectRequest, {
      protocolVersion: 0,
      lastZxidSeen: 0,
      timeoutMs: 10_000,
      sessionId: 0,
      password: new Uint8Array(16),
      readOnly: false,
      ...options,
    });
    this.sendFrame(request);
  }

  /** Returns the xid. */
  send<T>(opcode: number, codec: Codec<T>, body: T): number {
    return this.sendRaw(opcode, encode(codec, body));
  }

  sendRaw(opcode: number, body: Uint8Array, xid = this.#nextXid++): number {
    const frame = new JuteWriter();
    frame.int(xid);
    frame.int(opcode);
    frame.raw(body);
    this.sendFrame(frame.take());
    return xid;
  }

  create(path: string, options: { flags?: number; data?: string; opcode?: number } = {}): number {
    const { flags = 0, data = '', opcode = OpCode.create } = options;
    const body = { path, data: Buffer.from(data), acl: OPEN_ACL, flags };
    return this.send(opcode, CreateRequest, body);
  }
  delete(path: string, version = -1): number {
    return this.send(OpCode.delete, PathVersionRequest, { path, version });
  }
  setData(path: string, data: string, version = -1): number {
    return this.send(OpCode.setData, SetDataRequest, { path, data: Buffer.from(data), version });
  }
  read(opcode: number, path: string, watch = false): number {
    return this.send(opcode, PathWatchRequest, { path, watch });
  }
  getData(path: string, watch = false): number {
    return this.read(OpCode.getData, path, watch);
  }
  exists(path: string, watch = false): number {
    return this.read(OpCode.exists, path, watch);
  }

  takeFrames(): readonly Uint8Array[] {
    this.#frames.push(this.writer.take());
    const frames: Uint8Array[] = [];
    for (let frame = this.#frames.next(); frame !== null; frame = this.#frames.next()) {
      frames.push(Uint8Array.from(frame));
    }
    return frames;
  }

  takeConnectResponse(): ConnectResponse {
    const frames = this.takeFrames();
    const [frame] = frames;
    assert(frame !== undefined && frames.length === 1, () => `${frames.length} frames are one`);
    const response = ConnectResponse.read(new JuteReader(frame));
    if (response.password !== null) this.password = response.password;
    return response;
  }

  take(): readonly Reply[] {
    return this.takeFrames().map((frame) => {
      const reader = new JuteReader(frame);
      return { ...ReplyHeader.read(reader), body: Buffer.from(reader.rest()) };
    });
  }

  /** `reply <xid> <error>` and `event <type> <path>`, in the order in which they came. */
  takeSummary(): readonly string[] {
    return this.take().map(({ xid, error, body }) => {
      if (xid !== WATCH_XID) return `reply ${xid} ${error}`;
      const { type, path } = WatcherEvent.read(new JuteReader(body));
      return `event ${type} ${path}`;
    });
  }

  /** The one reply since the last take. */
  takeOne(): Reply {
    const replies = this.take();
    const [reply] = replies;
    assert(reply !== undefined && replies.length === 1, () => `${replies.length} replies are one`);
    return reply;
  }
}
