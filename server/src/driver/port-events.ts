/**
 * The driver's side of the two ports: what clients and members send comes in as parts of turns.
 *
 * It translates and keeps nothing. Everything is passed on in the turn in which it arrives; only
 * operators' questions and their answers need no turn.
 */
import type { Ask, Hello, JuteReader, PeerId, PeerMessage, Tell } from '@rookery/protocol';
import type { ClientConnection } from '../net/client-connection.js';
import type { ClientHandler } from '../net/client-port.js';
import type { PeerHandler } from '../net/peer-port-parts.js';
import type { Pipeline } from '../pipeline/pipeline.js';
import type { PeerQuestions } from './peer-questions.js';
import type { Turns } from './turns.js';

/** The pipeline writes its replies to the client's connection. */
export function clientEvents(pipeline: Pipeline, turns: Turns): ClientHandler {
  const onFrame = (connection: ClientConnection, frame: JuteReader): void => {
    pipeline.onFrame(connection.id, frame, turns.nowMs);
  };
  return {
    onOpen(connection) {
      turns.run(() => pipeline.onOpen(connection.id, connection, turns.nowMs));
    },
    onFrame(connection, frame) {
      turns.call(onFrame, connection, frame);
    },
    onRoom(connection) {
      turns.run(() => pipeline.onRoom(connection.id, turns.nowMs));
    },
    onClosed(connection) {
      turns.run(() => pipeline.onClosed(connection.id));
    },
  };
}

export interface ConnectedLink {
  readonly peer: PeerId;
  readonly link: number;
  /** The wire version of the link. */
  readonly version: number;
}

/** The messages that the driver handles: all but operators' questions and their answers. */
export type MessageToDriver = Exclude<PeerMessage, Ask | Tell>;

export interface PeerInput {
  onConnected(at: ConnectedLink, hello: Hello): void;
  onMessage(peer: PeerId, link: number, message: MessageToDriver): void;
  onDisconnected(peer: PeerId, link: number): void;
}

export function peerEvents(
  turns: Turns,
  questions: Pick<PeerQuestions, 'onMessage' | 'onDisconnected'>,
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
    onDisconnected: (peer, link) => {
      questions.onDisconnected(peer);
      turns.run(() => input.onDisconnected(peer, link));
    },
  };
}
