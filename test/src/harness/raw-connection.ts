/**
 * A bare connection to a member: bytes out, frames in, in the order of their arrival.
 *
 * It knows nothing of sessions; it is for bytes that a well-behaved client would never send, and
 * for tests that check every byte. `nextFrame` returns frames one by one; `ended` tells how the
 * member closed.
 */
import { connect, type Socket } from 'node:net';
import { FrameReader } from '@rookery/protocol';
import { deferred, within } from './wait.js';

const FRAME_BYTES_MAX = 64 * 1024 * 1024;
const FRAME_DEADLINE_MS = 15_000;

export class RawConnection {
  /** Resolves when the member has ended its side or the connection broke. */
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  readonly #reader = new FrameReader(FRAME_BYTES_MAX);
  readonly #frames: Uint8Array[] = [];
  readonly #lookers = new Set<() => void>();
  #hasEnded = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const end = deferred<void>();
    this.ended = end.promise;
    const onEnd = () => {
      this.#hasEnded = true;
      end.resolve();
      this.#look();
    };
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('error', () => undefined);
    socket.on('end', onEnd);
    socket.on('close', onEnd);
  }

  static open(port: number): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new RawConnection(socket));
      });
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Sends the bytes as they are. */
  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** Sends the bytes with their length in front. */
  sendFrame(payload: Uint8Array): void {
    const length = Buffer.alloc(4);
    length.writeInt32BE(payload.length);
    this.send(Buffer.concat([length, payload]));
  }

  /** Returns the next frame without its length, or undefined if the member ended the connection. */
  async nextFrame(): Promise<Uint8Array | undefined> {
    const arrived = deferred<void>();
    const look = () => {
      if (this.#frames.length > 0 || this.#hasEnded) arrived.resolve();
    };
    this.#lookers.add(look);
    look();
    try {
      await within('a frame or the end', FRAME_DEADLINE_MS, arrived.promise);
      return this.#frames.shift();
    } finally {
      this.#lookers.delete(look);
    }
  }

  pause(): void {
    this.#socket.pause();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #onData(chunk: Buffer): void {
    this.#reader.push(chunk);
    for (let frame = this.#reader.next(); frame !== null; frame = this.#reader.next()) {
      this.#frames.push(Uint8Array.from(frame));
    }
    this.#look();
  }

  #look(): void {
    for (const look of [...this.#lookers]) look();
  }
}
