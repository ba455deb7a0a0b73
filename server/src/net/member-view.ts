/**
 * Shows a member to four-letter words, metrics, probes and the admin port.
 *
 * `driver/member-status.ts` implements it over the state, the core and the configuration. Every
 * property is read on demand, between two changes of the state, so properties agree with each
 * other. Lists of sessions, ephemerals and watches are lazy: they are read over many turns, one
 * element costs little, and each element is current when it is read. Nothing here waits; sizes of
 * directories are the last known ones.
 */
import type { DigestAt, Int64, PeerId, Zxid } from '@rookery/protocol';
import type { Durations, SummaryView } from '../measures/summary.js';

export type ServerMode = 'standalone' | 'leader' | 'follower' | 'read-only';

export interface ProposalSizes {
  /** Sizes of the last, smallest and largest proposal, in bytes; -1 before the first. */
  readonly last: number;
  readonly min: number;
  readonly max: number;
}

/** What only the leader of an ensemble has; a standalone server leads, too, but has none of it. */
export interface LeaderView {
  /** Members that this leader brings up to date or keeps up to date. */
  readonly learners: number;
  /** Those of them that have acknowledged NEWLEADER. */
  readonly syncedFollowers: number;
  /** Always 0, because there are no observers. */
  readonly syncedObservers: number;
  /** Answers that wait for a quorum or for being applied, as to a `sync`. */
  readonly pendingSyncs: number;
  /** How long it has served as the leader. */
  readonly leadsForMs: number;
  readonly proposalSizes: ProposalSizes;
}

/** What a member of an ensemble has and a standalone server has not. */
export interface QuorumView {
  /** In ZooKeeper's words: `leading - broadcast`, `following - broadcast`, `looking`. */
  readonly peerState: string;
  /** The number of configured members, which ZooKeeper calls the size of the quorum. */
  readonly quorumSize: number;
  readonly initLimitTicks: number;
  readonly syncLimitTicks: number;
  readonly peerPort: number;
  /** The election port as in `membership`; it is not open. */
  readonly electionPort: number;
  readonly participant: boolean;
  /** The text of /zookeeper/config. */
  readonly membership: string;
}

export interface ConfigurationView {
  readonly serverId: number;
  readonly clientPort: number;
  /** Null where there is none. */
  readonly secureClientPort: number | null;
  readonly dataDir: string;
  readonly dataDirBytes: number;
  readonly dataLogDir: string;
  readonly dataLogBytes: number;
  readonly tickTimeMs: number;
  readonly maxClientCnxns: number;
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
}

/** Counts of data watches; `all` includes child watches. */
export interface WatchSummary {
  readonly connections: number;
  readonly paths: number;
  readonly watches: number;
  readonly all: number;
}

/** A listing of watches yields null in place of each element that it has listed before. */
export interface PathWatch {
  readonly path: string;
  /**
   * Null stands for a session that was listed before. To skip it took time, so a reader that lists
   * a little in each turn counts it like any other.
   */
  readonly sessions: Iterable<Int64 | null>;
}

export interface SessionPaths {
  readonly session: Int64;
  /**
   * Null stands for what took time and is not listed: a path that was listed before, or among
   * ephemerals a deleted node, or many rows of the tree. A reader counts it, as in
   * `PathWatch.sessions`.
   */
  readonly paths: Iterable<string | null>;
}

export interface SessionExpiry {
  readonly id: Int64;
  /** Time until the expiry, in ms; negative if it is overdue. */
  readonly inMs: number;
}

export interface SessionsView {
  /** The leases, which only the leader has; null elsewhere. */
  readonly expiries: Iterable<SessionExpiry> | null;
  /** The replicated sessions. */
  readonly all: Iterable<{ readonly id: Int64; readonly timeoutMs: number }>;
  /** Local sessions; null if they are off. */
  readonly local: Iterable<SessionExpiry> | null;
}

/** A single value by its name in mntr without `zk_`. Counters begin at 0 with the process. */
export interface Figure {
  readonly kind: 'gauge' | 'counter';
  readonly name: string;
  readonly value: number;
}

/** The role that the member shows, and what may keep it from serving its clients well. */
export interface HealthView {
  /**
   * The role in which this member serves clients. It is `looking` until the member serves: also
   * while an elected leader, or a follower that has found its leader, synchronizes its history. In
   * read-only mode it is `looking`, too.
   */
  readonly role: 'looking' | 'following' | 'leading';
  /** How long it has shown that role; failed attempts to follow or to lead count as `looking`. */
  readonly roleForMs: number;
  /** While there is no leader: why, and which members it waits for; null otherwise. */
  readonly waitsFor: string | null;
  /** Whether it serves reads without a quorum, as configured. */
  readonly isReadOnly: boolean;
  /** How long the current write to disk has taken so far, in ms; 0 if there is none. */
  readonly writeWaitMs: number;
  /** The setting `syncLimit`, in ms. */
  readonly writeWaitMsMax: number;
  /**
   * The number of transactions that are committed and not applied here yet. It is not the lag,
   * which compares a member with its leader (ARCHITECTURE.md, glossary).
   */
  readonly unapplied: number;
  /** The disk of this member that is full, in bytes; null for none. */
  readonly diskShortage: { readonly freeBytes: number; readonly reserveBytes: number } | null;
  /**
   * The leader that does without this member while its disk is full, so that it serves nobody; 0
   * for none.
   */
  readonly sparedBy: PeerId;
  /**
   * The damage of this disk that is being repaired while the member serves, and what the repair
   * waits for; null for none.
   */
  readonly damage: { readonly reason: string; readonly waitsFor: string | null } | null;
  /**
   * The checkpoint that was given up because the disk was full, and what the next attempt waits
   * for; null for none. Nothing is damaged, and the log has everything behind the one before.
   */
  readonly checkpointGivenUp: {
    readonly reason: string;
    readonly waitsFor: string | null;
  } | null;
}

/** Counters of a member's work. */
export interface WorkCounters {
  readonly looked: number;
  readonly diffsSent: number;
  readonly snapshotsSent: number;
  readonly truncationsSent: number;
  readonly proposals: number;
  /** Bytes of transactions passed to the log. */
  readonly appendedBytes: number;
  readonly commits: number;
  readonly expiredSessions: number;
  readonly digestMismatches: number;
  readonly damagesFound: number;
  readonly damagesRepaired: number;
  readonly checkpointsGivenUp: number;
  readonly scrubs: number;
  readonly scrubbedBytes: number;
  readonly slowSyncs: number;
  readonly syncs: Durations;
  readonly quorumAcks: Durations;
  readonly propagation: Durations;
  readonly checkpoints: Durations;
  readonly outages: Durations;
  readonly pauses: Durations;
}

/** Scheduled backups that this member took; times in ms, 0 for never. */
export interface BackupFigures {
  readonly lastSavedWallMs: number;
  readonly lastDurationMs: number;
  readonly lastBytes: number;
  readonly saved: number;
  readonly failed: number;
  /** Whether the last attempt failed. */
  readonly isFailing: boolean;
  /** How many backups were taken while old ones could not be removed. */
  readonly pruneFailed: number;
  /** Whether it could not remove old backups the last time. */
  readonly isPruneFailing: boolean;
  readonly isUnderWay: boolean;
}

/**
 * Clients that wait because they failed to log in or exceed `requestsPerSecondMax`. Connections
 * that are held for other reasons (`client-connection.ts`) are not counted.
 */
export interface WaitingClients {
  /** Attempts to log in that wait now, and the number of those that had to so far. */
  readonly logins: number;
  readonly loginsDelayed: number;
  readonly loginsFailed: number;
  /**
   * Connections that sent too many requests a second and wait now, and how often any had to so far.
   */
  readonly limited: number;
  readonly limitPauses: number;
}

/**
 * More about a member, for the metrics port, the admin port, and what other members ask on behalf
 * of operators. The answers to ZooKeeper's words do not read it; those to words of Rookery's own
 * may.
 */
export interface MemberDetails {
  readonly memberId: PeerId;
  /** '' before the ensemble is founded. */
  readonly ensembleId: string;
  /** The id of the leader that this member follows or is; 0 while it is `looking`. */
  readonly leaderId: PeerId;
  /** The member's currentEpoch: its leader's epoch, and its last leader's while it is `looking`. */
  readonly epoch: number;
  /** `logged` is the newest zxid that is durable in the log of this member. */
  readonly zxids: { readonly logged: Zxid; readonly committed: Zxid; readonly applied: Zxid };
  readonly treeBytes: number;
  readonly treeBytesMax: number;
  /** On the fuller one of its disks; null before it was measured. */
  readonly diskFreeBytes: number | null;
  /** Writes that it refused as the leader because a disk was full. */
  readonly refusedForDisk: number;
  /** Null where no scheduled backups are configured. */
  readonly backups: BackupFigures | null;
  readonly counters: WorkCounters;
  readonly waitingClients: WaitingClients;
  /**
   * The newest checkpoint: its zxid, 0 for none; and when it ended, or when the member started if
   * it is older, in ms since 1970.
   */
  readonly checkpoint: { readonly zxid: Zxid; readonly wallMs: number };
}

export interface MemberView {
  /** `3.8.0-rookery-<revision>, built on <date>`: kazoo and zktop parse what is before the dash. */
  readonly version: string;
  /** Whether this member serves clients: it leads, it follows, or it is in read-only mode. */
  readonly serving: boolean;
  /**
   * The role as `srvr` prints it. While the member of an ensemble does not serve, it is `follower`
   * although there is no leader: `health.role` is `looking` then.
   */
  readonly mode: ServerMode;
  /** The zxid of the newest transaction that is applied here; 0 before the first. */
  readonly lastZxid: Zxid;
  /** ZooKeeper's count, which is the number of znodes plus one. */
  readonly nodeCount: number;
  readonly ephemeralCount: number;
  readonly approximateDataBytes: number;
  readonly globalSessions: number;
  readonly localSessions: number;
  /**
   * Requests and handshakes of clients that are taken in here and not answered, wherever they wait;
   * those of lost connections are included until the leader has answered.
   */
  readonly outstandingRequests: number;
  /** How long this member has run, counted from the end of its recovery. */
  readonly uptimeMs: number;
  readonly watches: WatchSummary;
  readonly sessions: SessionsView;
  readonly quorum: QuorumView | null;
  /** Null unless this member serves as the leader of an ensemble. */
  readonly leader: LeaderView | null;
  readonly configuration: ConfigurationView;
  readonly openFiles: { readonly count: number; readonly max: number };
  /** Digests of the tree, the newest last. */
  readonly digests: readonly DigestAt[];
  /** Figures of the core, the log and the pipeline, ZooKeeper's and Rookery's own. */
  readonly extraMetrics: readonly Figure[];
  readonly health: HealthView;
  readonly details: MemberDetails;
  /** Figures by their names in mntr. */
  summaries(): readonly (readonly [name: string, summary: SummaryView])[];
  /** The number of sessions that own ephemerals. */
  readonly ephemeralOwners: number;
  /** Those sessions, each with its ephemerals. */
  ephemerals(): Iterable<SessionPaths>;
  /** The paths with a data watch, each with the sessions that watch it; null as in `PathWatch`. */
  watchedPaths(): Iterable<PathWatch | null>;
  /** The sessions that have data watches, each with the paths; null as in `PathWatch`. */
  watchingSessions(): Iterable<SessionPaths | null>;
  /** What `envi` prints below `zookeeper.version`; `readEnvironment` has it for this process. */
  environment(): readonly (readonly [name: string, value: string])[];
}
