/**
 * The links of this member that are up, at most one for each peer.
 *
 * A message for a link that is gone, or whose wire version is too old for it, is dropped. Owned by
 * the driver, to which the peer port reports links.
 */
import type { PeerId, PeerMessage } from '@rookery/protocol';
import type { PeerPort } from '../net/peer-port.js';

export interface ConnectedLink {
  readonly peer: PeerId;
  readonly link: number;
  /** The wire version of the link. */
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

  /** Sends the message if there is a link of wire version `since` or later. */
  tell(peer: PeerId, message: PeerMessage, since = 0): void {
    const at = this.#links.get(peer);
    if (at !== undefined && at.version >= since) this.#port().send(peer, at.link, message);
  }
}
