/**
 * What the pipeline asks of a client connection. Implemented by net, faked in tests.
 *
 * The pipeline appends whole frames to `writer`, in the order a client must see them, and calls
 * `flush` at most once per connection in `Pipeline.flush()`, at the end of the driver's turn.
 * None of these methods may call back into the pipeline.
 */
import type { JuteWriter } from '@rookery/protocol';

/** The number of a client connection; never used again within a process. Also its WatcherId. */
export type ConnectionId = number;

export interface Output {
  /** Frames for the client, length prefixes included. Only net takes bytes out. */
  readonly writer: JuteWriter;
  /** Writes what is in `writer` to the socket. */
  flush(): void;
  /** Half-closes once everything in `writer` is sent; net bounds how long that may take. */
  end(): void;
  /** Drops the connection at once. */
  destroy(): void;
  /** No `onFrame` after this until `resume`. Net may have reasons of its own to pause as well. */
  pause(): void;
  resume(): void;
}
