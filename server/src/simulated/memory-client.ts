/**
 * For tests: a client of a memory ensemble that pipelines by hand.
 *
 * What was answered is in `replies`, in the order it came; nothing is sent but what a test sends.
 */
import {
  type Codec,
  ConnectRequest,
  ConnectResponse,
  CreateRequest,
  encode,
  FrameReader,
  JuteReader,
  JuteWriter,
  OpCode,
  PathWatchRequest,
  ReplyHeader,
  SetDataRequest,
} from '@rookery/protocol';
import type { ByteStream } from '../net/transport.js';

export interface MemoryReply {
  readonly xid: number;
  readonly zxid: number;
  readonly error: number;
  readonly body: Uint8Array;
}

const OPEN_ACL = [{ perms: 31, scheme: 'world', id: 'anyone' }];

export class MemoryClient {
  readonly replies: MemoryReply[] = [];
  /** Null until the handshake is answered. */
  connected: ConnectResponse | null = null;
  closed = false;
  readonly #stream: ByteStream;
  readonly #frames = new FrameReader(64 << 20);
  #nextXid = 1;

  constructor(stream: ByteStream) {
    this.#stream = stream;
    const onClosed = () => {
      this.closed = true;
    };
    stream.handle({
      onData: (chunk) => this.#onData(chunk),
      onEnd: onClosed,
      onDrain: () => undefined,
      onClose: onClosed,
    });
  }

  connect(session?: ConnectResponse, timeoutMs = 10_000, readOnly = false): void {
    this.#write(
      encode(ConnectRequest, {
        protocolVersion: 0,
        lastZxidSeen: 0,
        timeoutMs,
        sessionId: session?.sessionId ?? 0,
        password: session?.password ?? new Uint8Array(16),
        readOnly,
      }),
    );
  }

  /** Returns the xid. */
  send<T>(opcode: number, codec: Codec<T>, body: T): number {
    const xid = this.#nextXid++;
    const writer = new JuteWriter();
    writer.int(xid);
    writer.int(opcode);
    writer.raw(encode(codec, body));
    this.#write(writer.take());
    return xid;
  }

  create(path: string, data = '', flags = 0): number {
    const body = { path, data: Buffer.from(data), acl: OPEN_ACL, flags };
    return this.send(OpCode.create, CreateRequest, body);
  }
  setData(path: string, data: string | Uint8Array): number {
    const body = { path, data: Buffer.from(data), version: -1 };
    return this.send(OpCode.setData, SetDataRequest, body);
  }
  exists(path: string): number {
    return this.send(OpCode.exists, PathWatchRequest, { path, watch: false });
  }

  /** The error of the reply with this xid; undefined before it came. */
  errorOf(xid: number): number | undefined {
    return this.replies.find((reply) => reply.xid === xid)?.error;
  }

  stopReading(): void {
    this.#stream.pause();
  }
  resumeReading(): void {
    this.#stream.resume();
  }

  /** Ends its side, and still reads. */
  end(): void {
    this.#stream.end();
  }

  drop(): void {
    this.#stream.destroy();
    this.closed = true;
  }

  #write(payload: Uint8Array): void {
    const frame = Buffer.alloc(4 + payload.length);
    frame.writeInt32BE(payload.length);
    frame.set(payload, 4);
    this.#stream.write(frame);
  }

  #onData(chunk: Uint8Array): void {
    this.#frames.push(chunk.slice());
    for (let frame = this.#frames.next(); frame !== null; frame = this.#frames.next()) {
      const reader = new JuteReader(frame);
      if (this.connected === null) {
        this.connected = ConnectResponse.read(reader);
        continue;
      }
      const { xid, zxid, error } = ReplyHeader.read(reader);
      this.replies.push({ xid, zxid: Number(zxid), error, body: reader.rest().slice() });
    }
  }
}
