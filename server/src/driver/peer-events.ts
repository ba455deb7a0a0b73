/**
 * The driver's side of the peer port: runs each event of the port in a turn.
 */
import type { Hello, PeerId, PeerMessage } from '@rookery/protocol';
import type { PeerHandler } from '../net/peer-handler.js';
import type { ConnectedLink } from './peer-links.js';
import type { Turns } from './turns.js';

export interface PeerInput {
  onConnected(at: ConnectedLink, hello: Hello): void;
  onMessage(peer: PeerId, link: number, message: PeerMessage): void;
  onDisconnected(peer: PeerId, link: number): void;
}

export function peerEvents(turns: Turns, input: PeerInput): PeerHandler {
  return {
    onConnected: (peer, link, hello, version) =>
      turns.run(() => input.onConnected({ peer, link, version }, hello)),
    onMessage: (peer, link, message) => turns.run(() => input.onMessage(peer, link, message)),
    onDisconnected: (peer, link) => turns.run(() => input.onDisconnected(peer, link)),
  };
}
