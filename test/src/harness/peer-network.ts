/**
 * The network between the members of one ensemble: a proxy for every ordered pair of members.
 *
 * `portFor(from, to)` is the peer port of `to` as `from`'s configuration names it. A cut stops both
 * directions of both proxies of a pair, whichever member dialled; a one-way cut stops what one
 * member sends.
 */
import { LinkProxy } from './proxy.js';

export class PeerNetwork {
  readonly #proxies: ReadonlyMap<string, LinkProxy>;
  readonly #ids: readonly number[];

  private constructor(ids: readonly number[], proxies: ReadonlyMap<string, LinkProxy>) {
    this.#ids = ids;
    this.#proxies = proxies;
  }

  /** Takes one of `ports` for every ordered pair. */
  static async create(
    peers: readonly { id: number; peerPort: number }[],
    ports: readonly number[],
  ): Promise<PeerNetwork> {
    const free = [...ports];
    const proxies = new Map<string, LinkProxy>();
    for (const from of peers) {
      for (const to of peers) {
        if (from === to) continue;
        const port = free.shift();
        if (port === undefined) throw new Error('too few ports');
        proxies.set(`${from.id}>${to.id}`, await LinkProxy.listen(port, to.peerPort));
      }
    }
    return new PeerNetwork(
      peers.map((peer) => peer.id),
      proxies,
    );
  }

  portFor(from: number, to: number): number {
    return this.#proxy(from, to).port;
  }

  /** Stops everything between this member and all others. */
  isolate(id: number): void {
    for (const other of this.#others(id)) {
      this.holdOneWay(id, other);
      this.holdOneWay(other, id);
    }
  }

  /** Stops what `from` sends to `to`; the other direction works. */
  holdOneWay(from: number, to: number): void {
    this.#proxy(from, to).hold('out');
    this.#proxy(to, from).hold('back');
  }

  passOneWay(from: number, to: number): void {
    this.#proxy(from, to).pass('out');
    this.#proxy(to, from).pass('back');
  }

  /** Stops what `from` sends to `to` after about this many bytes; resolves when it is stopped. */
  holdAfter(from: number, to: number, bytes: number): Promise<void> {
    return new Promise((resolve) => {
      this.#proxy(from, to).holdAfter('out', bytes, resolve);
      this.#proxy(to, from).holdAfter('back', bytes, resolve);
    });
  }

  /** What was held arrives late, as after a retransmission. */
  heal(id: number): void {
    for (const other of this.#others(id)) {
      this.passOneWay(id, other);
      this.passOneWay(other, id);
    }
  }

  /** Breaks the connections that existed during the cut; new ones work. */
  healWithReset(id: number): void {
    for (const other of this.#others(id)) {
      this.#proxy(id, other).reset();
      this.#proxy(other, id).reset();
    }
    this.heal(id);
  }

  delay(delayMs: number): void {
    for (const proxy of this.#proxies.values()) proxy.delay(delayMs);
  }

  async close(): Promise<void> {
    for (const proxy of this.#proxies.values()) await proxy.close();
  }

  #others(id: number): number[] {
    return this.#ids.filter((other) => other !== id);
  }

  #proxy(from: number, to: number): LinkProxy {
    const proxy = this.#proxies.get(`${from}>${to}`);
    if (proxy === undefined) throw new Error(`no proxy from ${from} to ${to}`);
    return proxy;
  }
}
