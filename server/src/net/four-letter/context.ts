/**
 * What a four-letter word may look at: the member, its counters and the client connections.
 *
 * Made by the client port for each word that is asked; the reply is built from it piece by piece.
 */
import type { MemberView } from '../member-view.js';
import type { ConnectionStats, ServerStats } from '../server-stats.js';

/** One line of `stat` and `cons`. */
export interface ConnectionView {
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** 1 while it is read from, 4 while output waits; 0 for the connection that asks. */
  readonly interestOps: number;
  /** When it is dropped if nothing comes; ms since 1970. */
  readonly expiresWallMs: number;
  readonly stats: ConnectionStats;
}

export interface WordContext {
  readonly view: MemberView;
  readonly stats: ServerStats;
  /** Now, ms since 1970. */
  readonly wallMs: number;
  /** The asking connection counts, as in ZooKeeper. */
  readonly connectionCount: number;
  /** The asking one first. Lazy: it may go on in later turns. */
  connections(): Iterable<ConnectionView>;
}
