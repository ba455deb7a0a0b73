/**
 * Wraps real sockets for one run of a member: peer links can be cut, and all sockets close at once,
 * without an event at the member, when it is killed.
 *
 * A cut link is held up, not lost: after `heal` it continues where it was, unless either side gave
 * up meanwhile. Client connections are never held. Used by `seat.ts`.
 */
import type { ListenAddress } from '../config/addresses.js';
import type { Timers } from '../net/timers.js';
import type { Address, ByteStream, Listener, Transport } from '../net/transport.js';
import type { HeldPort } from './held-port.js';
import { HeldStream } from './held-stream.js';

export class EndingTransport implements Transport {
  readonly #transport: Transport;
  readonly #timers: Timers;
  readonly #clientPort: HeldPort;
  readonly #peerPort: HeldPort;
  readonly #clients = new Set<HeldStream>();
  readonly #peers = new Set<HeldStream>();
  /** Peers that have dialled a member that is cut off. */
  #arrivals: (() => void)[] = [];
  /** Dials of a member that is cut off. */
  readonly #dials = new Set<() => void>();
  #isCut = false;
  #ended = false;

  constructor(
    transport: Transport,
    timers: Timers,
    { clientPort, peerPort }: { readonly clientPort: HeldPort; readonly peerPort: HeldPort },
  ) {
    this.#transport = transport;
    this.#timers = timers;
    this.#clientPort = clientPort;
    this.#peerPort = peerPort;
  }

  async listen(address: ListenAddress, onStream: (stream: ByteStream) => void): Promise<Listener> {
    const isPeer = address.port === this.#peerPort.port;
    const port = isPeer ? this.#peerPort : this.#clientPort;
    await port.listen((stream) => {
      if (this.#ended) stream.destroy();
      else if (isPeer) this.#onPeer(stream, onStream);
      else onStream(this.#track(stream, this.#clients));
    });
    return { port: port.port, close: () => port.refuse() };
  }

  /** Only peers are dialled. */
  async dial(address: Address, timeoutMs: number): Promise<ByteStream> {
    if (this.#isCut) await this.#healed(timeoutMs);
    const stream = await this.#transport.dial(address, timeoutMs);
    if (this.#ended) {
      stream.destroy();
      return await new Promise(() => undefined);
    }
    return this.#trackPeer(stream);
  }

  cut(): void {
    this.#isCut = true;
    for (const stream of this.#peers) stream.hold();
  }

  heal(): void {
    this.#isCut = false;
    for (const stream of this.#peers) stream.release();
    const arrivals = this.#arrivals;
    this.#arrivals = [];
    for (const arrive of arrivals) arrive();
    for (const goOn of this.#dials) goOn();
  }

  /** Every socket is closed when it returns; resolves when the ports refuse connections. */
  async end(): Promise<void> {
    this.#ended = true;
    for (const stream of [...this.#clients, ...this.#peers]) stream.abandon();
    await Promise.all([this.#clientPort.refuse(), this.#peerPort.refuse()]);
  }

  #onPeer(stream: ByteStream, onStream: (stream: ByteStream) => void): void {
    const tracked = this.#trackPeer(stream);
    if (this.#isCut) this.#arrivals.push(() => onStream(tracked));
    else onStream(tracked);
  }

  #trackPeer(stream: ByteStream): HeldStream {
    const tracked = this.#track(stream, this.#peers);
    if (this.#isCut) tracked.hold();
    return tracked;
  }

  #track(stream: ByteStream, streams: Set<HeldStream>): HeldStream {
    const tracked = new HeldStream(stream, () => streams.delete(tracked));
    streams.add(tracked);
    return tracked;
  }

  /** Rejects after `timeoutMs`, as a dial that nobody answers does. */
  #healed(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#timers.after(timeoutMs, () => {
        this.#dials.delete(goOn);
        reject(new Error('this member is cut off'));
      });
      const goOn = () => {
        this.#dials.delete(goOn);
        timer.cancel();
        resolve();
      };
      this.#dials.add(goOn);
    });
  }
}
