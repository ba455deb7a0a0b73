/**
 * The links of this member that are up, one for each peer, as the driver uses them.
 *
 * What is said on a link that is gone, or that speaks too early a wire version, is not said. Owned
 * by the driver, which is told of links by the peer port.
 */
import type { PeerId, PeerMessage } from '@rookery/protocol';
import type { PeerPort } from '../net/peer-port.js';

export interface ConnectedLink {
  readonly peer: PeerId;
  readonly link: number;
  /** The wire version that it speaks. */
  readonly version: number;
}

export class PeerLinks {
  readonly #port: () => PeerPort;
  readonly #links = new Map<PeerId, ConnectedLink>();

  constructor(port: () => PeerPort) {
    this.#port = port;
  }

  isUp(peer: PeerId, link: number): boolean {
    return this.#links.get(peer)?.link === link;
  }

  onConnected(at: ConnectedLink): void {
    this.#links.set(at.peer, at);
  }

  onDisconnected(peer: PeerId, link: number): void {
    if (this.isUp(peer, link)) this.#links.delete(peer);
  }

  clear(): void {
    this.#links.clear();
  }

  /** On whatever link there is of the wire version `since`, or a later one. */
  tell(peer: PeerId, message: PeerMessage, since = 0): void {
    const at = this.#links.get(peer);
    if (at !== undefined && at.version >= since) this.#port().send(peer, at.link, message);
  }
}
