/**
 * A network in memory: the transport of tests and of the simulator.
 *
 * Deterministic: all it does happens in actions of the injected timers. Bytes arrive in order,
 * after a latency; a cut between two hosts, both ways or one way, holds back everything on its way,
 * dials included, until it is healed, as TCP does with what it sends again; a reset loses what is
 * on its way and both ends are told; a crash resets every stream of a host.
 */

import { addressText } from '@rookery/protocol';
import { type ListenAddress, listenHostsOf } from '../../config/addresses.js';
import type { Timers } from '../../net/timers.js';
import type {
  Address,
  ByteStream,
  Chunks,
  Listener,
  OnStream,
  Transport,
} from '../../net/transport.js';
import { MemoryStream } from './memory-stream.js';

export interface MemoryNetworkOptions {
  /** The latency of each piece that is sent; pieces of one stream never overtake each other. */
  latencyMs(from: string, to: string): number;
  /** Bytes in flight per direction before more counts as buffered: the kernel's part. */
  readonly windowBytes: number;
}

interface MemoryListener {
  readonly onStream: OnStream;
  readonly chunks: Chunks;
}

interface Way {
  readonly from: string;
  readonly to: Address;
  readonly chunks: Chunks;
}

interface Dial extends Way {
  isDue: boolean;
  readonly resolve: (stream: ByteStream) => void;
  readonly reject: (error: Error) => void;
}

const FIRST_EPHEMERAL_PORT = 40_000;

export class MemoryNetwork {
  readonly #timers: Timers;
  readonly #options: MemoryNetworkOptions;
  readonly #listeners = new Map<string, MemoryListener>();
  readonly #streams = new Set<MemoryStream>();
  /** Dials that a cut holds back. */
  readonly #heldDials = new Set<Dial>();
  readonly #cuts = new Set<string>();
  /** Hosts that take nothing in for now: their processes are suspended. */
  readonly #heldHosts = new Set<string>();
  #nextPort = FIRST_EPHEMERAL_PORT;

  constructor(timers: Timers, options: Partial<MemoryNetworkOptions> = {}) {
    this.#timers = timers;
    this.#options = { latencyMs: () => 1, windowBytes: 64 * 1024, ...options };
  }

  /** The transport of a process at `host`. */
  transport(host: string): Transport {
    return {
      listen: (address, onStream, { chunks = 'given' } = {}) =>
        this.#listen(address, { onStream, chunks }),
      dial: (address, timeoutMs, chunks = 'given') =>
        this.#dial({ from: host, to: address, chunks }, timeoutMs),
    };
  }

  /** Nothing passes between the two hosts, in either direction, and nobody is told. */
  cut(a: string, b: string): void {
    this.cutOneWay(a, b);
    this.cutOneWay(b, a);
  }

  cutOneWay(from: string, to: string): void {
    this.#cuts.add(wayKey(from, to));
  }

  /** What was held back arrives now, in order. */
  heal(a: string, b: string): void {
    this.#cuts.delete(wayKey(b, a));
    this.healOneWay(a, b);
  }

  healOneWay(from: string, to: string): void {
    this.#cuts.delete(wayKey(from, to));
    this.#letThrough();
  }

  /** The process at `host` is suspended: what is sent to it waits. */
  hold(host: string): void {
    this.#heldHosts.add(host);
  }

  /**
   * What waited arrives, stream by stream, the lowest `rank` first. A kernel, too, tells of sockets
   * in an order of its own.
   */
  release(host: string, rank: () => number = () => 0): void {
    this.#heldHosts.delete(host);
    const ranked = [...this.#streams].map((stream) => ({ stream, rank: rank() }));
    ranked.sort((one, other) => one.rank - other.rank);
    this.#letThrough(ranked.map(({ stream }) => stream));
  }

  /** Every stream between the two breaks, and what was on its way is lost. */
  reset(a: string, b: string): void {
    for (const stream of [...this.#streams]) {
      if (stream.localAddress === a && stream.remoteAddress === b) stream.reset();
    }
  }

  /**
   * The process at `host` is gone: its own handlers hear nothing more, the others get a reset.
   * `lostShare` is asked for each of its streams how much of what was on its way is lost.
   */
  crash(host: string, lostShare: () => number = () => 0): void {
    for (const key of [...this.#listeners.keys()]) {
      if (key.startsWith(`${host}:`)) this.#listeners.delete(key);
    }
    for (const dial of [...this.#heldDials]) if (dial.from === host) this.#heldDials.delete(dial);
    for (const stream of [...this.#streams]) {
      if (stream.localAddress === host) stream.crash(lostShare());
    }
  }

  #letThrough(streams: readonly MemoryStream[] = [...this.#streams]): void {
    for (const stream of streams) stream.pump();
    for (const dial of [...this.#heldDials]) if (dial.isDue) this.#connect(dial);
  }

  #listen(address: ListenAddress, listener: MemoryListener): Promise<Listener> {
    const port = address.port === 0 ? this.#nextPort++ : address.port;
    const keys = listenHostsOf(address).map((host) => addressText(host, port));
    const taken = keys.find((key) => this.#listeners.has(key));
    if (taken !== undefined) {
      return Promise.reject(new MemoryNetworkError('EADDRINUSE', `listen ${taken}`));
    }
    for (const key of keys) this.#listeners.set(key, listener);
    const close = (): Promise<void> => {
      for (const key of keys) this.#listeners.delete(key);
      return Promise.resolve();
    };
    return Promise.resolve({ port, close });
  }

  #dial(way: Way, timeoutMs: number): Promise<ByteStream> {
    const { from, to } = way;
    return new Promise((resolve, reject) => {
      const dial = { isDue: false, ...way, resolve, reject };
      this.#heldDials.add(dial);
      this.#timers.after(this.#options.latencyMs(from, to.host), () => {
        dial.isDue = true;
        this.#connect(dial);
      });
      this.#timers.after(timeoutMs, () => {
        if (!this.#heldDials.delete(dial)) return;
        reject(new MemoryNetworkError('ETIMEDOUT', `connect ${addressText(to.host, to.port)}`));
      });
    });
  }

  #connect(dial: Dial): void {
    const { from, to, chunks } = dial;
    const isBlocked = this.#isCut(from, to.host) || this.#isCut(to.host, from);
    if (isBlocked || !this.#heldDials.delete(dial)) return;
    const listener = this.#listeners.get(addressText(to.host, to.port));
    if (listener === undefined) {
      dial.reject(
        new MemoryNetworkError('ECONNREFUSED', `connect ${addressText(to.host, to.port)}`),
      );
      return;
    }
    const near = this.#streamAt(from, { host: to.host, port: to.port }, chunks);
    const far = this.#streamAt(to.host, { host: from, port: this.#nextPort++ }, listener.chunks);
    near.pair(far);
    far.pair(near);
    dial.resolve(near);
    listener.onStream(far);
  }

  #streamAt(localAddress: string, remote: Address, chunks: Chunks): MemoryStream {
    const stream = new MemoryStream({
      localAddress,
      remote,
      isLending: chunks !== 'given',
      windowBytes: this.#options.windowBytes,
      latencyMs: () => this.#options.latencyMs(localAddress, remote.host),
      timers: this.#timers,
      isCut: () => this.#isCut(localAddress, remote.host),
      onGone: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    return stream;
  }

  #isCut(from: string, to: string): boolean {
    if (this.#heldHosts.size > 0 && this.#heldHosts.has(to)) return true;
    return this.#cuts.size > 0 && this.#cuts.has(wayKey(from, to));
  }
}

export class MemoryNetworkError extends Error {
  override readonly name = 'MemoryNetworkError';
  readonly code: string;

  constructor(code: string, what: string) {
    super(`${what}: ${code}`);
    this.code = code;
  }
}

function wayKey(from: string, to: string): string {
  return `${from} ${to}`;
}
