/**
 * The words that storage shares with the rest: what goes in, what was recovered, what can be tuned.
 */
import type { HistorySummary, Proposal, Zxid } from '@rookery/protocol';
import type { KeyValueStore } from './key-value.js';

export type TreeRecord = readonly [key: Uint8Array, value: Uint8Array];

/** Where recovered records go; ReplicatedState satisfies it. */
export interface StateLoader {
  /** Both throw MarshallingError or DamagedCheckpointError for what they cannot have saved. */
  load(key: Uint8Array, value: Uint8Array): void;
  finishLoad(at: { readonly zxid: Zxid; readonly lastTime: number }): void;
  digest(): string;
}

export interface StorageOptions {
  /** A log segment is closed and a new one begun at about this size. */
  readonly segmentBytesMax: number;
  /** Of the first one of a log, in (0, 1]: see `firstPartsOf`. */
  readonly firstPart: number;
  /** Log kept behind the checkpoint, or a quarter of the tree if that is more. */
  readonly retainedBytesMin: number;
  /** Proposals packed into one log record, bytes of bodies; also a chunk of readHistory. */
  readonly groupBytesMax: number;
  /** Records of one chunk of a snapshot, bytes. */
  readonly chunkBytesMax: number;
}

export interface StorageSetup {
  readonly treeStore: KeyValueStore;
  readonly logStore: KeyValueStore;
  readonly memberId: number;
  /** Gets the tree at the checkpoint. Garbage when `recovered.damaged`: use a fresh one then. */
  readonly loader: StateLoader;
  readonly options?: Partial<StorageOptions>;
}

export interface Recovered {
  readonly ensembleId: string;
  readonly founded: boolean;
  readonly acceptedEpoch: number;
  readonly currentEpoch: number;
  /** What `loader` holds now. */
  readonly checkpointZxid: Zxid;
  readonly history: HistorySummary;
  /** The log behind the checkpoint: (checkpointZxid, last]. Not known to be committed. */
  readonly suffix: readonly Proposal[];
  readonly last: Zxid;
  /**
   * Null for a sound disk. Else a message for the operator; zxids are 0 and history is empty then,
   * and every operation but saveEpochs, a snapshot sink and installSnapshot is refused (assert).
   */
  readonly damaged: string | null;
}

/**
 * A tree on its way to a learner; `zxid` of it is fixed, the log after it is pinned until close.
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
  /** Gives up an unfinished snapshot; nothing happens to one that was installed. */
  abandon(): Promise<void>;
}

export interface Epochs {
  readonly accepted: number;
  readonly current: number;
  readonly ensembleId: string;
  readonly founded: boolean;
}

export const DEFAULT_STORAGE_OPTIONS: StorageOptions = {
  segmentBytesMax: 16 * 1024 * 1024,
  firstPart: 1,
  retainedBytesMin: 64 * 1024 * 1024,
  groupBytesMax: 1024 * 1024,
  chunkBytesMax: 256 * 1024,
};
