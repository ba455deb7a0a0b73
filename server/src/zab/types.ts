/**
 * The core's contract: what goes in, what comes out, what it starts from.
 *
 * `step(input)` is the only way in and its outputs are the only way out. The driver runs outputs
 * in the order given and decides nothing. Times are ms of one monotonic clock, given by `tick`.
 */
import type {
  CoreMessage,
  HistorySummary,
  LeadershipOf,
  PeerId,
  ProposalBatch,
  Zxid,
} from '@rookery/protocol';

/** One incarnation of a connection to a peer; numbers are never used again. */
export type LinkId = number;
/** Storage outputs are numbered 1, 2, 3, ... in the order they were emitted. */
export type Ticket = number;

export type ZabInput =
  | { readonly kind: 'tick'; readonly nowMs: number }
  /** `version` is the wire version that the link speaks. */
  | {
      readonly kind: 'connected';
      readonly peer: PeerId;
      readonly link: LinkId;
      readonly version: number;
    }
  | { readonly kind: 'disconnected'; readonly peer: PeerId; readonly link: LinkId }
  | {
      readonly kind: 'message';
      readonly peer: PeerId;
      readonly link: LinkId;
      readonly message: CoreMessage;
    }
  /** Only to an established leader; the zxids are the next ones, asserted. */
  | { readonly kind: 'propose'; readonly batch: ProposalBatch }
  /**
   * Only to an established leader: does it still lead? Answered by `confirmed`, with the last zxid
   * that was proposed before the question, or never.
   */
  | { readonly kind: 'confirm'; readonly id: number }
  /** The storage output with this ticket and all before it are durable. */
  | { readonly kind: 'persisted'; readonly ticket: Ticket }
  /** The driver has sent the peer all proposals up to `through` that `sendHistory` asked for. */
  | {
      readonly kind: 'historySent';
      readonly peer: PeerId;
      readonly link: LinkId;
      readonly through: Zxid;
    }
  /** The driver has sent all chunks of the snapshot at `zxid`; SnapshotDone is the core's. */
  | {
      readonly kind: 'snapshotSent';
      readonly peer: PeerId;
      readonly link: LinkId;
      readonly zxid: Zxid;
    }
  /** What the disk holds is not to be trusted, for a reason that others know: see `giveUp`. */
  | { readonly kind: 'distrust'; readonly reason: string }
  /** The log now starts after `base`. */
  | { readonly kind: 'purged'; readonly base: Zxid }
  /** Deliver the next part: as long as the core `hasMore`, but not everything in one turn. */
  | { readonly kind: 'deliver' };

/** The storage outputs: run strictly in ticket order, never dropped. */
export type StorageOutput =
  | { readonly kind: 'append'; readonly ticket: Ticket; readonly batch: ProposalBatch }
  /** Everything after `after` leaves the log. */
  | {
      readonly kind: 'truncate';
      readonly ticket: Ticket;
      readonly after: Zxid;
      /** Another leadership proposed it: it is kept aside for the operator before it goes. */
      readonly diverged: boolean;
    }
  | {
      readonly kind: 'saveEpochs';
      readonly ticket: Ticket;
      readonly accepted: number;
      readonly current: number;
      readonly ensembleId: string;
      readonly founded: boolean;
      /** Of what the log holds or will hold. */
      readonly lineage: readonly LeadershipOf[];
      /** The configured list of members, and H, are what this member serves with from now on. */
      readonly settled: boolean;
    }
  /**
   * What the disk holds is not what the ensemble has: it is damaged from now on, without a vote.
   * What comes after `after` is kept aside for the operator.
   */
  | {
      readonly kind: 'giveUp';
      readonly ticket: Ticket;
      readonly after: Zxid;
      readonly reason: string;
    }
  /** The snapshot that came in on this link replaces tree and log; durable, then loaded. */
  | {
      readonly kind: 'installSnapshot';
      readonly ticket: Ticket;
      readonly zxid: Zxid;
      readonly lineage: readonly LeadershipOf[];
    };

export type RoleName = 'looking' | 'following' | 'leading';

export type ZabOutput =
  | StorageOutput
  | {
      readonly kind: 'send';
      readonly peer: PeerId;
      readonly link: LinkId;
      readonly message: CoreMessage;
    }
  /** Committed and durable here: apply, in order. */
  | { readonly kind: 'deliver'; readonly batch: ProposalBatch }
  | { readonly kind: 'confirmed'; readonly id: number; readonly zxid: Zxid }
  /** `following` and `leading` mean that clients may be served; `looking` that they may not. */
  | {
      readonly kind: 'role';
      readonly role: RoleName;
      readonly leader: PeerId;
      readonly epoch: number;
    }
  /**
   * Stream the proposals in (after, through] from disk, which may be none, then input `historySent`
   * when the link has room for more.
   */
  | {
      readonly kind: 'sendHistory';
      readonly peer: PeerId;
      readonly link: LinkId;
      readonly after: Zxid;
      readonly through: Zxid;
    }
  /** Stream a snapshot of the tree, then input `snapshotSent`. */
  | { readonly kind: 'sendSnapshot'; readonly peer: PeerId; readonly link: LinkId }
  | {
      readonly kind: 'disconnect';
      readonly peer: PeerId;
      readonly link: LinkId;
      readonly reason: string;
    }
  /** Something an operator wants to read in the log; changes nothing. */
  | { readonly kind: 'note'; readonly event: string; readonly detail: string };

export interface ZabOptions {
  readonly id: PeerId;
  /** All voting members, this one included. */
  readonly voters: readonly PeerId[];
  /** Lists of voters that may still be in force elsewhere: a quorum has a majority of each. */
  readonly formerVoters?: readonly (readonly PeerId[])[];
  /** How long after its start it takes no part in elections, ms: see `served-with.ts`. */
  readonly abstainMs?: number;
  /** A ping is sent on every link this often, ms. */
  readonly heartbeatMs: number;
  /**
   * A peer that has not answered for this long is gone, ms. A leader serves at most this long after
   * its quorum last answered, and a follower at most this long after a leader that still did: so
   * after a new leader's election others may serve for twice this long. The leases' H is that.
   */
  readonly timeoutMs: number;
  /** How long to wait for a better vote when not every reachable voter agrees, ms. */
  readonly settleMs: number;
  /** How long synchronization may stand still, ms. */
  readonly initTimeoutMs: number;
  /** How long an active learner, or the own disk, may owe what it was given, ms. */
  readonly syncTimeoutMs: number;
  /** Delivered proposals kept in memory for learners, bytes. */
  readonly windowBytesMax: number;
  /** The most that are kept while a learner is brought up, bytes. */
  readonly learnerWindowBytesMax: number;
  /** Proposals in one `deliver`, bytes: heartbeats and clients wait while they are applied. */
  readonly deliveryBytesMax: number;
  /** Bytes of proposals in memory that a learner is sent at a time. */
  readonly chunkBytesMax: number;
  /** The ensemble's id if this member founds it as its leader: random, from outside. */
  readonly newEnsembleId: string;
  /** Of this process as a leader: random, from outside, never 0. An epoch is led once by it. */
  readonly newIdentity: number;
  /** Found with a quorum instead of all configured members; for operators who know why. */
  readonly foundWithQuorum: boolean;
}

/** What storage recovered. */
export interface ZabStart {
  readonly acceptedEpoch: number;
  readonly currentEpoch: number;
  readonly ensembleId: string;
  readonly founded: boolean;
  /** False: the disk was damaged; only a snapshot brings this member back. */
  readonly sound: boolean;
  /** The zxid of the tree: the checkpoint. */
  readonly applied: Zxid;
  readonly history: HistorySummary;
  /** The log behind `applied`. */
  readonly suffix: readonly ProposalBatch[];
  readonly lineage: readonly LeadershipOf[];
}
