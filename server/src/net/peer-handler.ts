/**
 * What the peer port tells the driver.
 *
 * For each link: `onConnected`, any number of `onMessage`, `onDisconnected` exactly once, in this
 * order; the calls of two links of one peer never interleave. Link numbers only grow. No call is
 * made from within a call to the port, `disconnect` and `send` included.
 */
import type { Hello, PeerId, PeerMessage } from '@rookery/protocol';

export interface PeerHandler {
  /** The hello went both ways and both accepted it; `version` is the wire version of the link. */
  onConnected(peer: PeerId, link: number, hello: Hello, version: number): void;
  /** The message owns its bytes: it may be kept. */
  onMessage(peer: PeerId, link: number, message: PeerMessage): void;
  onDisconnected(peer: PeerId, link: number, reason: string): void;
}
