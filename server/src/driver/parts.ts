/**
 * Defines what a driver is made of: the parts of its member, and what its own parts ask of it.
 */
import type { Attached, Detach, PeerId, PeerMessage, Synced, Zxid } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { ClientPort } from '../net/client-port.js';
import type { PeerPort } from '../net/peer-port.js';
import type { Timers } from '../net/timers.js';
import type { RequestPreparerOptions } from '../pipeline/options.js';
import type { Pipeline } from '../pipeline/pipeline.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { Acl, Txn } from '../state/txn.js';
import type { CheckpointOptions } from '../storage/checkpointer.js';
import type { Recovered } from '../storage/index.js';
import type { Storage } from '../storage/storage.js';
import type { LinkId, Zab, ZabInput, ZabOutput } from '../zab/index.js';
import type { BackupSchedule } from './backup-schedule.js';
import type { Counters } from './counters.js';
import type { KnownStarts } from './known-starts.js';
import type { DiskSpace, TreeBound } from './write-bounds.js';

/**
 * The interface through which the simulator's checkers see every step of the core and every change
 * of the tree. Production has no observer. An observer never changes anything.
 */
export interface MemberObserver {
  /** Called before the first step, with what was recovered from disk. */
  onRecovered(recovered: Recovered): void;
  /** The core has made a step. None of its outputs has been carried out yet. */
  onStep(input: ZabInput, outputs: readonly ZabOutput[]): void;
  /** The transaction has been applied to `state`, which must not be changed. */
  onApplied(zxid: Zxid, txn: Txn, state: ReplicatedState): void;
}

export type Answer = Attached | Detach | Synced;

/** What the parts of a driver ask of it. */
export interface DriverActions {
  /** Gives the core an input, in the open turn or in one of its own. */
  step(input: ZabInput): void;
  /** Sends a message on this link, at the end of the open turn or of one of its own. */
  send(peer: PeerId, link: LinkId, message: PeerMessage): void;
  /** Sends an answer of the leader to the member that asked, which may be this one. */
  answer(member: PeerId, answer: Answer): void;
  /** Runs a turn, at the end of which every part goes on with what it has to do. */
  wake(): void;
  /** Ends the member after an unexpected error. */
  fail(error: unknown): void;
}

export interface DriverOptions {
  readonly id: PeerId;
  /** The number of configured members, this one included. */
  readonly members: number;
  /** Wall clocks that differ by at most this agree, in ms. */
  readonly clockToleranceMs: number;
  /** The time between two ticks of the core, in ms. */
  readonly tickMs: number;
  readonly heartbeatMs: number;
  /** H, the setting `peerTimeoutMs`: how long a member serves without contact, in ms. */
  readonly peerTimeoutMs: number;
  /** How long a transfer to a learner may make no progress, in ms. */
  readonly transferTimeoutMs: number;
  /** Bytes of proposals that may wait for a leader's own disk; with more it proposes nothing. */
  readonly unwrittenBytesMax: number;
  /** The same for a follower's disk; a follower with more drops the link to its leader. */
  readonly behindBytesMax: number;
  /** Bytes of proposals that may wait behind an incoming snapshot. */
  readonly snapshotWaitingBytesMax: number;
  /** The time that one turn spends on applying transactions, in ms. */
  readonly deliveryMsMax: number;
  /** The time that one turn of a leader spends on requests of members, in ms. */
  readonly leaderShareMsMax: number;
  /** The number of entries in the overlay at which a leader prepares no further request. */
  readonly overlaySizeMax: number;
  /** The first counter of an epoch: 1, except in tests of the rollover. */
  readonly firstCounter: number;
  /** The pace of the scrub. */
  readonly scrubBytesPerSecond: number;
  /** The time between two rounds of it, in ms. */
  readonly scrubRestMs: number;
  readonly checkpoint: Partial<CheckpointOptions>;
  /** How this member decides while it leads. */
  readonly leader: Omit<RequestPreparerOptions, 'treeBound'>;
  /** The ACL with which an ensemble is founded; null for an open one. */
  readonly rootAcl: readonly Acl[] | null;
  readonly levels: {
    /** The highest level that this release knows. */
    readonly max: number;
    /** The highest level to which the operator of this member allows the ensemble to be raised. */
    readonly agreed: number;
    /** All other configured members. */
    readonly others: readonly PeerId[];
  };
  /** The text of /zookeeper/config. */
  readonly membership: string;
  /** After this time without a quorum, read-only clients are served, in ms; null for never. */
  readonly readOnlyAfterMs: number | null;
}

export interface DriverParts {
  readonly options: DriverOptions;
  readonly zab: Zab;
  readonly storage: Storage;
  /** What storage recovered. */
  readonly state: ReplicatedState;
  /** Makes an empty state with the bounds of this member. */
  newState(): ReplicatedState;
  readonly pipeline: Pipeline;
  readonly counters: Counters;
  readonly treeBound: TreeBound;
  readonly diskSpace: DiskSpace;
  readonly backups: BackupSchedule;
  readonly timers: Timers;
  readonly logger: Logger;
  random16(): Uint8Array;
  readonly clientPort: ClientPort;
  readonly peerPort: PeerPort;
  readonly observer: MemberObserver | null;
  readonly starts: KnownStarts;
  /** Writes lines to a file of this name for the operator: see keep-aside.ts. */
  keepAside(name: string, lines: AsyncIterable<string>, filesMax: number): Promise<string>;
  /** Called once when the member must end. */
  onFatal(error: unknown): void;
}
