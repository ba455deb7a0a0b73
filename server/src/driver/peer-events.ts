/**
 * The driver's side of the peer port: runs each event of the port in a turn.
 */
import type { Ask, Hello, PeerId, PeerMessage, Tell } from '@rookery/protocol';
import type { PeerHandler } from '../net/peer-handler.js';
import type { PeerQuestions } from './peer-questions.js';
import type { Turns } from './turns.js';

export interface ConnectedLink {
  readonly peer: PeerId;
  readonly link: number;
  /** The wire version of the link. */
  readonly version: number;
}

export interface PeerInput {
  onConnected(at: ConnectedLink, hello: Hello): void;
  onMessage(peer: PeerId, link: number, message: MessageToDriver): void;
  onDisconnected(peer: PeerId, link: number): void;
}

/** The messages that the driver handles: all but operators' questions and their answers. */
export type MessageToDriver = Exclude<PeerMessage, Ask | Tell>;

export function peerEvents(
  turns: Turns,
  questions: Pick<PeerQuestions, 'onMessage'>,
  input: PeerInput,
): PeerHandler {
  return {
    onConnected: (peer, link, hello, version) =>
      turns.run(() => input.onConnected({ peer, link, version }, hello)),
    onMessage: (peer, link, message) => {
      if (message.kind === 'ask' || message.kind === 'tell') {
        return questions.onMessage(peer, message);
      }
      turns.run(() => input.onMessage(peer, link, message));
    },
    onDisconnected: (peer, link) => turns.run(() => input.onDisconnected(peer, link)),
  };
}
