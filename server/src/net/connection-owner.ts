/**
 * What a client connection has around it: the port that owns it, with what all connections share,
 * and the handler of its frames.
 *
 * Only types. Their parameter `Connection` is always `ClientConnection`, which imports this file
 * and therefore cannot be named here. `ClientPort` is the only owner, and the driver makes the
 * handler.
 */
import type { JuteReader, SlabPool } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { ClientShare } from './client-share.js';
import type { InputPace } from './input-pace.js';
import type { RateLimitedLog } from './rate-limited-log.js';
import type { ServerStats } from './server-stats.js';
import type { SharedBudget } from './shared-budget.js';
import type { Timers } from './timers.js';

export interface ConnectionLimits {
  /** The largest frame before there is a session, which is a handshake. */
  readonly handshakeBytesMax: number;
  /** The largest frame afterwards. */
  readonly frameBytesMax: number;
  /** Reading stops above this many bytes of output and continues below half of them. */
  readonly outputSoftBytes: number;
  /**
   * The connection is dropped above this many bytes of output. The largest answer does not count,
   * so a client may get one answer of any size.
   */
  readonly outputHardBytes: number;
  /** How long an ended connection may take to close. */
  readonly lingerMs: number;
  /** A connection without a session is closed after this time. */
  readonly sessionlessTimeoutMs: number;
  /** Whether clients can log in by SASL. */
  readonly offersLogins: boolean;
}

/**
 * What connections report to. For each connection there is `onOpen`, then any number of
 * `onFrame`, then `onClosed` exactly once. Connections that only asked a four-letter word, or that
 * were refused, are not reported. No call is made from within a call to a connection or a port.
 */
export interface ConnectionHandler<Connection> {
  onOpen(connection: Connection): void;
  /**
   * One whole frame without its length. The reader ends where the frame ends, and is valid only
   * during the call: copy what is needed later. Not called while the connection is held, or after
   * `close()` or `end()`.
   */
  onFrame(connection: Connection, frame: JuteReader): void;
  /**
   * The connection was held for the HoldReason `room` and may continue: its client has taken enough
   * of its output, or a later turn has a share for it.
   */
  onRoom(connection: Connection): void;
  onClosed(connection: Connection): void;
}

/** What a connection needs of its port. */
export interface ConnectionOwner<Connection> {
  readonly limits: ConnectionLimits;
  readonly handler: ConnectionHandler<Connection>;
  readonly timers: Timers;
  readonly logger: Logger;
  /** For events that clients can cause as often as they like. */
  readonly rateLimited: RateLimitedLog;
  readonly stats: ServerStats;
  readonly share: ClientShare;
  readonly pace: InputPace;
  /** Memory for output. */
  readonly slabs: SlabPool;
  /** Bytes that all connections have read and not delivered. */
  readonly input: SharedBudget<Connection>;
  /** Bytes that were written and that clients have not taken. */
  readonly output: SharedBudget<Connection>;
  /** The reader for frames. */
  readonly frame: JuteReader;
  /** Nothing may leave now, not even from a connection that ends: see ClientPort. */
  readonly isWithheld: boolean;
  /** The connection has output for the next flush. Called once per flush. */
  onDirty(connection: Connection): void;
  onSessionBound(connection: Connection): void;
  /** All connections together hold more input than they may. */
  onInputExceeded(): void;
  /** The stream is gone. Called once. */
  onClosed(connection: Connection): void;
}

/**
 * Why a connection is dropped: the client made a mistake (`fault`), this member cannot serve it now
 * (`state`), or for a reason that the caller has already logged (`logged`).
 */
export type CloseCause = 'fault' | 'state' | 'logged';
