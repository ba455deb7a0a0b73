/**
 * Keeps a member's state and its storage in step: checkpoints, the mark in `meta` that says up to
 * where the log was durable, and the exchange of the tree after a snapshot is installed.
 *
 * `store` gives the core's storage outputs to `queue`, which reports here what concerns the tree.
 * The core is told that a snapshot is persisted only once the new tree is in use, so nothing is
 * ever delivered to a tree that is about to be replaced.
 */
import { assert, formatZxid, type Zxid } from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import { Checkpointer } from '../storage/checkpointer.js';
import type { DamagedError, StorageFault } from '../storage/errors.js';
import { StorageQueue } from '../storage/storage.js';
import type { StorageOutput } from '../zab/index.js';
import { DamageRepair } from './damage-repair.js';
import type { DigestWatch } from './digest-watch.js';
import { keepDiscarded, keepTree } from './discarded.js';
import type { DriverActions, DriverParts } from './parts.js';
import type { ShownRole } from './read-only-mode.js';

/**
 * The log is marked again once it has been ahead of its mark for this long. What was durable for
 * longer is missed if it is lost. A mark takes two syncs, beside the writes to the log.
 */
const MARK_MS = 1000;

/** Each sync that takes this long is logged, as by ZooKeeper's fsync.warningthresholdms. */
const SLOW_SYNC_MS = 1000;

/** The time in which one turn may capture records for a checkpoint. */
const CAPTURE_MS_MAX = 2;

/**
 * The time in which a clean stop may capture a checkpoint. Supervisors may kill after 1.5 s, and
 * what was captured has to be written, too.
 */
const CHECKPOINT_MS_MAX = 400;

interface CheckpointDone {
  readonly zxid: Zxid;
  readonly records: number;
  readonly begunMs: number;
}

export class StateKeeper {
  readonly queue: StorageQueue;
  readonly repair: DamageRepair;
  readonly #parts: DriverParts;
  readonly #driver: DriverActions;
  #state: ReplicatedState;
  #checkpointer: Checkpointer;
  #verified: { readonly zxid: Zxid; readonly state: ReplicatedState } | null = null;
  /** The newest snapshot that the core has asked to install; null once it is installed. */
  #installing: Zxid | null = null;
  /** When the mark was last at the end of the log, or was last moved. */
  #markedAtMs: number;
  /** The error of the first write that failed, by the queue or a checkpoint; null if none has. */
  #failure: { readonly error: unknown } | null = null;

  constructor(parts: DriverParts, driver: DriverActions, shown: ShownRole, digests: DigestWatch) {
    this.#parts = parts;
    this.#driver = driver;
    this.#state = parts.state;
    this.#markedAtMs = parts.timers.nowMs();
    this.#checkpointer = this.#newCheckpointer();
    this.repair = new DamageRepair(parts, driver, this, { shown, digests });
    this.queue = new StorageQueue(parts.storage, {
      onPersisted: (ticket) => driver.step({ kind: 'persisted', ticket }),
      onInstalled: (zxid) => this.#replace(zxid),
      onWriting: () => parts.counters.onWriting(parts.timers.nowMs()),
      onWritten: () => this.#onWritten(),
      onDiscard: (after) => keepDiscarded(parts, { after, through: parts.storage.last }),
      // The core delivers nothing until a snapshot is installed, so the tree does not change here.
      onGivenUp: () => keepTree(parts, this.#state),
      onFatal: (error) => this.fail(error),
    });
  }

  get state(): ReplicatedState {
    return this.#state;
  }

  /** Whether a snapshot that the core has taken over is not in the tree yet. */
  get isInstalling(): boolean {
    return this.#installing !== null;
  }

  /** Carries out a storage output of the core, after those before it. */
  store(output: StorageOutput): void {
    if (output.kind === 'installSnapshot') this.#installing = output.zxid;
    if (output.kind === 'append') this.#parts.counters.onAppended(output.batch);
    this.queue.enqueue(output);
  }

  /** Called at the end of each turn. Returns true if a checkpoint needs a further turn. */
  step(nowMs: number): boolean {
    this.#maybeMarkEnd(nowMs);
    this.#parts.treeBound.step(nowMs, this.#state.bytes);
    const { diskSpace, timers, zab } = this.#parts;
    // The tree in use is not the ensemble's, so no further checkpoint of it is made.
    if (!zab.replica.sound) return false;
    const untilMs = timers.nowMs() + CAPTURE_MS_MAX;
    if (this.repair.isPending) return this.repair.step(nowMs, () => timers.nowMs() < untilMs);
    const treeBytes = this.#state.tree.approximateDataSize;
    const hasTime = () => timers.nowMs() < untilMs;
    return this.#checkpointer.step(nowMs, treeBytes, hasTime, diskSpace.room);
  }

  /**
   * Prepares a clean stop: has `meta` record where the log ends, then makes a checkpoint if there
   * is time, so that a restart has nothing to replay. Rejects with the first write that has failed:
   * while the member stops nobody else hears of it.
   */
  async finish(): Promise<void> {
    const { diskSpace, timers } = this.#parts;
    const untilMs = timers.nowMs() + CHECKPOINT_MS_MAX;
    await this.queue.idle();
    if (!this.#hasSteppedOut) this.queue.markLogEnd();
    await this.queue.idle();
    await this.repair.stop();
    const hasTime = () => this.#failure === null && timers.nowMs() < untilMs;
    const treeBytes = this.#state.tree.approximateDataSize;
    await this.#checkpointer.finish(treeBytes, hasTime, diskSpace.room);
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Ends the member because of a failed write. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#driver.fail(error);
  }

  /** Its disk is full: what would be written could meet its end, and end the member. */
  get #hasSteppedOut(): boolean {
    return this.#parts.zab.sparedBy !== 0;
  }

  #maybeMarkEnd(nowMs: number): void {
    const isMarked = this.#parts.storage.isLogEndMarked;
    if (!isMarked && this.#hasSteppedOut) return;
    const isDue = nowMs - this.#markedAtMs >= MARK_MS;
    if (!isMarked && !isDue) return;
    this.#markedAtMs = nowMs;
    if (!isMarked) this.queue.markLogEnd();
  }

  /** Keeps the verified content of a snapshot until the snapshot is installed. */
  onVerified(zxid: Zxid, state: ReplicatedState): void {
    this.#verified = { zxid, state };
  }

  #replace(zxid: Zxid): void {
    const verified = this.#verified;
    this.#verified = null;
    assert(verified?.zxid === zxid, () => `the snapshot at ${formatZxid(zxid)} was verified`);
    if (this.#installing === zxid) this.#installing = null;
    const { state } = verified;
    this.#checkpointer.abandon();
    this.repair.onReplaced();
    state.setConfigNode(this.#parts.options.membership);
    const facts = { zxid: formatZxid(zxid), znodes: state.tree.nodeCount };
    this.#parts.logger.info(facts, 'snapshot.installed');
    this.#state = state;
    this.#parts.pipeline.replaceState(state);
    this.#checkpointer = this.#newCheckpointer();
  }

  /** The state is the same; its records are those of the new generation. */
  onRepaired(base: Zxid): void {
    this.#checkpointer = this.#newCheckpointer();
    this.#driver.step({ kind: 'purged', base });
  }

  /** No checkpoint of the generation in use is taken any more. */
  abandonCheckpoint(): void {
    this.#checkpointer.abandon();
  }

  /** Where this member is needed for a quorum, a slow sync delays the whole ensemble. */
  #onWritten(): void {
    const { timers, counters, logger } = this.#parts;
    const ms = counters.onWritten(timers.nowMs());
    if (ms < SLOW_SYNC_MS) return;
    counters.slowSyncs += 1;
    logger.warn({ ms: Math.round(ms) }, 'log.slow_sync: the disk took so long to sync a write');
  }

  #onCheckpoint({ zxid, records, begunMs }: CheckpointDone): void {
    const { timers, counters } = this.#parts;
    counters.checkpoints.record(timers.nowMs() - begunMs);
    counters.checkpointRecords += records;
    counters.checkpoint = { zxid, wallMs: timers.wallMs() };
  }

  #newCheckpointer(): Checkpointer {
    const hooks = {
      onPurged: (base: Zxid) => this.#driver.step({ kind: 'purged', base }),
      onCheckpoint: (at: CheckpointDone) => this.#onCheckpoint(at),
      onDamage: (error: DamagedError) => this.repair.onDamage(error),
      onDiskFull: (error: StorageFault) => this.repair.onDiskFull(error),
      onFatal: (error: unknown) => this.fail(error),
    };
    const { storage, options } = this.#parts;
    return new Checkpointer(storage, this.#state, hooks, options.checkpoint);
  }
}
