/**
 * One end of a stream of the memory network.
 *
 * Owns what this end has sent and the other has not yet been given. Ends as a TCP socket does: half
 * closed by `end`, closed when both halves are, gone at once by `destroy`. Made by the network.
 */
import type { Timers } from '../../net/timers.js';
import type { Address, ByteStream, StreamHandlers } from '../../net/transport.js';

export interface MemoryStreamParts {
  readonly localAddress: string;
  readonly remote: Address;
  latencyMs(): number;
  readonly windowBytes: number;
  readonly timers: Timers;
  /** Its chunks are lent. */
  readonly isLending: boolean;
  isCut(): boolean;
  onGone(): void;
}

interface InFlight {
  readonly dueMs: number;
  readonly event: StreamEvent;
}

type StreamEvent =
  | { readonly kind: 'data'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }
  | { readonly kind: 'gone'; readonly error: Error | undefined };

export class MemoryStream implements ByteStream {
  readonly localAddress: string;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly secured = null;

  readonly #parts: MemoryStreamParts;
  #other: MemoryStream | null = null;
  #handlers: StreamHandlers | null = null;
  /** On its way to the other end. */
  #inFlight: InFlight[] = [];
  #lastDueMs = 0;
  #inFlightBytes = 0;
  #needsDrain = false;
  #isPaused = false;
  #hasEnded = false;
  #hasReceivedEnd = false;
  #isClosed = false;

  constructor(parts: MemoryStreamParts) {
    this.#parts = parts;
    this.localAddress = parts.localAddress;
    this.remoteAddress = parts.remote.host;
    this.remotePort = parts.remote.port;
  }

  get bufferedBytes(): number {
    return Math.max(0, this.#inFlightBytes - this.#parts.windowBytes);
  }

  pair(other: MemoryStream): void {
    this.#other = other;
  }

  handle(handlers: StreamHandlers): void {
    const isHandedOver = this.#handlers !== null;
    this.#handlers = handlers;
    if (!isHandedOver) this.#parts.timers.defer(() => this.#other?.pump());
  }

  write(bytes: Uint8Array): void {
    if (this.#hasEnded || this.#isClosed) return;
    this.#inFlightBytes += bytes.length;
    this.#needsDrain ||= this.bufferedBytes > 0;
    // A copy: the test must notice a sender that reuses its buffer.
    this.#send({ kind: 'data', bytes: new Uint8Array(bytes) });
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#parts.timers.defer(() => this.#other?.pump());
  }

  end(): void {
    if (this.#hasEnded || this.#isClosed) return;
    this.#hasEnded = true;
    this.#send({ kind: 'end' });
    this.#maybeClose();
  }

  destroy(): void {
    if (this.#isClosed) return;
    this.#send({ kind: 'gone', error: undefined });
    this.#close(undefined);
  }

  /**
   * The process is gone: no handler of this end is called again. `lostShare`, in [0, 1): of what it
   * has sent and the other end not got, so much is lost, the last first.
   */
  crash(lostShare = 0): void {
    if (this.#isClosed) return;
    this.#handlers = null;
    this.#inFlight.length -= Math.floor(lostShare * (this.#inFlight.length + 1));
    this.#send({ kind: 'gone', error: new Error('read ECONNRESET') });
    this.#close(undefined);
  }

  /** Both ends are told; what either has sent and the other not got is lost. */
  reset(): void {
    for (const end of [this, this.#other]) {
      if (end === null || end.#isClosed) continue;
      end.#inFlight = [];
      end.#close(new Error('read ECONNRESET'));
    }
  }

  /** Gives the other end whatever is due and may pass. */
  pump(): void {
    for (let next = this.#inFlight[0]; next !== undefined; next = this.#inFlight[0]) {
      if (next.dueMs > this.#parts.timers.nowMs() || this.#parts.isCut()) return;
      if (this.#other?.takes(next.event) !== true) return;
      this.#inFlight.shift();
      if (next.event.kind === 'data') this.#inFlightBytes -= next.event.bytes.length;
      this.#other.receive(next.event);
      this.#maybeDrain();
    }
    if (this.#isClosed) this.#parts.onGone();
  }

  takes(event: StreamEvent): boolean {
    if (this.#isClosed) return true;
    if (this.#handlers === null) return false;
    return event.kind === 'gone' || !this.#isPaused;
  }

  receive(event: StreamEvent): void {
    if (this.#isClosed) return;
    if (event.kind === 'data') {
      this.#handlers?.onData(event.bytes);
      // Whoever keeps what is only lent must notice.
      if (this.#parts.isLending) event.bytes.fill(0xee);
      return;
    }
    const isNews = !this.#hasReceivedEnd;
    this.#hasReceivedEnd = true;
    if (event.kind === 'gone') {
      if (isNews && event.error === undefined) this.#handlers?.onEnd();
      this.#close(event.error);
      return;
    }
    this.#handlers?.onEnd();
    this.#maybeClose();
  }

  #send(event: StreamEvent): void {
    const { timers } = this.#parts;
    const nowMs = timers.nowMs();
    const dueMs = Math.max(this.#lastDueMs, nowMs + this.#parts.latencyMs());
    this.#lastDueMs = dueMs;
    this.#inFlight.push({ dueMs, event });
    timers.after(dueMs - nowMs, () => this.pump());
  }

  #maybeDrain(): void {
    if (!this.#needsDrain || this.bufferedBytes > 0) return;
    this.#needsDrain = false;
    if (!this.#isClosed) this.#handlers?.onDrain();
  }

  #maybeClose(): void {
    if (this.#hasEnded && this.#hasReceivedEnd) this.#close(undefined);
  }

  #close(error: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#parts.timers.defer(() => {
      this.#handlers?.onClose(error);
      this.#other?.pump();
      this.pump();
    });
  }
}
