/**
 * What a four-letter word may read: the member, its counters and the client connections.
 *
 * The client port makes one for each word that arrives; the reply is built from it piece by piece.
 */
import type { MemberView } from '../member-view.js';
import type { ConnectionStats, ServerStats } from '../server-stats.js';

/** One line of `stat` and `cons`. */
export interface ConnectionView {
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** 1 while input is read from it, 4 while output waits; 0 for the connection that asks. */
  readonly interestOps: number;
  /** The time that `dump` shows, in ms since 1970; see ClientConnection. */
  readonly expiresWallMs: number;
  readonly stats: ConnectionStats;
}

export interface WordContext {
  readonly view: MemberView;
  readonly stats: ServerStats;
  /** Now, ms since 1970. */
  readonly wallMs: number;
  /** The number of connections, including the asking one, as in ZooKeeper. */
  readonly connectionCount: number;
  /** The asking connection comes first. Lazy: the iteration may continue in later turns. */
  connections(): Iterable<ConnectionView>;
}
