/**
 * What the client port tells whoever serves the clients; the driver implements it.
 *
 * For each connection: `onOpen`, any number of `onFrame`, `onClosed` exactly once, in this order.
 * Connections that only asked for a four-letter word, and those refused at the door, never show up.
 * No call is made from within a call to a connection or a port.
 */
import type { JuteReader } from '@rookery/protocol';
import type { ClientConnection } from './client-connection.js';

export interface ClientHandler {
  onOpen(connection: ClientConnection): void;
  /**
   * One whole frame without its length: the reader ends where the frame does, and is pointed
   * elsewhere after the call. Copy what outlives it. Not called while the connection is held, nor
   * after `close()` or `end()`.
   */
  onFrame(connection: ClientConnection, frame: JuteReader): void;
  /** The connection is held for `room`, and its client has taken enough of its output. */
  onRoom(connection: ClientConnection): void;
  onClosed(connection: ClientConnection): void;
}
