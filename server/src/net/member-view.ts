/**
 * What the four-letter words may know of the member that answers them.
 *
 * The driver implements it over the state, the core and the configuration. Every property is read
 * at the moment a word is answered, between two changes of the state, so they agree with each
 * other. What is as long as there are sessions, ephemerals or watches is lazy: it is read in many
 * turns, costs next to nothing between two of its elements, and shows what is there when it is
 * read. Nothing here may wait: sizes of directories are the last ones known.
 */
import type { Int64, PeerId, Zxid } from '@rookery/protocol';
import type { Durations } from '../measures/durations.js';
import type { SummaryView } from '../measures/summary.js';

export type ServerMode = 'standalone' | 'leader' | 'follower' | 'observer' | 'read-only';

export interface ProposalSizes {
  /** Bytes of the last, smallest and largest proposal; -1 before the first. */
  readonly last: number;
  readonly min: number;
  readonly max: number;
}

/** Only a leader has it. */
export interface LeaderView {
  readonly learners: number;
  readonly syncedFollowers: number;
  readonly syncedObservers: number;
  readonly pendingSyncs: number;
  readonly uptimeMs: number;
  readonly proposalSizes: ProposalSizes;
}

/** Only a member of a real ensemble has it; a standalone server does not. */
export interface QuorumView {
  /** As ZooKeeper names them: `leading - broadcast`, `following - broadcast`, `looking`. */
  readonly peerState: string;
  /** Voters in the configuration. */
  readonly quorumSize: number;
  readonly initLimitTicks: number;
  readonly syncLimitTicks: number;
  readonly peerPort: number;
  /** As in `membership`: nobody listens on it. */
  readonly electionPort: number;
  readonly participant: boolean;
  /** The text of /zookeeper/config. */
  readonly membership: string;
}

export interface ConfigurationView {
  readonly serverId: number;
  readonly clientPort: number;
  readonly dataDir: string;
  readonly dataDirBytes: number;
  readonly dataLogDir: string;
  readonly dataLogBytes: number;
  readonly tickTimeMs: number;
  readonly maxClientCnxns: number;
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
}

/** Of the data watches; `all` counts those of children too. */
export interface WatchSummary {
  readonly connections: number;
  readonly paths: number;
  readonly watches: number;
  readonly all: number;
}

export interface PathWatch {
  readonly path: string;
  readonly sessions: Iterable<Int64>;
}

export interface SessionPaths {
  readonly session: Int64;
  readonly paths: Iterable<string>;
}

export interface SessionExpiry {
  readonly id: Int64;
  /** From now; negative when it is overdue. */
  readonly inMs: number;
}

export interface SessionsView {
  /** Where the leases are kept: the leader. Null elsewhere. */
  readonly expiries: Iterable<SessionExpiry> | null;
  /** The replicated sessions. */
  readonly all: Iterable<{ readonly id: Int64; readonly timeoutMs: number }>;
  /** Null while local sessions are off. */
  readonly local: Iterable<SessionExpiry> | null;
}

export interface DigestAt {
  readonly zxid: Zxid;
  /** 16 hex digits. */
  readonly digest: string;
}

/** A figure, by mntr's name without `zk_`; a counter begins at 0 with the process. */
export interface Metric {
  readonly kind: 'gauge' | 'counter';
  readonly name: string;
  readonly value: number;
}

/** For probes. */
export interface HealthView {
  readonly role: 'looking' | 'following' | 'leading';
  readonly roleForMs: number;
  /** It serves reads without a quorum, as it is configured to. */
  readonly isReadOnly: boolean;
  /** How long the disk has been at the write that it is at; 0 for none. */
  readonly writeWaitMs: number;
  /** `syncLimit`. */
  readonly writeWaitMsMax: number;
  /** Transactions that are committed and not applied here. */
  readonly behind: number;
}

/** What is counted of the work of a member. */
export interface WorkCounters {
  readonly looked: number;
  readonly diffsSent: number;
  readonly snapshotsSent: number;
  readonly truncationsSent: number;
  readonly proposals: number;
  readonly commits: number;
  readonly expiredSessions: number;
  readonly digestMismatches: number;
  readonly slowSyncs: number;
  readonly syncs: Durations;
  readonly quorumAcks: Durations;
  readonly propagation: Durations;
  readonly checkpoints: Durations;
  readonly outages: Durations;
  readonly pauses: Durations;
}

/** What ZooKeeper has no word for. */
export interface InsideView {
  readonly memberId: PeerId;
  /** '' before the ensemble is founded. */
  readonly ensembleId: string;
  readonly role: HealthView['role'];
  /** Of a leader its own, 0 without one. */
  readonly leaderId: PeerId;
  readonly epoch: number;
  readonly zxids: { readonly logged: Zxid; readonly committed: Zxid; readonly applied: Zxid };
  readonly treeBytes: number;
  readonly treeBytesMax: number;
  readonly counters: WorkCounters;
  /** What the disk holds of the tree, and when the last checkpoint ended; ms since 1970, or 0. */
  readonly checkpoint: { readonly zxid: Zxid; readonly wallMs: number };
}

export interface MemberView {
  /** `3.8.0-rookery-<revision>, built on <date>`: kazoo and zktop parse what is before the dash. */
  readonly version: string;
  /** False while there is no leader that this member leads or follows. */
  readonly serving: boolean;
  readonly mode: ServerMode;
  readonly lastZxid: Zxid;
  /** As ZooKeeper counts: one more than there are znodes (an alias of its own counts too). */
  readonly nodeCount: number;
  readonly ephemeralCount: number;
  readonly approximateDataBytes: number;
  readonly globalSessions: number;
  readonly localSessions: number;
  readonly outstandingRequests: number;
  readonly uptimeMs: number;
  readonly watches: WatchSummary;
  readonly sessions: SessionsView;
  readonly quorum: QuorumView | null;
  readonly leader: LeaderView | null;
  readonly configuration: ConfigurationView;
  readonly openFiles: { readonly count: number; readonly max: number };
  /** Tree digests, the newest last; one at the applied zxid will do. */
  readonly digests: readonly DigestAt[];
  readonly extraMetrics: readonly Metric[];
  readonly health: HealthView;
  readonly inside: InsideView;
  /** By mntr's names. */
  summaries(): readonly (readonly [name: string, summary: SummaryView])[];
  /** How many sessions own ephemerals. */
  readonly ephemeralOwners: number;
  /** Those sessions, each with its ephemerals. */
  ephemerals(): Iterable<SessionPaths>;
  /** The paths with a data watch, each with the sessions that watch it. */
  watchedPaths(): Iterable<PathWatch>;
  /** The sessions that have data watches, each with the paths. */
  watchingSessions(): Iterable<SessionPaths>;
  /** What `envi` prints below `zookeeper.version`; `readEnvironment` has it for this process. */
  environment(): readonly (readonly [name: string, value: string])[];
}
