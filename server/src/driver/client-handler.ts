/**
 * Joins the client port to the pipeline: a client connection is the pipeline's output.
 *
 * Owns nothing but the translation; frames are handed on in the turn they came in.
 */
import type { ClientHandler } from '../net/client-handler.js';
import type { Pipeline } from '../pipeline/pipeline.js';

/** `enter` begins the driver's turn, once, and returns its time. */
export function clientHandler(pipeline: Pipeline, enter: () => number): ClientHandler {
  return {
    onOpen(connection) {
      enter();
      pipeline.onOpen(connection.id, connection);
    },
    onFrame(connection, frame) {
      pipeline.onFrame(connection.id, frame, enter());
    },
    onClosed(connection) {
      enter();
      pipeline.onClosed(connection.id);
    },
  };
}
