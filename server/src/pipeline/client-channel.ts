/**
 * Defines a client connection as the pipeline sees it. ClientConnection in net implements it; tests
 * fake it.
 *
 * The pipeline appends whole frames to `writer` in the order in which a client must see them; net
 * sends them in its next flush. None of these methods may call back into the pipeline. After
 * `end` or `close` the pipeline calls none of them again.
 */
import type { Identity, Int64, JuteWriter } from '@rookery/protocol';

/**
 * The number of a client connection, never used again within a process. It is also its WatcherId.
 */
export type ConnectionId = number;

/**
 * Why no frames may be delivered: the handshake is not answered yet, too much is outstanding, an
 * answer has to wait for its client or for a later turn (`room`: see `isFullFor`), an attempt to
 * log in waits, or the client sends too many requests.
 */
export type HoldReason = 'handshake' | 'outstanding' | 'room' | 'login' | 'rate';

/** One answered request. */
export interface ReplyRecord {
  /** The four letters that `cons` prints, as CREA or GETD: see `request.ts`. */
  readonly operation: string;
  readonly xid: number;
  readonly zxid: Int64;
  readonly latencyMs: number;
  /** When the reply was written, in monotonic ms. */
  readonly nowMs: number;
}

/** Counters for the four-letter words. Nothing reads them to decide anything. */
export interface ChannelStats {
  /** The number of requests that were taken in and are not answered yet. */
  outstanding: number;
  /** The record is lent: what is kept of it must be copied. */
  replied(reply: ReplyRecord): void;
  /** A watch event of so many bytes. */
  sentEvent(bytes: number): void;
}

export interface ClientChannel {
  /** The client's address, IPv4-mapped or not; '' if there is none. */
  readonly remoteAddress: string;
  /** See `Requester`. */
  readonly operatorAddress?: string | undefined;
  /** What the connection has proved by itself, as by a certificate; absent for nothing. */
  readonly proven?: readonly Identity[];
  /**
   * Takes frames for the client, length prefixes included. It must be obtained anew for each frame,
   * because that is how net learns that there is something to flush.
   */
  readonly writer: JuteWriter;
  readonly stats: ChannelStats;
  /**
   * Whether an answer of about so many bytes should wait: the client has to take others first, or
   * the part of this turn that such answers may use is used up. A connection that is held for
   * `room` is reported by `Pipeline.onRoom`, in a later turn, when it can get its answer.
   */
  isFullFor(answerBytes: number): boolean;
  /**
   * Whether the client was heard from since the last call: bytes have come, or they may have,
   * because the connection is not read at present. That a request is taken in does not say so: if
   * the connection has waited for `rate`, the request was read ahead and may have come long ago.
   * Called by `Touches.maybeHeard`.
   */
  takeHeard(): boolean;
  /** The handshake is done. */
  bindSession(session: { readonly id: Int64; readonly timeoutMs: number }): void;
  /**
   * No `onFrame` may come until every reason is released again, and none from inside `release`. For
   * `rate` alone, net reads ahead a little, so that it notices a client that is gone.
   * `answerBytes` is about the size of the answer that waits.
   */
  hold(reason: HoldReason, answerBytes?: number): void;
  release(reason: HoldReason): void;
  /** So many bytes of a request that has begun are kept: they count as input of the connection. */
  keep(bytes: number): void;
  /**
   * Half-closes the connection once everything in `writer` is sent; net bounds how long that may
   * take.
   */
  end(): void;
  /**
   * Drops the connection at once. `reason` is for the log; `cause` is 'state' where the client is
   * not at fault.
   */
  close(reason: string, cause?: 'fault' | 'state'): void;
}
