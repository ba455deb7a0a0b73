/**
 * A TCP proxy in front of one client port that reads the protocol as it passes, so that a
 * connection can be broken at a certain step: after the server has answered a request, before the
 * client learns of it. The request has then certainly taken effect.
 *
 * Requests are forwarded as they come, replies frame by frame. `close` ends the proxy. A connection
 * that does not begin with a handshake is not a client's and is closed: a ZooKeeper learner that
 * dialled the port of a proxy, which its leader may have used before, once ended the process of the
 * tests.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { FrameError, FrameReader } from '@rookery/protocol';

const FRAME_BYTES_MAX = 16 * 1024 * 1024;
const ZXID_BYTES = 8;
/** The length of a ConnectRequest without a password and without the flag that old clients omit. */
const HANDSHAKE_BYTES_MIN = 28;

/** The reply that was withheld. */
export interface DroppedReply {
  readonly opcode: number;
  readonly error: number;
}

/** The proxies of one client share this: a reply is dropped once, wherever it passes. */
export class ReplyTrap {
  #armed: { readonly opcode: number; readonly onDropped: (reply: DroppedReply) => void } | null =
    null;

  /**
   * Arms the loss of the reply to the next request of this operation, together with its connection.
   */
  arm(opcode: number): Promise<DroppedReply> {
    return new Promise((resolve) => {
      this.#armed = { opcode, onDropped: resolve };
    });
  }

  /** Returns the armed loss if the request is of its kind; the caller then drops the reply. */
  take(opcode: number): ((reply: DroppedReply) => void) | null {
    if (this.#armed?.opcode !== opcode) return null;
    const { onDropped } = this.#armed;
    this.#armed = null;
    return onDropped;
  }

  /**
   * The connection ended before the reply came: the client repeats the request, and that reply is
   * lost.
   */
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
      // The bytes before the lost reply still arrive.
      near.write(pass, end);
    });
  }
}

/** One connection, with the reply of it that is to be lost. */
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

  /** Whether the peer is a client, as far as the bytes show. */
  onRequests(chunk: Uint8Array): boolean {
    // The reader keeps its input, and the socket writes it, so each gets a copy of its own.
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

  /** Returns the bytes that may pass; nothing passes after the dropped reply. */
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
