/**
 * Dials one member until it answers, with a back-off that doubles and has jitter.
 *
 * There is at most one attempt or timer at a time. The port asks for another attempt (`retry`,
 * after a failure or a lost link), ends the waiting (`hurry`), and reports a completed hello
 * (`reset`). The transport resolves the name at each attempt (ZOOKEEPER-1506, 2982, 2184).
 */
import type { ConnectionOptions } from 'node:tls';
import { assert } from '@rookery/protocol';
import type { Timer, Timers } from './timers.js';
import type { Address, ByteStream, Transport } from './transport.js';

export interface PeerDiallerParts {
  readonly address: Address;
  readonly dialTimeoutMs: number;
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
  readonly transport: Transport;
  /** How the next attempt is secured; null for not at all. */
  readonly tls: () => ConnectionOptions | null;
  readonly timers: Timers;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  onStream(stream: ByteStream): void;
  /** An attempt has failed. The next one is scheduled already. */
  onFailure(error: unknown): void;
}

export class PeerDialler {
  readonly #parts: PeerDiallerParts;
  #backoffMs: number;
  #timer: Timer | null = null;
  #isDialling = false;
  #isStopped = false;
  #dialledAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: PeerDiallerParts) {
    this.#parts = parts;
    this.#backoffMs = parts.backoffMinMs;
  }

  /** Makes the first attempt at once. */
  start(): void {
    void this.#dial();
  }

  /** Tries again after the back-off: between half of it and all of it. */
  retry(): void {
    if (this.#isStopped || this.#timer !== null || this.#isDialling) return;
    const { random, timers, backoffMaxMs } = this.#parts;
    const delayMs = this.#backoffMs * (0.5 + random() / 2);
    this.#backoffMs = Math.min(this.#backoffMs * 2, backoffMaxMs);
    this.#timer = timers.after(delayMs, () => {
      this.#timer = null;
      void this.#dial();
    });
  }

  /**
   * The other member says that it has just started. A waiting attempt is made at once, and the
   * back-off begins anew. Attempts are never more frequent than without back-off, because anybody
   * can send this message.
   */
  hurry(): void {
    const { timers, backoffMinMs } = this.#parts;
    this.reset();
    if (this.#timer === null || timers.nowMs() - this.#dialledAtMs < backoffMinMs) return;
    this.#timer.cancel();
    this.#timer = null;
    void this.#dial();
  }

  reset(): void {
    this.#backoffMs = this.#parts.backoffMinMs;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** An error thrown by `onStream` is a bug and ends the process as an unhandled rejection. */
  async #dial(): Promise<void> {
    const { transport, address, dialTimeoutMs } = this.#parts;
    this.#isDialling = true;
    this.#dialledAtMs = this.#parts.timers.nowMs();
    let stream: ByteStream;
    try {
      const tls = this.#parts.tls();
      stream = await dialPeer(transport, address, dialTimeoutMs, tls);
    } catch (error) {
      this.#isDialling = false;
      if (this.#isStopped) return;
      this.retry();
      this.#parts.onFailure(error);
      return;
    }
    this.#isDialling = false;
    if (this.#isStopped) stream.destroy();
    else this.#parts.onStream(stream);
  }
}

/** Dials with TLS where it is asked for, which needs a transport that has it. */
export function dialPeer(
  transport: Transport,
  address: Address,
  timeoutMs: number,
  tls: ConnectionOptions | null,
): Promise<ByteStream> {
  if (tls === null) return transport.dial(address, timeoutMs, 'lentLarge');
  assert(transport.dialTls !== undefined, 'members with TLS are on a network of sockets');
  return transport.dialTls(address, timeoutMs, tls);
}
