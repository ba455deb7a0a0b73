/**
 * Defines the types that storage shares with its callers: its setup and options, what a start has
 * recovered, and snapshots.
 */
import type { HistorySummary, LeadershipOf, ProposalBatch, Zxid } from '@rookery/protocol';
import { LEVEL_MAX } from '../state/level.js';
import type { LoadedAt } from '../state/replicated-state.js';
import type { KeyValueStore, LogDirectory } from './key-value.js';
import type { StartsSetup } from './meta.js';

export type TreeRecord = readonly [key: Uint8Array, value: Uint8Array];

/** What recovered records are loaded into; ReplicatedState satisfies it. */
export interface StateLoader {
  /** Like `finishLoad`, throws MarshallingError or DamagedCheckpointError for damaged records. */
  load(key: Uint8Array, value: Uint8Array): void;
  finishLoad(at: LoadedAt): void;
  digest(): string;
}

export interface StorageOptions {
  /** A log segment is closed and a new one begun at about this size. */
  readonly segmentBytesMax: number;
  /** The first segment of a log ends at this part of the size, in (0, 1]: see `firstPartsOf`. */
  readonly firstPart: number;
  /** Bytes of log from before the checkpoint to keep, or a quarter of the tree if that is more. */
  readonly retainedBytesMin: number;
  /** Bytes of proposals in one record of the log, and in one batch of `readHistory`. */
  readonly recordBytesMax: number;
  /** Bytes of records in one chunk of a snapshot. */
  readonly chunkBytesMax: number;
  /** Data of a higher ensemble level are refused. */
  readonly levelMax: number;
}

/**
 * A small record on disk whose content is also in memory, so that damage to it is repaired at once
 * without asking a quorum.
 */
export interface KnownRecord {
  /** For messages to operators. */
  readonly name: string;
  /** Compares it with memory; writes may run meanwhile. Throws DamagedError if they differ. */
  check(): Promise<void>;
  /** Rewrites it. Durable when resolved; a failure is fatal. */
  writeAnew(): Promise<void>;
}

/** Where a member keeps everything, open. Storage closes it. */
export interface Stores {
  readonly treeStore: KeyValueStore;
  readonly logFiles: LogDirectory;
  /** The marks that name the owner of each directory; absent without directories. */
  readonly marks?: readonly KnownRecord[];
}

/** What the logs of all generations are written with. */
export interface LogSetup {
  readonly logFiles: LogDirectory;
  /** Returns random bytes, for the salts by which the log's records are recognized. */
  randomBytes(count: number): Uint8Array;
  readonly options: StorageOptions;
}

export interface StorageSetup extends Stores {
  readonly memberId: number;
  randomBytes(count: number): Uint8Array;
  /** Absent where starts are not counted. */
  readonly starts?: StartsSetup;
  /**
   * Gets the tree at the checkpoint. Where `recovered.damaged` is not null its content is useless,
   * and the caller makes a fresh one.
   */
  readonly loader: StateLoader;
  readonly options?: Partial<StorageOptions>;
}

/** A setup with a value for each option. */
export interface FullSetup extends StorageSetup {
  readonly options: StorageOptions;
}

export interface Recovered {
  /** Null in a directory that never served, or of a release that did not record it. */
  readonly servedWith: ServedWith | null;
  readonly ensembleId: string;
  readonly founded: boolean;
  readonly acceptedEpoch: number;
  readonly currentEpoch: number;
  /** The zxid of the tree that `loader` holds now. */
  readonly checkpointZxid: Zxid;
  readonly history: HistorySummary;
  /** The log after the checkpoint: (checkpointZxid, last]. It is not known to be committed. */
  readonly suffix: readonly ProposalBatch[];
  readonly last: Zxid;
  readonly lineage: readonly LeadershipOf[];
  /**
   * Null for a sound disk. Else a message for the operator; zxids are 0 and history is empty then,
   * and every operation but saveEpochs, a snapshot sink and installSnapshot is refused (assert).
   */
  readonly damaged: string | null;
  /**
   * Why log segments from before the checkpoint were destroyed at this start; absent when none was.
   * Nothing is lost by it: only a learner could have needed them, and it gets a snapshot instead.
   */
  readonly unreadableLog?: string;
  /**
   * Names of what an unfinished founding had left. It was destroyed, and this start has founded the
   * member again. Absent where there was nothing.
   */
  readonly unfinished?: readonly string[];
}

/**
 * A tree on its way to a learner; `zxid` of it is fixed, the log after it is kept until close.
 */
export interface SnapshotSource {
  readonly zxid: Zxid;
  /** Chunks of bounded size; to be relayed as they are. May be iterated once. */
  records(): AsyncIterable<readonly TreeRecord[]>;
  close(): Promise<void>;
}

/** Takes a snapshot into a spare generation. The tree in use stays whole until installSnapshot. */
export interface SnapshotSink {
  /** Durable when resolved. Throws SnapshotDamagedError for a record that does not check. */
  write(records: readonly TreeRecord[]): Promise<void>;
  /**
   * Reads all of it, durable by then, into `loader`. Throws SnapshotDamagedError unless it is the
   * whole tree of `zxid`, with the digest that it was saved with.
   */
  verify(zxid: Zxid, loader: StateLoader): Promise<void>;
  /** Gives up an unfinished snapshot; nothing happens to one that was installed. */
  abandon(): Promise<void>;
}

export interface Epochs {
  readonly accepted: number;
  readonly current: number;
  readonly ensembleId: string;
  readonly founded: boolean;
  /** If it is absent, the lineage on disk stays. */
  readonly lineage?: readonly LeadershipOf[];
  /** True once the member serves with what `beginServing` was given as the configured values. */
  readonly settled?: boolean;
}

/** The settings with which a member served last; elsewhere they may still be in force. */
export interface ServedWith {
  /** Lists of members' ids; more than one while the list is being changed. */
  readonly lists: readonly (readonly number[])[];
  /** H, ms. */
  readonly peerTimeoutMs: number;
}

export const DEFAULT_STORAGE_OPTIONS: StorageOptions = {
  segmentBytesMax: 16 * 1024 * 1024,
  firstPart: 1,
  retainedBytesMin: 64 * 1024 * 1024,
  recordBytesMax: 1024 * 1024,
  chunkBytesMax: 256 * 1024,
  levelMax: LEVEL_MAX,
};
