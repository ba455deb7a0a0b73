/**
 * A member's stream that can be held up, or closed without an event at the member.
 *
 * While it is held, nothing comes in and nothing leaves: bytes, ends and closes wait, as on a
 * network that loses every packet while senders keep retransmitting. `abandon` acts as the kernel
 * does when it closes the socket of a dead process. Used by `ending-transport.ts`.
 */
import type { ByteStream, Secured, StreamHandlers } from '../net/transport.js';

export class HeldStream implements ByteStream {
  readonly #stream: ByteStream;
  readonly #onGone: () => void;
  #handlers: StreamHandlers | null = null;
  #held = false;
  #paused = false;
  #closed = false;
  /** What the member said while the stream was held, in this order: bytes, then how it ended. */
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #ending: 'open' | 'ended' | 'destroyed' = 'open';

  /** `onGone` is called once, when the socket is closed. */
  constructor(stream: ByteStream, onGone: () => void) {
    this.#stream = stream;
    this.#onGone = onGone;
  }

  get remoteAddress(): string {
    return this.#stream.remoteAddress;
  }

  get remotePort(): number {
    return this.#stream.remotePort;
  }

  get secured(): Secured | null {
    return this.#stream.secured;
  }

  get bufferedBytes(): number {
    return this.#stream.bufferedBytes + this.#waitingBytes;
  }

  handle(handlers: StreamHandlers): void {
    const isHandedOver = this.#handlers !== null;
    this.#handlers = handlers;
    if (isHandedOver) return;
    this.#stream.handle({
      onData: (chunk) => this.#handlers?.onData(chunk),
      onEnd: () => this.#handlers?.onEnd(),
      onDrain: () => this.#handlers?.onDrain(),
      onClose: (error) => {
        this.#onGone();
        this.#tellClosed(error);
      },
    });
  }

  write(bytes: Uint8Array): void {
    if (!this.#held) {
      this.#stream.write(bytes);
    } else if (this.#ending === 'open') {
      this.#waiting.push(bytes);
      this.#waitingBytes += bytes.length;
    }
  }

  pause(): void {
    this.#paused = true;
    if (!this.#held) this.#stream.pause();
  }

  resume(): void {
    this.#paused = false;
    if (!this.#held) this.#stream.resume();
  }

  end(): void {
    if (!this.#held) this.#stream.end();
    else if (this.#ending === 'open') this.#ending = 'ended';
  }

  /** The member has done with it at once; the other side hears of it when it can. */
  destroy(): void {
    if (!this.#held) {
      this.#stream.destroy();
      return;
    }
    if (this.#ending === 'destroyed') return;
    this.#ending = 'destroyed';
    this.#waiting = [];
    this.#waitingBytes = 0;
    process.nextTick(() => this.#tellClosed(undefined));
  }

  hold(): void {
    this.#held = true;
    this.#stream.pause();
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    for (const bytes of this.#waiting) this.#stream.write(bytes);
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (this.#ending === 'destroyed') this.#stream.destroy();
    else if (this.#ending === 'ended') this.#stream.end();
    if (!this.#paused) this.#stream.resume();
  }

  abandon(): void {
    this.#handlers = null;
    this.#stream.destroy();
  }

  #tellClosed(error: Error | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#handlers?.onClose(error);
    this.#handlers = null;
  }
}
