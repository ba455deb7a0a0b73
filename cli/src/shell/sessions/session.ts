/** A session as the commands show it, and where they learn of sessions. */

export interface Session {
  /** In hex with 0x. */
  readonly session: string;
  /** The server to which its client is connected, as `host:port`; null if no server says so. */
  readonly server: string | null;
  /** The address of the client; null if it is connected to none of the servers that answered. */
  readonly address: string | null;
  readonly timeoutMs: number | null;
  /** How many ephemeral znodes it owns. */
  readonly ephemerals: number | null;
  /** When the connection was made, in ms since 1970. */
  readonly sinceMs: number | null;
  readonly lastOperation: string | null;
  readonly received: number | null;
  readonly sent: number | null;
  readonly outstanding: number | null;
  readonly averageLatencyMs: number | null;
  readonly maxLatencyMs: number | null;
}

interface Watched {
  readonly path: string;
  /** `data`, `child`, `persistent` or `recursive`; null if the server does not report it. */
  readonly mode: string | null;
}

export interface SessionDetail extends Session {
  readonly ephemeralPaths: readonly string[];
  /** Whether it owns more than these. */
  readonly ephemeralPathsTruncated: boolean;
  /** Null if no server reports it. */
  readonly watched: readonly Watched[] | null;
  /** Whether it watches more than that; null if no server reports it. */
  readonly watchedTruncated: boolean | null;
}

export interface SessionSource {
  /** In the order of their ids. Throws OperatorError if no server lists them. */
  list(signal: AbortSignal): AsyncIterable<Session>;
  /** Resolves with null if there is no such session. Rejects with OperatorError. */
  one(session: string, signal: AbortSignal): Promise<SessionDetail | null>;
  /** What is missing in the answers so far, as sentences. */
  readonly gaps: readonly string[];
}

/** A session of which only the id is known. */
export const UNKNOWN: Omit<Session, 'session'> = {
  server: null,
  address: null,
  timeoutMs: null,
  ephemerals: null,
  sinceMs: null,
  lastOperation: null,
  received: null,
  sent: null,
  outstanding: null,
  averageLatencyMs: null,
  maxLatencyMs: null,
};
