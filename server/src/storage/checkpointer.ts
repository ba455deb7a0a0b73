/**
 * Takes incremental, exact checkpoints of a state and purges the log behind them.
 *
 * Owns the moment one starts and the slices in which it is captured; one object per state object:
 * after installSnapshot the driver makes a new one and calls `abandon` on the old one.
 * Capturing happens inside the caller's turn, writing in the background.
 */
import { assert, type Zxid } from '@rookery/protocol';
import type { DiskRoom } from '../zab/index.js';
import { type ChangedRecord, changeWithChecksum } from './checkpoint.js';
import { DamagedError, StorageFault } from './errors.js';
import type { KeyValueOperation } from './key-value.js';
import type { Storage } from './storage.js';

export interface FrozenState {
  readonly zxid: Zxid;
  readonly digest: string;
  readonly lastTime: number;
  /** The ensemble level; absent for the first one. */
  readonly level?: number;
}

/** The state of which checkpoints are taken. ReplicatedState implements it. */
export interface CheckpointSource {
  readonly lastZxid: Zxid;
  readonly dirtyCount: number;
  readonly dirtyBytes: number;
  readonly captureDone: boolean;
  /**
   * Begins to capture the state as it is now, in blocks of records of about `blockBytes` bytes.
   */
  freeze(blockBytes: number): FrozenState;
  captureSome(max: number, bytesMax: number): readonly ChangedRecord[];
}

export interface CheckpointOptions {
  /** A checkpoint starts at this many changed records, */
  readonly dirtyCountMax: number;
  /** or at this many bytes of changed records, */
  readonly dirtyBytesMax: number;
  /** or at this many bytes of log since the last checkpoint, */
  readonly logBytesMax: number;
  /** provided that they are at least this many times the bytes of changed records, */
  readonly logPerChanged: number;
  /** or this long after the last checkpoint, in ms, if anything was applied since. */
  readonly intervalMs: number;
  /** The part of these limits that holds for the first one, in (0, 1]: see `firstPartsOf`. */
  readonly firstPart: number;
  /** Records captured in one turn. */
  readonly sliceCount: number;
  /** The size of a block of records, in bytes. */
  readonly blockBytes: number;
}

export const DEFAULT_CHECKPOINT_OPTIONS: CheckpointOptions = {
  dirtyCountMax: 10_000,
  dirtyBytesMax: 64 * 1024 * 1024,
  logBytesMax: 32 * 1024 * 1024,
  // A checkpoint writes records a second time, which at full load takes time from the clients. With
  // values of 64 KB it would otherwise be as long as the log that it makes superfluous.
  logPerChanged: 2,
  intervalMs: 30_000,
  firstPart: 1,
  sliceCount: 2000,
  blockBytes: 128 * 1024,
};

/**
 * A checkpoint is due when it makes so many files of log superfluous: each process begins one of
 * its own, so many short lives would fill the disk with files that hold next to nothing.
 */
const SEGMENTS_MAX = 8;
/** Bytes of records captured in one turn: paths and data may be of any size. */
const SLICE_BYTES = 256 << 10;
/**
 * A slice is captured in this many parts, or in fewer where the time is used up before: until V8
 * has compiled the code, a whole slice would take too long.
 */
const SLICE_PARTS = 32;
/** The slices at a stop are larger, because no client waits. */
const FINISH_SLICE_BYTES = 4 << 20;

/** A stop makes a checkpoint of at most this many times the usual size, and of so many bytes. */
const FINISH_FACTOR = 4;
const FINISH_BYTES_MAX = 64 << 20;

export interface CheckpointerHooks {
  /** The log now starts after `base`, which the core has to know. Called only on a change. */
  onPurged(base: Zxid): void;
  /** `begunMs` is the `nowMs` of the step that began the checkpoint. */
  onCheckpoint(at: {
    readonly zxid: Zxid;
    readonly records: number;
    readonly begunMs: number;
  }): void;
  /** The generation in use is damaged: LevelDB found it while it wrote. It takes no checkpoint. */
  onDamage(error: DamagedError): void;
  /** The disk was full: the generation in use is unchanged and takes no further checkpoint. */
  onDiskFull(error: StorageFault): void;
  onFatal(error: unknown): void;
}

export class Checkpointer {
  readonly #storage: Storage;
  readonly #state: CheckpointSource;
  readonly #hooks: CheckpointerHooks;
  readonly #options: CheckpointOptions;
  #phase: 'idle' | 'capturing' | 'writing' | 'ended' = 'idle';
  #frozen: FrozenState | null = null;
  #changes: KeyValueOperation[] = [];
  #lastMs: number | null = null;
  /** The part of the usual distance between two checkpoints. */
  #part: number;
  #logBytesAtLast: number;
  readonly #generation: number;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    storage: Storage,
    state: CheckpointSource,
    hooks: CheckpointerHooks,
    options: Partial<CheckpointOptions> = {},
  ) {
    this.#storage = storage;
    this.#state = state;
    this.#hooks = hooks;
    this.#options = { ...DEFAULT_CHECKPOINT_OPTIONS, ...options };
    this.#part = this.#options.firstPart;
    this.#logBytesAtLast = storage.logBytes;
    this.#generation = storage.generation;
  }

  /**
   * To be called in every turn that applied something and at every tick: starts a checkpoint when
   * one is due, or captures the next slice, a part of it at least and the rest while `hasTime`.
   * True while it wants to be called again next turn. `treeBytes` is about the size of the tree: it
   * decides how much log is kept.
   */
  step(
    nowMs: number,
    treeBytes: number,
    hasTime: () => boolean,
    room: DiskRoom = 'enough',
  ): boolean {
    // A snapshot has replaced this state, which must never be written into the new tree.
    if (this.#generation !== this.#storage.generation) this.abandon();
    this.#lastMs ??= nowMs;
    if (this.#phase === 'idle' && this.#due(nowMs, room)) this.#start(nowMs);
    return this.#captureSlice(treeBytes, SLICE_BYTES, hasTime);
  }

  /**
   * For a clean stop: what is applied is in the tree on disk when it resolves, unless that is more
   * than a few checkpoints would take, or `hasTime` says no before it is captured: to write it
   * takes about as long again, or the disk is below its reserve: the log has everything. Blocks the
   * turn, because no client is served any more.
   */
  async finish(
    treeBytes: number,
    hasTime: () => boolean,
    room: DiskRoom = 'enough',
  ): Promise<void> {
    const mayBegin = () => room === 'enough' && this.#isSmall && hasTime();
    const { dirtyCountMax, sliceCount } = this.#options;
    let slices = Math.ceil((FINISH_FACTOR * dirtyCountMax) / sliceCount);
    for (let rounds = 2; rounds > 0; rounds--) {
      await this.#writing;
      if (this.#generation !== this.#storage.generation) this.abandon();
      if (this.#phase === 'idle' && mayBegin()) this.#start(this.#lastMs ?? 0);
      // A checkpoint that is not captured completely is not written; the log has everything.
      while (
        slices > 0 &&
        hasTime() &&
        this.#captureSlice(treeBytes, FINISH_SLICE_BYTES, hasTime)
      ) {
        slices -= 1;
      }
    }
    await this.#writing;
  }

  /** Whether something was applied since the last checkpoint, and it can be written in time. */
  get #isSmall(): boolean {
    const { dirtyCount, dirtyBytes, lastZxid } = this.#state;
    const { dirtyCountMax, dirtyBytesMax } = this.#options;
    if (lastZxid === this.#storage.checkpointZxid) return false;
    const bytesMax = Math.min(FINISH_FACTOR * dirtyBytesMax, FINISH_BYTES_MAX);
    return dirtyCount <= FINISH_FACTOR * dirtyCountMax && dirtyBytes <= bytesMax;
  }

  /** Returns true if there is more to capture. */
  #captureSlice(treeBytes: number, bytesMax: number, hasTime: () => boolean): boolean {
    if (this.#phase !== 'capturing') return false;
    const count = Math.ceil(this.#options.sliceCount / SLICE_PARTS);
    const parts = Math.ceil(this.#options.sliceCount / count);
    for (let part = 0; part < parts && (part === 0 || hasTime()); part++) {
      for (const change of this.#state.captureSome(count, bytesMax / parts)) {
        this.#changes.push(changeWithChecksum(change));
      }
    }
    if (!this.#state.captureDone) return true;
    this.#phase = 'writing';
    this.#writing = this.#write(treeBytes);
    return false;
  }

  /** True from the beginning of a checkpoint until it is durable and the log is purged. */
  get busy(): boolean {
    return this.#phase === 'capturing' || this.#phase === 'writing';
  }

  /** Resolves when nothing is being written. A capture under way is left as it is. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  /** Ends all checkpoints of this state, which has been replaced. */
  abandon(): void {
    this.#phase = 'ended';
    this.#changes = [];
  }

  /**
   * On a `full` disk only a checkpoint that lets much log be purged is due, because it frees more
   * than it writes. On a `scarce` one none is.
   */
  #due(nowMs: number, room: DiskRoom): boolean {
    if (room === 'scarce' || this.#state.lastZxid === this.#storage.checkpointZxid) return false;
    const part = this.#part;
    const { dirtyCountMax, dirtyBytesMax, logBytesMax, logPerChanged, intervalMs } = this.#options;
    const { dirtyCount, dirtyBytes } = this.#state;
    const logBytes = this.#storage.logBytes - this.#logBytesAtLast;
    const shortensLog =
      logBytes >= part * Math.max(logBytesMax, logPerChanged * dirtyBytes) ||
      this.#storage.segmentsUpTo(this.#state.lastZxid) >= SEGMENTS_MAX;
    if (shortensLog || room === 'full') return shortensLog;
    return (
      dirtyCount >= part * dirtyCountMax ||
      dirtyBytes >= part * dirtyBytesMax ||
      nowMs - (this.#lastMs ?? nowMs) >= part * intervalMs
    );
  }

  #start(nowMs: number): void {
    assert(this.#changes.length === 0, 'one checkpoint at a time');
    this.#storage.beginCheckpoint(this.#state.lastZxid);
    this.#frozen = this.#state.freeze(this.#options.blockBytes);
    this.#part = 1;
    this.#lastMs = nowMs;
    this.#logBytesAtLast = this.#storage.logBytes;
    this.#phase = 'capturing';
  }

  /** Never rejects; a failure is reported to onFatal. */
  async #write(treeBytes: number): Promise<void> {
    const frozen = this.#frozen;
    const changes = this.#changes;
    const begunMs = this.#lastMs ?? 0;
    assert(frozen !== null, 'a checkpoint is written after its freeze');
    this.#changes = [];
    try {
      const { zxid } = frozen;
      const done = await this.#storage.writeCheckpoint(changes, frozen);
      // The state may have been replaced by a snapshot meanwhile.
      if (this.#phase !== 'writing' || !done) return;
      const baseBefore = this.#storage.base;
      const base = this.#storage.purge(treeBytes);
      this.#phase = 'idle';
      this.#hooks.onCheckpoint({ zxid, records: changes.length, begunMs });
      if (base !== baseBefore) this.#hooks.onPurged(base);
    } catch (error) {
      // A repair or a snapshot has begun another generation meanwhile, without this state's help.
      const isAbandoned = this.#phase !== 'writing';
      this.#phase = 'ended';
      // A checkpoint cut short by a full disk is safe to drop: the log is purged only behind a
      // durable one. Its captured changes are lost, so this generation takes no further one.
      if (error instanceof StorageFault && error.reason === 'disk full') {
        if (!isAbandoned) this.#hooks.onDiskFull(error);
      } else if (error instanceof DamagedError) {
        if (!isAbandoned) this.#hooks.onDamage(error);
      } else {
        this.#hooks.onFatal(error);
      }
    }
  }
}
