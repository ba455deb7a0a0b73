/**
 * The calls that the client port makes; the driver implements them.
 *
 * For each connection there is `onOpen`, then any number of `onFrame`, then `onClosed` exactly
 * once. Connections that only asked a four-letter word, or that were refused, are not reported. No
 * call is made from within a call to a connection or a port.
 */
import type { JuteReader } from '@rookery/protocol';
import type { ClientConnection } from './client-connection.js';

export interface ClientHandler {
  onOpen(connection: ClientConnection): void;
  /**
   * One whole frame without its length. The reader ends where the frame ends, and is valid only
   * during the call: copy what is needed later. Not called while the connection is held, or after
   * `close()` or `end()`.
   */
  onFrame(connection: ClientConnection, frame: JuteReader): void;
  /**
   * The connection was held for the HoldReason `room` and may continue: its client has taken enough
   * of its output, or a later turn has a share for it.
   */
  onRoom(connection: ClientConnection): void;
  onClosed(connection: ClientConnection): void;
}
