/**
 * Connects the client port with the pipeline, which writes its replies to client connections.
 *
 * It translates and keeps nothing. Frames are passed on in the turn in which they arrive.
 */
import type { JuteReader } from '@rookery/protocol';
import type { ClientConnection } from '../net/client-connection.js';
import type { ClientHandler } from '../net/client-handler.js';
import type { Pipeline } from '../pipeline/pipeline.js';
import type { Turns } from './turns.js';

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
