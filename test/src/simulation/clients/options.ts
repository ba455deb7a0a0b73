/**
 * The character of a run's clients: drawn from the seed by the run, and printed with it.
 *
 * Swarm testing: a run that omits whole kinds of work reaches states that a run of everything never
 * does, so each kind of work may be missing. `drawClientOptions` never omits all of them.
 */
import type { Random } from '../random.js';

/** What clients do, besides reading and sometimes pinging; any of these may be omitted. */
export const WORKS = [
  'registers',
  'own',
  'ephemerals',
  'sequentials',
  'multis',
  'watches',
  'syncs',
  'families',
  'acls',
  'readsAtOnce',
  'ownEphemerals',
  'removals',
  'secrets',
  'limits',
] as const;
export type Work = (typeof WORKS)[number];

/** Those that came later are drawn by themselves, so that nothing else that is drawn changes. */
const FIRST_WORKS = 9;

export interface ClientOptions {
  readonly count: number;
  /** The maximum number of requests in a burst, which are sent without waiting for answers. */
  readonly outstandingMax: number;
  /** The share of requests that change nothing, in [0, 1]. */
  readonly readShare: number;
  /**
   * The share of clients that only read, in [0, 1]. A member that lost its quorum can answer only
   * them.
   */
  readonly readerShare: number;
  /** The time between a burst's last answer and the next burst. */
  readonly thinkMaxMs: number;
  /** Each client asks for a session timeout in this range. */
  readonly timeoutMinMs: number;
  readonly timeoutMaxMs: number;
  /** The number of paths that all clients write. */
  readonly registers: number;
  readonly works: readonly Work[];
  /** The mean time between such acts of one client; 0 for never. */
  readonly vanishEveryMs: number;
  readonly moveEveryMs: number;
  readonly closeEveryMs: number;
  /**
   * How long a client waits for the first answer to a burst before it tries another member: less
   * than any timeout, so that its requests may still be in flight; 0 for very long.
   */
  readonly patienceMs: number;
  /**
   * Some clients that move keep the old connection and continue to send on it, until the member
   * closes it.
   */
  readonly asksOn: boolean;
  /** Writers also create znodes with a time to live. */
  readonly ttls: boolean;
  /** Clients own many ephemerals and watch many paths at a time. */
  readonly hoards: boolean;
  /** Further clients, which take the read-only sessions of members without a quorum. */
  readonly readOnlyReaders: number;
  /** Clients create deep paths and large multis. */
  readonly digs: boolean;
}

export function drawClientOptions(random: Random): ClientOptions {
  const drawn = WORKS.slice(0, FIRST_WORKS).filter(() => random.chance(0.7));
  const later = WORKS.slice(FIRST_WORKS).filter((work) => random.fork(work).chance(0.3));
  const timeoutMinMs = random.pick([1_000, 2_000, 4_000]);
  const isCrowd = random.fork('crowd').chance(0.05);
  return {
    count: (isCrowd ? 24 : 1) + random.below(12),
    outstandingMax: random.pick([1, 4, 16, 32]),
    readShare: random.pick([0.2, 0.5, 0.8]),
    readerShare: random.pick([0, 0.2, 0.5]),
    thinkMaxMs: random.pick([0, 0, 5, 50]),
    timeoutMinMs,
    timeoutMaxMs: timeoutMinMs * random.pick([1, 2, 5]),
    registers: (random.fork('registers').chance(0.05) ? 400 : 1) + random.below(5),
    works: [...(drawn.length > 0 ? drawn : (['registers'] as const)), ...later],
    vanishEveryMs: random.pick([0, 2_000, 10_000]),
    moveEveryMs: random.pick([0, 1_000, 10_000]),
    closeEveryMs: random.pick([0, 5_000, 20_000]),
    patienceMs: random.pick([0, 30, 150]),
    asksOn: random.chance(0.5),
    ttls: random.fork('ttls').chance(0.4),
    readOnlyReaders: random.fork('read-only').pick([0, 0, 0, 1, 3]),
    hoards: random.chance(0.4),
    digs: random.chance(0.3),
  };
}
