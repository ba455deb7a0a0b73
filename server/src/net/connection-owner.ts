/**
 * What a client connection needs of the port that owns it: its limits, and whom it tells what.
 *
 * Types alone. `ClientPort` is the only implementation; `ClientConnection` uses it.
 */
import type { JuteReader, SlabPool } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { ClientTurn } from './client-turn.js';
import type { InputPace } from './input-pace.js';
import type { RateLimitedLog } from './rate-limited-log.js';
import type { ServerStats } from './server-stats.js';
import type { SharedBudget } from './shared-budget.js';
import type { Timers } from './timers.js';

/**
 * Why no frames are delivered: the handshake is not answered yet, too much is outstanding, or
 * answers wait for room in the output.
 */
export type HoldReason = 'handshake' | 'outstanding' | 'room';

export interface ConnectionLimits {
  /** Of a frame before there is a session, which is a handshake. */
  readonly handshakeBytesMax: number;
  /** Of every frame once there is one. */
  readonly frameBytesMax: number;
  /** Reading stops above this many bytes of output, and goes on below half of it. */
  readonly outputSoftBytes: number;
  /**
   * The connection is dropped above this many bytes of output, the largest answer not counted:
   * whatever a client asks for it gets, in one answer of any size.
   */
  readonly outputHardBytes: number;
  /** How long an ended connection may take to close. */
  readonly lingerMs: number;
  /** A connection without a session is closed after this time. */
  readonly sessionlessTimeoutMs: number;
}

/** What a connection needs of its port. */
export interface ConnectionOwner<Connection> {
  readonly limits: ConnectionLimits;
  readonly timers: Timers;
  readonly logger: Logger;
  /** For what clients can cause as often as they like. */
  readonly rateLimited: RateLimitedLog;
  readonly stats: ServerStats;
  readonly turn: ClientTurn;
  readonly pace: InputPace;
  /** Memory for output. */
  readonly slabs: SlabPool;
  /** Bytes that were read and are not handed on, of all connections. */
  readonly input: SharedBudget<Connection>;
  /** Bytes that were written and that clients have not taken, of all connections. */
  readonly output: SharedBudget<Connection>;
  /** What frames are read with. */
  readonly frame: JuteReader;
  onFrame(connection: Connection, frame: JuteReader): void;
  /** It is held for `room`, and there is some. */
  onRoom(connection: Connection): void;
  /** Has output for the next flush; told once per flush. */
  onDirty(connection: Connection): void;
  onSessionBound(connection: Connection): void;
  /** More was read than all connections together may hold. */
  onInputExceeded(): void;
}

/** Why a connection is dropped: what the client did, what is so here, or what is logged already. */
export type CloseCause = 'fault' | 'state' | 'told';
