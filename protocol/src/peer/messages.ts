/**
 * Every message that members send to each other, once the hello of a link is done.
 *
 * Owns the vocabulary only; `codec.ts` turns a message into bytes. The first group belongs to the
 * core (zab/), the second to the members around it (sessions, forwarded requests, snapshots).
 * All times are milliseconds of the sender's own monotonic clock and are only ever echoed.
 */
import type { PeerId, Proposal, Zxid } from './proposal.js';

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

export type ElectionState = 'looking' | 'following' | 'leading';

/**
 * A link's heartbeat; `echo` is the `sent` of the last ping that came in on this link, 0 if none.
 */
export interface Ping {
  readonly kind: 'ping';
  readonly sent: number;
  readonly echo: number;
}

/** What a member thinks of the election; sent on connect, on every change and with heartbeats. */
export interface VoteMessage {
  readonly kind: 'vote';
  readonly round: number;
  readonly state: ElectionState;
  /** The member voted for, followed, or the sender itself when it leads; 0 for nobody. */
  readonly leader: PeerId;
  /** currentEpoch and last zxid of the member voted for. */
  readonly epoch: number;
  readonly zxid: Zxid;
  /** The sender's ensemble id ('' before it has one) and whether a quorum is known to share it. */
  readonly ensembleId: string;
  readonly founded: boolean;
  /** False for a member whose disk was found damaged: its vote does not count. */
  readonly sound: boolean;
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
  /** A damaged or empty member that can only be brought up by a snapshot. */
  readonly snapshotOnly: boolean;
}

/**
 * Synchronization starts: `diff` and `trunc` go on from `after`; `snap` first brings a snapshot.
 */
export interface SyncStart {
  readonly kind: 'syncStart';
  readonly mode: 'diff' | 'trunc' | 'snap';
  readonly after: Zxid;
}

/** The last chunk of a snapshot has been sent: it is the state at `zxid`. */
export interface SnapshotDone {
  readonly kind: 'snapshotDone';
  readonly zxid: Zxid;
}

export interface Propose {
  readonly kind: 'propose';
  readonly proposals: readonly Proposal[];
}

/** NEWLEADER: the learner now holds all of the leader's history, up to and including `last`. */
export interface NewLeader {
  readonly kind: 'newLeader';
  readonly epoch: number;
  readonly last: Zxid;
  readonly ensembleId: string;
}

export interface AckNewLeader {
  readonly kind: 'ackNewLeader';
  readonly epoch: number;
  readonly last: Zxid;
}

export interface UpToDate {
  readonly kind: 'upToDate';
  readonly committed: Zxid;
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
  | Confirm
  | ConfirmAck;

/** What a client is known to be; an ACL entry of the same scheme may name it. */
export interface Identity {
  readonly scheme: string;
  readonly id: string;
}

/** A client's write on its way to the leader; `body` is the jute record behind the header. */
export interface ForwardedRequest {
  /** Chosen by the origin, unique among all its requests, across its restarts too. */
  readonly request: number;
  readonly session: number;
  readonly opcode: number;
  readonly body: Uint8Array;
  /** Of the connection when the request came: what the leader checks ACLs against. */
  readonly identities: readonly Identity[];
}

/** Follower to leader: writes of clients, in the order they came, batched per turn. */
export interface Requests {
  readonly kind: 'requests';
  readonly items: readonly ForwardedRequest[];
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

/** Follower to leader: a client wants to go on with this session here. */
export interface Attach {
  readonly kind: 'attach';
  readonly request: number;
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

/** Leader to a member: this session went elsewhere or is gone; close its connection. */
export interface Detach {
  readonly kind: 'detach';
  readonly session: number;
  /** The request of that session that is refused, and never applied; 0 if there is none. */
  readonly request: number;
}

/** Follower to leader, with each heartbeat: sessions heard from since the last one. */
export interface Touch {
  readonly kind: 'touch';
  readonly sessions: readonly number[];
}

/** Leader to learner: key and value pairs of the tree database at one zxid. */
export interface SnapshotChunk {
  readonly kind: 'snapshotChunk';
  readonly index: number;
  readonly records: readonly (readonly [key: Uint8Array, value: Uint8Array])[];
}

/** Learner to leader: the chunk is written; keeps the number of chunks in flight bounded. */
export interface SnapshotAck {
  readonly kind: 'snapshotAck';
  readonly index: number;
}

export type MemberMessage =
  | Requests
  | SyncRequest
  | Synced
  | Attach
  | Attached
  | Detach
  | Touch
  | SnapshotChunk
  | SnapshotAck;

export type PeerMessage = CoreMessage | MemberMessage;

/** The first frame of a link, each way; a mismatch is refused with a reason. */
export interface Hello {
  readonly kind: 'hello';
  /** The peer protocol's version, `PEER_PROTOCOL_VERSION`. */
  readonly version: number;
  readonly id: PeerId;
  readonly to: PeerId;
  /** Random per process start: tells a restarted member from a second one with the same id. */
  readonly instance: string;
  readonly ensembleId: string;
  readonly founded: boolean;
}

/** Sent instead of a hello that is not acceptable, right before the link is closed. */
export interface Refuse {
  readonly kind: 'refuse';
  readonly reason: string;
}

export const PEER_PROTOCOL_VERSION = 6;
