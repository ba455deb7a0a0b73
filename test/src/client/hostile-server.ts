/**
 * A server on loopback that means harm, or is broken: each behaviour is a name and what is done to
 * a connection once its handshake has come, and then to each request. Only for tests.
 */
import { createServer, type Server, type Socket } from 'node:net';
import {
  ConnectResponse,
  encode,
  FrameReader,
  JuteReader,
  PING_XID,
  ReplyHeader,
  RequestHeader,
  WATCH_XID,
  WatcherEvent,
} from '@rookery/protocol';
import type { Random } from '../harness/random.js';

export interface Behaviour {
  readonly name: string;
  /** The answer to the handshake; a proper session by default. */
  readonly handshake?: (socket: Socket) => void;
  /** To a request with this xid; nothing by default. */
  readonly request?: (socket: Socket, xid: number) => void;
}

export const SESSION_TIMEOUT_MS = 1_000;
const FRAME_BYTES_MAX = 1 << 24;
const NOTHING = new Uint8Array(0);

export function frameOf(payload: Uint8Array): Buffer {
  const frame = Buffer.alloc(4 + payload.length);
  frame.writeInt32BE(payload.length);
  frame.set(payload, 4);
  return frame;
}

export function replyOf(
  xid: number,
  reply: { readonly error?: number; readonly zxid?: number; readonly body?: Uint8Array } = {},
): Buffer {
  const { error = 0, zxid = 1, body = NOTHING } = reply;
  return frameOf(Buffer.concat([encode(ReplyHeader, { xid, zxid, error }), body]));
}

function sessionOf(odd: Partial<ConnectResponse> = {}): Buffer {
  return encode(ConnectResponse, {
    protocolVersion: 0,
    timeoutMs: SESSION_TIMEOUT_MS,
    sessionId: 5,
    password: new Uint8Array(16),
    readOnly: false,
    ...odd,
  }) as Buffer;
}

const eventOf = (type: number) => encode(WatcherEvent, { type, state: 3, path: '/a' });

/** As a length of frame that nobody means. */
function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes);
  return length;
}

/** `random` makes the garbage. */
export function behaviours(random: Random): readonly Behaviour[] {
  const garbage = (size: number) => random.bytes(size);
  const connectReply = (name: string, payload: Uint8Array): Behaviour => ({
    name: `connect reply: ${name}`,
    handshake: (socket) => socket.write(frameOf(payload)),
    request: (socket, xid) => socket.write(replyOf(xid, { error: -101 })),
  });
  const inSession = (name: string, request: Behaviour['request']): Behaviour => ({
    name: `in a session: ${name}`,
    ...(request === undefined ? {} : { request }),
  });
  return [
    { name: 'silence at the handshake', handshake: () => undefined },
    { name: 'garbage', handshake: (socket) => socket.write(garbage(500)) },
    { name: 'end of stream at once', handshake: (socket) => socket.end() },
    { name: 'reset at once', handshake: (socket) => socket.resetAndDestroy() },
    { name: 'a negative length', handshake: (socket) => socket.write(lengthOf(-1)) },
    { name: 'a giant length', handshake: (socket) => socket.write(lengthOf(2 ** 31 - 1)) },
    { name: 'half a length', handshake: (socket) => socket.write(Uint8Array.of(0, 0)) },
    {
      name: 'half a connect reply, then the end',
      handshake: (socket) => socket.end(frameOf(sessionOf()).subarray(0, 20)),
    },
    {
      name: 'half a connect reply, then silence',
      handshake: (socket) => socket.write(frameOf(sessionOf()).subarray(0, 20)),
    },
    connectReply('empty', NOTHING),
    connectReply('expired', sessionOf({ timeoutMs: 0, sessionId: 0 })),
    connectReply('negative timeout', sessionOf({ timeoutMs: -5 })),
    connectReply('timeout of a millisecond', sessionOf({ timeoutMs: 1 })),
    connectReply('session 0', sessionOf({ sessionId: 0 })),
    connectReply('no password', sessionOf({ password: null })),
    connectReply('password of three bytes', sessionOf({ password: new Uint8Array(3) })),
    connectReply('no read-only byte', sessionOf({ readOnly: null })),
    connectReply('read-only unasked', sessionOf({ readOnly: true })),
    connectReply('bytes behind', Buffer.concat([sessionOf(), garbage(40)])),
    {
      name: 'two connect replies',
      handshake: (socket) => {
        socket.write(frameOf(sessionOf()));
        socket.write(frameOf(sessionOf()));
      },
    },
    inSession('silence', undefined),
    inSession('garbage', (socket) => socket.write(garbage(100))),
    inSession('wrong xids', (socket, xid) => socket.write(replyOf(xid + 7))),
    inSession('each reply twice', (socket, xid) => {
      socket.write(replyOf(xid, { error: -101 }));
      socket.write(replyOf(xid, { error: -101 }));
    }),
    inSession('bodies that cannot be read', (socket, xid) => {
      socket.write(replyOf(xid, { body: garbage(3) }));
    }),
    inSession('late replies', (socket, xid) => {
      setTimeout(() => socket.write(replyOf(xid, { error: -101 })), 450).unref();
    }),
    inSession('half a reply', (socket, xid) => socket.write(replyOf(xid).subarray(0, 9))),
    inSession('an error that no list has', (socket, xid) => {
      socket.write(replyOf(xid, { error: -999 }));
    }),
    inSession('a frame beyond the limit', (socket) => socket.write(lengthOf(17 * 1024 * 1024))),
    inSession('an end of stream', (socket) => socket.end()),
    inSession('a reset', (socket) => socket.resetAndDestroy()),
    inSession('events that nobody asked for', (socket, xid) => {
      for (const type of [1, 2, 3, 4, -1, 99]) {
        socket.write(replyOf(WATCH_XID, { zxid: -1, body: eventOf(type) }));
      }
      socket.write(replyOf(xid, { error: -101 }));
    }),
    inSession('an event that cannot be read', (socket) => {
      socket.write(replyOf(WATCH_XID, { body: garbage(2) }));
    }),
    inSession('answers to pings and credentials that were none', (socket, xid) => {
      socket.write(Buffer.concat([replyOf(PING_XID), replyOf(-4), replyOf(xid, { error: -101 })]));
    }),
    inSession('a refused credential that was none', (socket) => {
      socket.write(replyOf(-4, { error: -115 }));
    }),
    inSession('zxids at the ends of their range', (socket, xid) => {
      const reply = replyOf(xid, { error: -101 });
      reply.fill(0x7f, 8, 9).fill(0xff, 9, 16);
      socket.write(reply);
    }),
  ];
}

export class HostileServer {
  readonly port: number;
  readonly sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static listen(behaviour: Behaviour): Promise<HostileServer> {
    return new Promise((resolve) => {
      const server = createServer({ noDelay: true });
      server.listen({ port: 0, host: '127.0.0.1' }, () => {
        const address = server.address();
        const port = typeof address === 'object' && address !== null ? address.port : 0;
        const hostile = new HostileServer(server, port);
        server.on('connection', (socket) => hostile.#onConnection(socket, behaviour));
        resolve(hostile);
      });
    });
  }

  close(): void {
    this.#server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  #onConnection(socket: Socket, behaviour: Behaviour): void {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    const frames = new FrameReader(FRAME_BYTES_MAX);
    let isInSession = false;
    socket.on('data', (chunk) => {
      // What asks for `isro` is no frame.
      if (chunk.toString('latin1') === 'isro') return;
      frames.push(chunk);
      for (let frame = frames.next(); frame !== null; frame = frames.next()) {
        if (socket.destroyed || !socket.writable) return;
        if (isInSession) {
          const { xid } = RequestHeader.read(new JuteReader(frame));
          if (xid > 0) behaviour.request?.(socket, xid);
        } else {
          isInSession = true;
          if (behaviour.handshake === undefined) socket.write(frameOf(sessionOf()));
          else behaviour.handshake(socket);
        }
      }
    });
  }
}
