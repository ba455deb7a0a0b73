/**
 * Every message that members send to each other once the hello of a link is done; what comes before
 * it is in `admission-messages.ts`.
 *
 * Owns the vocabulary only; `codec.ts` turns a message into bytes. The first group belongs to the
 * core (zab/), the second to the members around it (sessions, forwarded requests, snapshots).
 * The times in a ping are milliseconds of the sender's own monotonic clock and are only echoed. The
 * time in a clock message is a date. All other times are durations.
 */
import type { PeerId, Zxid } from './proposal.js';
import type { ProposalBatch } from './proposal-batch.js';
import type { RequestBatch } from './request-batch.js';

/** Consecutive counters of one epoch that a log holds: `first` to `last`, both included. */
export interface EpochRange {
  readonly epoch: number;
  readonly first: number;
  readonly last: number;
}

/**
 * Which zxids a log holds: those of `ranges`, all greater than `base`, the zxid they start after.
 */
export interface HistorySummary {
  readonly base: Zxid;
  readonly ranges: readonly EpochRange[];
}

/** The random identity of the leadership that proposed in an epoch; 0 when it is not known. */
export interface LeadershipOf {
  readonly epoch: number;
  readonly identity: number;
}

export type ElectionState = 'looking' | 'following' | 'leading';

/**
 * A link's heartbeat; `echo` is the `sent` of the last ping that came in on this link, 0 if none.
 */
export interface Ping {
  readonly kind: 'ping';
  readonly sent: number;
  readonly echo: number;
}

/**
 * What a member thinks of the election. It is sent on connect and on every change, and while the
 * member is looking also with each heartbeat.
 */
export interface VoteMessage {
  readonly kind: 'vote';
  readonly round: number;
  readonly state: ElectionState;
  /** The member voted for, followed, or the sender itself when it leads; 0 for none. */
  readonly leader: PeerId;
  /** currentEpoch and last zxid of the member voted for. */
  readonly epoch: number;
  readonly zxid: Zxid;
  /** The sender's ensemble id ('' before it has one) and whether a quorum is known to share it. */
  readonly ensembleId: string;
  readonly founded: boolean;
  /** False for a member whose disk was found damaged: its vote does not count. */
  readonly sound: boolean;
  /**
   * While the list of members is being changed: former lists, of each of which a leader that the
   * sender follows needs a majority too. The field is absent if there are none.
   */
  readonly former?: readonly (readonly PeerId[])[];
  /** Whether the disk of the sender is full. Absent means that it is not, or that it is unknown. */
  readonly full?: boolean;
  /**
   * Members with a full disk that a leader does without, because others with room are a quorum.
   * Absent if there are none.
   */
  readonly spares?: readonly PeerId[];
}

/** Discovery, CEPOCH of the paper: a learner offers itself to the leader. */
export interface FollowerInfo {
  readonly kind: 'followerInfo';
  readonly acceptedEpoch: number;
}

/** Discovery: NEWEPOCH. */
export interface NewEpoch {
  readonly kind: 'newEpoch';
  readonly epoch: number;
  /** True once a quorum has acknowledged NEWLEADER: no other leader can own this epoch. */
  readonly established: boolean;
}

/** Discovery: ACKEPOCH, with what the leader needs to choose DIFF, TRUNC or SNAP exactly. */
export interface AckEpoch {
  readonly kind: 'ackEpoch';
  readonly epoch: number;
  readonly currentEpoch: number;
  readonly last: Zxid;
  /** Nothing at or below this may be truncated: it is in the tree. */
  readonly applied: Zxid;
  readonly history: HistorySummary;
  /** The disk is damaged, so only a snapshot can bring the member up to date. */
  readonly snapshotOnly: boolean;
  /** Which leaderships proposed what the log and the tree hold, as far as it is known. */
  readonly lineage: readonly LeadershipOf[];
}

/**
 * Synchronization starts: `diff` and `trunc` go on from `after`; `snap` first brings a snapshot.
 */
export interface SyncStart {
  readonly kind: 'syncStart';
  readonly mode: 'diff' | 'trunc' | 'snap';
  /** For `snap`: the newest zxid that both have, if one is known. */
  readonly after: Zxid;
  /** The leader's lineage: these leaderships proposed what the learner is sent. */
  readonly lineage: readonly LeadershipOf[];
  /** Whether the learner has proposals of another leadership, or applied uncommitted ones. */
  readonly diverged: boolean;
}

/** The last chunk of a snapshot has been sent: it is the state at `zxid`. */
export interface SnapshotDone {
  readonly kind: 'snapshotDone';
  readonly zxid: Zxid;
}

export interface Propose {
  readonly kind: 'propose';
  readonly batch: ProposalBatch;
}

/** NEWLEADER: the learner now holds all of the leader's history, up to and including `last`. */
export interface NewLeader {
  readonly kind: 'newLeader';
  readonly epoch: number;
  readonly last: Zxid;
  readonly ensembleId: string;
  /** The leader's lease H in ms, which no lease of this learner may exceed; 0 if it is not told. */
  readonly leaseMs: number;
}

export interface AckNewLeader {
  readonly kind: 'ackNewLeader';
  readonly epoch: number;
  readonly last: Zxid;
}

export interface UpToDate {
  readonly kind: 'upToDate';
  readonly committed: Zxid;
  /** Nothing reads it; sent as 0 from wire version 21 on, see `wire-version.ts`. */
  readonly reserved?: number | undefined;
}

/** Cumulative: everything up to `zxid` is durable at the sender. */
export interface Ack {
  readonly kind: 'ack';
  readonly zxid: Zxid;
}

/** Cumulative: everything up to `zxid` is committed. */
export interface Commit {
  readonly kind: 'commit';
  readonly zxid: Zxid;
}

/**
 * Cumulative, from the leader: everything up to `zxid` is durable there. It is sent instead of
 * COMMIT to a learner that is a quorum together with the leader, while only a few proposals are
 * durable at the leader but not committed yet. The learner commits what is durable at both.
 */
export interface LeaderDurable {
  readonly kind: 'leaderDurable';
  readonly zxid: Zxid;
}

/** The leader asks whether it still leads; rounds only grow. */
export interface Confirm {
  readonly kind: 'confirm';
  readonly round: number;
}

export interface ConfirmAck {
  readonly kind: 'confirmAck';
  readonly round: number;
}

export type CoreMessage =
  | Ping
  | VoteMessage
  | FollowerInfo
  | NewEpoch
  | AckEpoch
  | SyncStart
  | SnapshotDone
  | Propose
  | NewLeader
  | AckNewLeader
  | UpToDate
  | Ack
  | Commit
  | LeaderDurable
  | Confirm
  | ConfirmAck;

/** Follower to leader: writes of clients, in the order in which the leader is to decide them. */
export interface ForwardedRequests {
  readonly kind: 'requests';
  readonly batch: RequestBatch;
}

/**
 * Follower to leader: sync() of a client. Answered by `synced` once a quorum confirmed the leader.
 */
export interface SyncRequest {
  readonly kind: 'sync';
  readonly request: number;
}

export interface Synced {
  readonly kind: 'synced';
  readonly request: number;
  /** The origin answers once it has applied this zxid. */
  readonly zxid: Zxid;
}

/**
 * Follower to leader: a client wants to go on with this session here, by a connection of its own.
 *
 * `attachment` numbers that connection among all of the origin's process, from 1 on; 0 when it is
 * not told. The leader takes requests of a session from its newest attachment alone, and which one
 * is the newest is decided by the order in which attaches reach the leader. A session's creation is
 * its first attachment.
 */
export interface Attach {
  readonly kind: 'attach';
  readonly request: number;
  readonly attachment: number;
  readonly session: number;
  readonly password: Uint8Array;
}

export interface Attached {
  readonly kind: 'attached';
  readonly request: number;
  /** False: expired, closed or wrong password. */
  readonly valid: boolean;
  readonly timeoutMs: number;
}

/** Leader to a member: this attachment of the session is over; close its connection. */
export interface Detach {
  readonly kind: 'detach';
  readonly session: number;
  /** 0 when it is not told: whatever connection of the session the member has. */
  readonly attachment: number;
  /**
   * The request of that session that is dropped and never applied, or the attach that is not
   * answered as the session is closing; 0 if there is none.
   */
  readonly request: number;
}

/** Follower to leader, with each heartbeat: sessions heard from since the last one. */
export interface Touch {
  readonly kind: 'touch';
  readonly sessions: readonly number[];
}

/** To every member, with each heartbeat, and first of all on a link: what time it is here. */
export interface Clock {
  readonly kind: 'clock';
  /** ms since 1970 by the sender's wall clock, which may be wrong by any amount. */
  readonly wallMs: number;
}

/** The digest of the state at a zxid. */
export interface DigestAt {
  readonly zxid: Zxid;
  /** 16 hex digits where it is computed; from a peer, a text of up to 64 characters. */
  readonly digest: string;
}

/** Follower to leader, with a heartbeat: what its state was, at zxids that all take. */
export interface Digests {
  readonly kind: 'digests';
  readonly digests: readonly DigestAt[];
}

/** Leader to follower: a quorum has another state at this zxid. */
export interface Diverged {
  readonly kind: 'diverged';
  readonly zxid: Zxid;
}

/** Sent to all members every few seconds while it is true; see `driver/backup-schedule.ts`. */
export interface BackupNews {
  readonly kind: 'backupNews';
  /** Which of the scheduled backups it is. */
  readonly slot: number;
  readonly isDone: boolean;
}

/**
 * Asks a member what an operator wants to know, in JSON. `tell` answers it, unless its sender has
 * asked too often within a second.
 */
export interface Ask {
  readonly kind: 'ask';
  /** Chosen by the sender; the answer has it, too. */
  readonly number: number;
  readonly question: string;
}

export interface Tell {
  readonly kind: 'tell';
  readonly number: number;
  /** JSON in UTF-8; empty if the question is not understood, or its answer is too large. */
  readonly answer: Uint8Array;
}

/** Leader to learner: key and value pairs of the tree database at one zxid. */
export interface SnapshotChunk {
  readonly kind: 'snapshotChunk';
  readonly index: number;
  readonly records: readonly (readonly [key: Uint8Array, value: Uint8Array])[];
}

/**
 * Learner to leader: the chunk is written, which keeps the number of chunks in flight bounded. The
 * last chunk is acknowledged once the whole snapshot is verified (when it is written, by releases
 * up to 0.2).
 */
export interface SnapshotAck {
  readonly kind: 'snapshotAck';
  readonly index: number;
}

export type MemberMessage =
  | ForwardedRequests
  | SyncRequest
  | Synced
  | Attach
  | Attached
  | Detach
  | Touch
  | Clock
  | Digests
  | Diverged
  | BackupNews
  | Ask
  | Tell
  | SnapshotChunk
  | SnapshotAck;

export type PeerMessage = CoreMessage | MemberMessage;
