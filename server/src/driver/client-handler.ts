/**
 * Joins the client port to the pipeline: a client connection is the pipeline's output.
 *
 * Owns nothing but the translation; frames are handed on in the turn they came in.
 */
import type { ClientHandler } from '../net/client-handler.js';
import type { Pipeline } from '../pipeline/pipeline.js';
import type { Turns } from './turns.js';

export function clientHandler(pipeline: Pipeline, turns: Turns): ClientHandler {
  return {
    onOpen(connection) {
      turns.run(() => pipeline.onOpen(connection.id, connection));
    },
    onFrame(connection, frame) {
      turns.run(() => pipeline.onFrame(connection.id, frame, turns.nowMs));
    },
    onRoom(connection) {
      turns.run(() => pipeline.onRoom(connection.id, turns.nowMs));
    },
    onClosed(connection) {
      turns.run(() => pipeline.onClosed(connection.id));
    },
  };
}
