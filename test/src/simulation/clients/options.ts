/**
 * What the clients of a run are like: drawn from the seed by the run, and printed with it.
 *
 * Swarm testing: a run that leaves out whole kinds of work reaches states that a run of everything
 * never does, so each kind of work may be missing. `drawClientOptions` never leaves out all of it.
 */
import type { Random } from '../random.js';

/** What clients do, beside reading and sometimes pinging: parts of which any may be left out. */
export const WORKS = [
  'registers',
  'own',
  'ephemerals',
  'sequentials',
  'multis',
  'watches',
  'syncs',
  'families',
] as const;
export type Work = (typeof WORKS)[number];

export interface ClientOptions {
  readonly count: number;
  /** A burst has 1 to so many requests, sent without waiting for answers. */
  readonly outstandingMax: number;
  /** In [0, 1]: of requests that change nothing. */
  readonly readShare: number;
  /** In [0, 1]: of clients that only read. A member that lost its quorum can answer only them. */
  readonly readerShare: number;
  /** Between a burst's last answer and the next burst. */
  readonly thinkMaxMs: number;
  /** Each client asks for a session timeout in this range. */
  readonly timeoutMinMs: number;
  readonly timeoutMaxMs: number;
  /** Paths that all clients write. */
  readonly registers: number;
  readonly works: readonly Work[];
  /** Mean time between such acts of one client; 0 for never. */
  readonly vanishEveryMs: number;
  readonly moveEveryMs: number;
  readonly closeEveryMs: number;
  /**
   * How long a client waits for the first answer to a burst before it tries another member: less
   * than any timeout, so that what it has asked for may still be under way; 0 for very long.
   */
  readonly patienceMs: number;
  /** Some that move keep the old connection and go on asking there, until the member ends it. */
  readonly asksOn: boolean;
  /** Writers make znodes with a time to live, too. */
  readonly ttls: boolean;
  /** Clients own many ephemerals and watch many paths at a time. */
  readonly hoards: boolean;
  /** Clients make deep paths and large multis. */
  readonly digs: boolean;
}

export function drawClientOptions(random: Random): ClientOptions {
  const works = WORKS.filter(() => random.chance(0.7));
  const timeoutMinMs = random.pick([1_000, 2_000, 4_000]);
  return {
    count: 1 + random.below(12),
    outstandingMax: random.pick([1, 4, 16, 32]),
    readShare: random.pick([0.2, 0.5, 0.8]),
    readerShare: random.pick([0, 0.2, 0.5]),
    thinkMaxMs: random.pick([0, 0, 5, 50]),
    timeoutMinMs,
    timeoutMaxMs: timeoutMinMs * random.pick([1, 2, 5]),
    registers: 1 + random.below(5),
    works: works.length > 0 ? works : ['registers'],
    vanishEveryMs: random.pick([0, 2_000, 10_000]),
    moveEveryMs: random.pick([0, 1_000, 10_000]),
    closeEveryMs: random.pick([0, 5_000, 20_000]),
    patienceMs: random.pick([0, 30, 150]),
    asksOn: random.chance(0.5),
    ttls: random.fork('ttls').chance(0.4),
    hoards: random.chance(0.4),
    digs: random.chance(0.3),
  };
}
