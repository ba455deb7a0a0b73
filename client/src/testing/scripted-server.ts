/**
 * A network in memory whose servers do what a test says, frame by frame, including late and wrong
 * answers.
 *
 * For unit tests of connections and sessions. Dialled links are collected, and the test opens,
 * refuses, answers and cuts each of them. What the client writes is decoded when it arrives, at the
 * end of the client's turn: use `await turn()`. Only for tests.
 */
import {
  type Codec,
  ConnectRequest,
  ConnectResponse,
  decode,
  encode,
  FrameReader,
  type Int64,
  JuteReader,
  JuteWriter,
  OPERATIONS,
  OpCode,
  PING_XID,
  ReplyHeader,
  RequestHeader,
  WATCH_XID,
  WatcherEvent,
} from '@rookery/protocol';
import type { Address, Dial, Link, LinkEvents } from '../wire/link.js';

const FRAME_BYTES_MAX = 1 << 24;

/** A request as the server received it. */
export interface Received {
  readonly xid: number;
  readonly opcode: number;
  readonly body: Uint8Array;
}

export interface ScriptedReply {
  readonly zxid?: Int64;
  readonly error?: number;
  readonly body?: Uint8Array;
}

/** Lets all messages arrive. */
export async function turn(count = 3): Promise<void> {
  for (let index = 0; index < count; index++) await new Promise(setImmediate);
}

export class ScriptedNetwork {
  readonly links: ScriptedLink[] = [];
  /** Called with each new link, after dial has returned. */
  onDial: ((link: ScriptedLink) => void) | null = null;

  readonly dial: Dial = (address, events) => {
    const link = new ScriptedLink(address, events);
    this.links.push(link);
    queueMicrotask(() => this.onDial?.(link));
    return link.client;
  };

  /** The link that was dialled last. */
  get last(): ScriptedLink {
    const last = this.links.at(-1);
    if (last === undefined) throw new Error('nothing was dialled');
    return last;
  }

  /** The number of links that neither side has closed. */
  get liveCount(): number {
    return this.links.filter((link) => !link.isClosed).length;
  }
}

/** The server's end of a link. */
export class ScriptedLink {
  readonly address: Address;
  /** The client's end of the link. */
  readonly client: Link;
  /** Null until the client has sent its handshake. */
  handshake: ConnectRequest | null = null;
  /** The requests since the handshake, without heartbeats. */
  readonly received: Received[] = [];
  pingCount = 0;
  isClosed = false;
  /** Called with each request except heartbeats. */
  onRequest: ((request: Received) => void) | null = null;
  /** Whether heartbeats are answered at once. */
  answersPings = true;
  #answeredCount = 0;
  readonly #events: LinkEvents;
  readonly #frames = new FrameReader(FRAME_BYTES_MAX);

  constructor(address: Address, events: LinkEvents) {
    this.address = address;
    this.#events = events;
    this.client = {
      write: (bytes) => this.#onBytes(bytes),
      end: () => undefined,
      destroy: () => {
        this.isClosed = true;
      },
    };
  }

  open(): void {
    if (!this.isClosed) this.#events.onOpen();
  }

  /** Opens the link, and answers the handshake when it arrives. */
  accept(session: { readonly id: Int64; readonly timeoutMs: number; readonly readOnly?: boolean }) {
    this.open();
    this.answerHandshake(session);
  }

  answerHandshake(session: {
    readonly id: Int64;
    readonly timeoutMs: number;
    readonly readOnly?: boolean;
  }): void {
    const { id: sessionId, timeoutMs, readOnly = false } = session;
    const password = new Uint8Array(16).fill(7);
    const response = { protocolVersion: 0, timeoutMs, sessionId, password, readOnly };
    this.frame(encode(ConnectResponse, response));
  }

  /** Answers as a server does when the session to resume is over. */
  refuseSession(): void {
    this.answerHandshake({ id: 0, timeoutMs: 0 });
  }

  /** Replies to the oldest request that has no reply yet. */
  reply(reply: ScriptedReply = {}): void {
    const request = this.received[this.#answeredCount];
    if (request === undefined) throw new Error('there is no request to answer');
    this.#answeredCount++;
    this.replyTo(request.xid, reply);
  }

  replyTo(xid: number, reply: ScriptedReply = {}): void {
    const { zxid = 1, error = 0, body = new Uint8Array(0) } = reply;
    this.frame(Buffer.concat([encode(ReplyHeader, { xid, zxid, error }), body]));
  }

  event(event: WatcherEvent, zxid: Int64 = -1): void {
    this.replyTo(WATCH_XID, { zxid, body: encode(WatcherEvent, event) });
  }

  frame(payload: Uint8Array): void {
    const writer = new JuteWriter();
    writer.buffer(payload);
    this.raw(writer.take());
  }

  raw(bytes: Uint8Array): void {
    if (!this.isClosed) this.#events.onData(Uint8Array.from(bytes));
  }

  close(error: Error | null = null): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#events.onClose(error);
  }

  #onBytes(bytes: Uint8Array): void {
    if (this.isClosed) return;
    this.#frames.push(Uint8Array.from(bytes));
    for (let frame = this.#frames.next(); frame !== null; frame = this.#frames.next()) {
      if (this.handshake === null) {
        this.handshake = decode(ConnectRequest, Uint8Array.from(frame));
        continue;
      }
      const reader = new JuteReader(frame);
      const { xid, type: opcode } = RequestHeader.read(reader);
      if (xid === PING_XID) {
        this.pingCount++;
        if (this.answersPings) queueMicrotask(() => this.replyTo(PING_XID, { zxid: 0 }));
        continue;
      }
      const request = { xid, opcode, body: Uint8Array.from(reader.rest()) };
      this.received.push(request);
      this.onRequest?.(request);
    }
  }
}

/** Encodes a reply body with the operation's own codec. */
export function bodyOf<Response>(
  operation: { readonly response: Codec<Response> },
  response: Response,
): Uint8Array {
  return encode(operation.response, response);
}

/** The reply body of a getData. */
export function dataBody(data: string): Uint8Array {
  const stat = {
    czxid: 1,
    mzxid: 1,
    pzxid: 1,
    ctime: 0,
    mtime: 0,
    version: 0,
    cversion: 0,
    aversion: 0,
    ephemeralOwner: 0,
    dataLength: data.length,
    numChildren: 0,
  };
  return bodyOf(OPERATIONS[OpCode.getData], { data: Buffer.from(data), stat });
}
