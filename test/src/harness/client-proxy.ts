/**
 * A TCP proxy in front of one client port that reads the protocol as it passes, so that a
 * connection can be broken at a step of it: after the server has answered a request, before the
 * client learns it. What was asked has then certainly taken effect.
 *
 * Requests are forwarded as they come, replies frame by frame. Ended by `close`. Who does not begin
 * with a handshake is no client and is hung up on: a ZooKeeper learner that dialled the port of a
 * proxy, which its leader may have had once, ended the process of the tests.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { FrameError, FrameReader } from '@rookery/protocol';

const FRAME_BYTES_MAX = 16 * 1024 * 1024;
const ZXID_BYTES = 8;
/** Of a ConnectRequest without a password and the flag of old clients. */
const HANDSHAKE_BYTES_MIN = 28;

/** The reply that was kept back. */
export interface DroppedReply {
  readonly opcode: number;
  readonly error: number;
}

/** Shared by the proxies of one client: what is dropped is dropped once, wherever it passes. */
export class ReplyTrap {
  #armed: { readonly opcode: number; readonly onDropped: (reply: DroppedReply) => void } | null =
    null;

  /** The reply to the next request of this operation is lost, and its connection with it. */
  arm(opcode: number): Promise<DroppedReply> {
    return new Promise((resolve) => {
      this.#armed = { opcode, onDropped: resolve };
    });
  }

  /** Takes what is armed if the request is of its kind; the caller then drops the reply. */
  take(opcode: number): ((reply: DroppedReply) => void) | null {
    if (this.#armed?.opcode !== opcode) return null;
    const { onDropped } = this.#armed;
    this.#armed = null;
    return onDropped;
  }

  /** The connection ended before the reply came: the client asks again, and that reply is lost. */
  putBack(opcode: number, onDropped: (reply: DroppedReply) => void): void {
    this.#armed ??= { opcode, onDropped };
  }
}

export class ClientProxy {
  readonly port: number;
  readonly #targetPort: number;
  readonly #server: Server;
  readonly #trap: ReplyTrap;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, options: { port: number; target: number; trap: ReplyTrap }) {
    this.#server = server;
    this.port = options.port;
    this.#targetPort = options.target;
    this.#trap = options.trap;
    server.on('connection', (near) => this.#onConnection(near));
  }

  static listen(options: { port: number; target: number; trap: ReplyTrap }): Promise<ClientProxy> {
    return new Promise((resolve, reject) => {
      const server = createServer({ noDelay: true });
      server.once('error', reject);
      server.listen({ port: options.port, host: '127.0.0.1' }, () => {
        resolve(new ClientProxy(server, options));
      });
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #onConnection(near: Socket): void {
    const far = connect({ host: '127.0.0.1', port: this.#targetPort, noDelay: true });
    const passage = new Passage(this.#trap);
    const end = () => {
      passage.end();
      for (const socket of [near, far]) {
        socket.destroy();
        this.#sockets.delete(socket);
      }
    };
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', end);
    }
    near.on('data', (chunk) => {
      if (passage.onRequests(chunk)) far.write(chunk);
      else end();
    });
    far.on('data', (chunk) => {
      const { pass, isDropped } = passage.onReplies(chunk);
      if (!isDropped) {
        near.write(pass);
        return;
      }
      far.removeAllListeners('data');
      // What came before the lost reply still arrives.
      near.write(pass, end);
    });
  }
}

/** One connection: which reply of it is to be lost. */
class Passage {
  readonly #trap: ReplyTrap;
  readonly #requests = new FrameReader(FRAME_BYTES_MAX);
  readonly #replies = new FrameReader(FRAME_BYTES_MAX);
  #isHandshakeOut = true;
  #isHandshakeBack = true;
  #trapped: { xid: number; opcode: number; onDropped: (reply: DroppedReply) => void } | null = null;

  constructor(trap: ReplyTrap) {
    this.#trap = trap;
  }

  /** Idempotent. */
  end(): void {
    if (this.#trapped === null) return;
    const { opcode, onDropped } = this.#trapped;
    this.#trapped = null;
    this.#trap.putBack(opcode, onDropped);
  }

  /** Whether it is a client, as far as it goes. */
  onRequests(chunk: Uint8Array): boolean {
    // The reader keeps what it is given, and the socket writes it: each its own.
    this.#requests.push(Uint8Array.from(chunk));
    try {
      return this.#readRequests();
    } catch (error) {
      if (error instanceof FrameError) return false;
      throw error;
    }
  }

  #readRequests(): boolean {
    for (let frame = this.#requests.next(); frame !== null; frame = this.#requests.next()) {
      if (this.#isHandshakeOut) {
        if (frame.length < HANDSHAKE_BYTES_MIN) return false;
        this.#isHandshakeOut = false;
        continue;
      }
      const view = viewOf(frame);
      const opcode = view.getInt32(4);
      const onDropped = this.#trap.take(opcode);
      if (onDropped !== null) this.#trapped = { xid: view.getInt32(0), opcode, onDropped };
    }
    return true;
  }

  /** What may pass; nothing more comes once the reply is dropped. */
  onReplies(chunk: Uint8Array): { readonly pass: Uint8Array; readonly isDropped: boolean } {
    const passing: Uint8Array[] = [];
    this.#replies.push(Uint8Array.from(chunk));
    for (let frame = this.#replies.next(); frame !== null; frame = this.#replies.next()) {
      const trapped = this.#trapped;
      if (this.#isHandshakeBack) {
        this.#isHandshakeBack = false;
      } else if (trapped !== null && viewOf(frame).getInt32(0) === trapped.xid) {
        const error = viewOf(frame).getInt32(4 + ZXID_BYTES);
        this.#trapped = null;
        trapped.onDropped({ opcode: trapped.opcode, error });
        return { pass: Buffer.concat(passing), isDropped: true };
      }
      const length = Buffer.alloc(4);
      length.writeInt32BE(frame.length);
      passing.push(length, frame);
    }
    return { pass: Buffer.concat(passing), isDropped: false };
  }
}

function viewOf(frame: Uint8Array): DataView {
  return new DataView(frame.buffer, frame.byteOffset, frame.length);
}
