/**
 * What a member keeps on disk: its identity and epochs, its log, its tree at one checkpoint.
 *
 * Owns the databases `meta` and `tree-<generation>` of the tree store and `log-<generation>-<seq>`
 * of the log store. The writing operations (append, truncate, saveEpochs, installSnapshot) are
 * durable when their promise resolves and must be run one at a time, in order: `StorageQueue` does.
 * Never decides what is committed; never retries a failed write: a rejection is fatal.
 */
import type { HistorySummary, Proposal, Zxid } from '@rookery/protocol';
import type { KeyValueStore } from './key-value.js';

export type TreeRecord = readonly [key: Uint8Array, value: Uint8Array];

/** Where recovered records go; ReplicatedState satisfies it. */
export interface StateLoader {
  /** Throws MarshallingError for a record that it cannot read. */
  load(key: Uint8Array, value: Uint8Array): void;
  finishLoad(at: { readonly zxid: Zxid; readonly lastTime: number }): void;
  digest(): string;
}

export interface StorageOptions {
  /** A log segment is closed and a new one begun at about this size. */
  readonly segmentBytesMax: number;
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

/** A tree on its way to a learner; `zxid` of it is fixed, the log after it is pinned until close. */
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

export class Storage {
  /**
   * Opens or creates; destroys what a crash left over. Throws IdentityError for another member's
   * data, FormatError for data of another version; both before anything is written.
   */
  static async open(
    _setup: StorageSetup,
  ): Promise<{ readonly storage: Storage; readonly recovered: Recovered }> {
    throw new Error('skeleton');
  }

  /** Zxid of the last proposal in the log, or what an empty log starts after. */
  get last(): Zxid {
    throw new Error('skeleton');
  }
  /** Zxid before the first proposal in the log. */
  get base(): Zxid {
    throw new Error('skeleton');
  }
  /** Zxid of the tree on disk. */
  get checkpointZxid(): Zxid {
    throw new Error('skeleton');
  }

  /** Asserts that the first one's `previous` is `last` and that the rest are a chain. */
  async append(_proposals: readonly Proposal[]): Promise<void> {
    throw new Error('skeleton');
  }
  /** Drops everything after `after`; asserts that it is in the log and not before the checkpoint. */
  async truncate(_after: Zxid): Promise<void> {
    throw new Error('skeleton');
  }
  /** Asserts that no epoch falls, that current <= accepted, and that the ensemble stays the same. */
  async saveEpochs(_epochs: Epochs): Promise<void> {
    throw new Error('skeleton');
  }
  /** Begins a snapshot; abandons one that was begun before. */
  async beginSnapshot(): Promise<SnapshotSink> {
    throw new Error('skeleton');
  }
  /**
   * Makes the snapshot that the last sink took the member's tree and empties its log, in one atomic
   * flip. All `write`s of the sink must have resolved. Then: a fresh state, `loadTree` into it, and
   * a fresh Checkpointer. The next proposal's `previous` must be `zxid`.
   */
  async installSnapshot(_zxid: Zxid): Promise<void> {
    throw new Error('skeleton');
  }
  /** Reads the tree on disk into `loader`; throws DamagedError when it does not check. */
  async loadTree(_loader: StateLoader): Promise<{ readonly zxid: Zxid }> {
    throw new Error('skeleton');
  }

  /**
   * The log in (after, through], in chunks of bounded size; `after` must be in the log or its base.
   * Pinned against purge while it runs. Throws HistoryGoneError when it is not (or no more) there.
   */
  readHistory(_after: Zxid, _through: Zxid): AsyncIterable<readonly Proposal[]> {
    throw new Error('skeleton');
  }
  async openSnapshot(): Promise<SnapshotSource> {
    throw new Error('skeleton');
  }

  /** Waits for what is under way; nothing may be called after it. The stores are closed too. */
  async close(): Promise<void> {
    throw new Error('skeleton');
  }
}
