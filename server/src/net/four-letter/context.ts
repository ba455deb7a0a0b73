/**
 * Shows the member, its counters and the client connections to four-letter words, to requests at
 * the HTTP ports, and to questions that other members ask for operators (driver/member-answers.ts).
 *
 * The word service makes one for each answer, when the first piece of the answer is taken.
 * `Member.context()` makes one for each request at an HTTP port and for each such question of
 * another member. The reply to a word is built from it piece by piece.
 */
import type { MemberView } from '../member-view.js';
import type { ConnectionStats, ServerStats } from '../server-stats.js';

/** One line of `stat` and `cons`. */
export interface ConnectionView {
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** 1 while requests are taken in, plus 4 while output waits; 0 for the connection that asks. */
  readonly interestOps: number;
  /**
   * When the connection expires according to `dump`, in ms since 1970: its timeout after its last
   * response, as ZooKeeper has it.
   */
  readonly expiresWallMs: number;
  /** Whether its client speaks TLS. */
  readonly isSecured: boolean;
  readonly stats: ConnectionStats;
}

export interface WordContext {
  readonly view: MemberView;
  readonly stats: ServerStats;
  /** Now, ms since 1970. */
  readonly wallMs: number;
  /** The number of connections. For a word the asking one is included, as in ZooKeeper. */
  readonly connectionCount: number;
  /** For a word the asking connection comes first. The iteration may continue in later turns. */
  connections(): Iterable<ConnectionView>;
}
