/**
 * The interface of the core: its inputs, its outputs, and what it starts from.
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
  /**
   * A tick after which no lease from before counts, because more time may have passed than `nowMs`
   * shows: the member `isDoubtful` until pings that it sends from now on are answered.
   */
  | { readonly kind: 'clockJumped'; readonly nowMs: number }
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
  /** Something of the peer has arrived, be it a part of a message. Given before a tick. */
  | { readonly kind: 'heard'; readonly peer: PeerId; readonly link: LinkId }
  /** Only for an established leader. The zxids must be the next ones, which is asserted. */
  | { readonly kind: 'propose'; readonly batch: ProposalBatch }
  /**
   * Asks an established leader whether it still leads. The answer is `confirmed`, with the last
   * zxid that was proposed before the question, or it never comes.
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
  /**
   * The driver has sent all chunks of the snapshot at `zxid`; the core then sends SnapshotDone.
   * Once the learner has verified the snapshot, `historySent` follows, through this zxid.
   */
  | {
      readonly kind: 'snapshotSent';
      readonly peer: PeerId;
      readonly link: LinkId;
      readonly zxid: Zxid;
    }
  /** The content of the disk cannot be trusted, for a reason that another member knows. */
  | { readonly kind: 'distrust'; readonly reason: string }
  /** How much room there is on the disk of this member; `enough` until it is told. */
  | { readonly kind: 'room'; readonly room: DiskRoom }
  /** From now on one step delivers at most this share of `deliveryBytesMax`; initially 1. */
  | { readonly kind: 'pace'; readonly share: number }
  /** The log now starts after `base`. */
  | { readonly kind: 'purged'; readonly base: Zxid }
  /** Deliver the next part of what is ready. Given while the core `hasMore`, spread over turns. */
  | { readonly kind: 'deliverMore' };

/**
 * The room on a disk: more than its reserve is free, or less, or so little that not even a snapshot
 * is taken.
 */
export type DiskRoom = 'enough' | 'full' | 'scarce';

/** The storage outputs: run strictly in ticket order, never dropped. */
export type StorageOutput =
  | { readonly kind: 'append'; readonly ticket: Ticket; readonly batch: ProposalBatch }
  /** Everything after `after` leaves the log. */
  | {
      readonly kind: 'truncate';
      readonly ticket: Ticket;
      readonly after: Zxid;
      /** Whether another leadership proposed it. It is then saved for the operator first. */
      readonly diverged: boolean;
    }
  | {
      readonly kind: 'saveEpochs';
      readonly ticket: Ticket;
      readonly accepted: number;
      readonly current: number;
      readonly ensembleId: string;
      readonly founded: boolean;
      /** The lineage of what the log contains or will contain. */
      readonly lineage: readonly LeadershipOf[];
      /** Whether this member serves with its configured list of members, and H, from now on. */
      readonly settled: boolean;
    }
  /**
   * The content of the disk is not the ensemble's. It counts as damaged and has no vote from now
   * on. Everything after `after` is saved for the operator.
   */
  | {
      readonly kind: 'giveUp';
      readonly ticket: Ticket;
      readonly after: Zxid;
      readonly reason: string;
    }
  /** The snapshot that was received from the leader replaces the tree and the log. */
  | {
      readonly kind: 'installSnapshot';
      readonly ticket: Ticket;
      readonly zxid: Zxid;
      readonly lineage: readonly LeadershipOf[];
    };

export type RoleName = 'looking' | 'following' | 'leading';

/** A role, with its leader: the member itself while it leads, 0 while it is `looking`. */
export interface RoleView {
  readonly role: RoleName;
  readonly leader: PeerId;
}

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
  /**
   * Whether a leader refuses data from now on because somebody who would write it has no room, and
   * its learners with a full disk. Given when it changes; nothing is refused until then, in each
   * term.
   */
  | { readonly kind: 'refusal'; readonly isOn: boolean; readonly full: readonly PeerId[] }
  /**
   * Clients are served in the roles `following` and `leading`, and not in `looking`. So a leader or
   * a follower emits this only once its history is synchronized and applied. `looking` is emitted
   * after a failed attempt to follow or to lead, too.
   */
  | {
      readonly kind: 'role';
      readonly role: RoleName;
      /** 0 with `looking`. */
      readonly leader: PeerId;
      /** currentEpoch. */
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
  /** Stream a snapshot of the tree, then input `snapshotSent`, and at last `historySent`. */
  | { readonly kind: 'sendSnapshot'; readonly peer: PeerId; readonly link: LinkId }
  | {
      readonly kind: 'disconnect';
      readonly peer: PeerId;
      readonly link: LinkId;
      readonly reason: string;
    }
  /** An event for the log. */
  | { readonly kind: 'note'; readonly event: string; readonly facts: NoteFacts };

/** The fields of a line in the log: zxids in hex, a `reason` as a sentence. */
export type NoteFacts = Readonly<Record<string, number | string | readonly number[]>>;

/** The state of the core, whatever its role, for reading. */
export interface ReplicaView {
  readonly round: number;
  readonly acceptedEpoch: number;
  readonly currentEpoch: number;
  readonly ensembleId: string;
  readonly founded: boolean;
  /** False if the disk is damaged and no snapshot has replaced its content yet. */
  readonly sound: boolean;
  readonly committed: Zxid;
  readonly delivered: Zxid;
  /** Whether something is committed and durable here and not delivered: see `deliverMore`. */
  readonly hasMore: boolean;
  /** The newest zxid in the log, and the newest one up to which the log is durable. */
  readonly history: { readonly last: Zxid; readonly durable: Zxid };
}

export interface ZabOptions {
  readonly id: PeerId;
  /** All configured members, this one included. */
  readonly members: readonly PeerId[];
  /** Lists of members that may still be in force elsewhere: a quorum has a majority of each. */
  readonly formerMembers?: readonly (readonly PeerId[])[];
  /** How long a member abstains from elections after its start, in ms: `last-configuration.ts`. */
  readonly abstainMs?: number;
  /** The time between two pings on a link, in ms. */
  readonly heartbeatMs: number;
  /**
   * H: a peer without an answer for this long counts as gone, in ms. A leader serves for at most H
   * after its quorum last answered, and a follower for at most H after contact with such a leader.
   * So after the election of a new leader others may still serve for 2 H.
   */
  readonly peerTimeoutMs: number;
  /** How long to wait for a better vote if not every reachable voter agrees, in ms. */
  readonly settleMs: number;
  /** How long synchronization may make no progress, in ms. */
  readonly initTimeoutMs: number;
  /** How long a synced learner, or this disk, may take for an acknowledgement, in ms. */
  readonly syncTimeoutMs: number;
  /** Bytes of delivered proposals that are kept in memory for learners. */
  readonly windowBytesMax: number;
  /** The same while a learner is brought up to date. */
  readonly learnerWindowBytesMax: number;
  /**
   * Bytes of proposals that one step delivers at most, and one proposal at least; heartbeats and
   * clients wait while they are applied.
   */
  readonly deliveryBytesMax: number;
  /** Bytes of proposals that are sent from memory to a learner at a time. */
  readonly chunkBytesMax: number;
  /** The id of the ensemble if this member founds it. It is random and comes from outside. */
  readonly newEnsembleId: string;
  /** The identity of this process as a leader: random, from outside, never 0. */
  readonly newIdentity: number;
  /** Whether a quorum may found the ensemble, instead of all configured members. */
  readonly foundWithQuorum: boolean;
}

/** What storage recovered. */
export interface ZabStart {
  readonly acceptedEpoch: number;
  readonly currentEpoch: number;
  readonly ensembleId: string;
  readonly founded: boolean;
  /** False if the disk is damaged, so that only a snapshot brings this member back. */
  readonly sound: boolean;
  /** The zxid of the tree as recovered from its checkpoint. */
  readonly applied: Zxid;
  readonly history: HistorySummary;
  /** The part of the log after `applied`. */
  readonly suffix: readonly ProposalBatch[];
  readonly lineage: readonly LeadershipOf[];
}
