/**
 * Owns everything that a member keeps on disk: identity and epochs, the log, and a checkpoint of
 * the tree.
 *
 * Owns the databases `meta` and `tree-<generation>` of the tree store and the files of the log. The
 * core's storage outputs (append, truncate, saveEpochs, giveUp, installSnapshot) are durable when
 * their promise resolves. `StorageQueue` runs them one at a time, in order, and none after a failed
 * one or after work in the background that failed; Storage asserts it. Never decides what is
 * committed; never retries a failed write: a rejection is fatal, except those of `writeCheckpoint`
 * and of a repair for damage or a full disk, after which the generation takes no further one.
 */
import {
  assert,
  Fifo,
  formatZxid,
  type LeadershipOf,
  type ProposalBatch,
  unreachable,
  type Zxid,
} from '@rookery/protocol';
import { LEVEL } from '../state/level.js';
import type { StorageOutput, Ticket } from '../zab/types.js';
import { Background } from './background.js';
import type { Checkpoint, CheckpointedTree } from './checkpoint.js';
import {
  DEFAULT_STORAGE_OPTIONS,
  type Epochs,
  type FullSetup,
  type KnownRecord,
  type Recovered,
  type ServedWith,
  type SnapshotSink,
  type SnapshotSource,
  type StateLoader,
  type StorageSetup,
} from './contract.js';
import {
  DamagedError,
  HistoryGoneError,
  refuseHigherLevel,
  UnreadableHistoryError,
} from './errors.js';
import { GenerationRepair } from './generation-repair.js';
import type { KeyValueOperation } from './key-value.js';
import { KeptMeta, StartsRecord } from './meta.js';
import {
  destroyGenerations,
  generationsOf,
  type Live,
  type RecoveredStorage,
  recoverStorage,
  replaceMeta,
} from './recovery.js';
import { scrubLog, scrubTree } from './scrub.js';
import { GenerationSink, openSnapshotSource } from './snapshot-source.js';
import { TxnLog } from './txn-log.js';

export class Storage {
  readonly #setup: FullSetup;
  readonly #background = new Background();
  readonly #meta: KeptMeta;
  /** The starts of this directory and of others, as far as they are known. */
  readonly starts: StartsRecord;
  /** The small records that are repaired from memory at once. */
  readonly known: readonly KnownRecord[];
  #live: Live | null;
  #sink: GenerationSink | null = null;
  #lastGeneration: number;
  /** The zxid of the checkpoint that is being taken; 0 if none is. */
  #frozenZxid: Zxid = 0;
  #configured: ServedWith | null = null;
  /** An output of the core is being carried out. Stays true when it fails. */
  #isChanging = false;

  private constructor(setup: FullSetup, from: RecoveredStorage, lastGeneration: number) {
    this.#setup = setup;
    this.#meta = new KeptMeta(from.metaStore, this.#background, from.meta, from.metaKnown);
    this.starts = new StartsRecord(this.#meta, setup.starts ?? null);
    this.known = [...(setup.marks ?? []), this.#knownMeta()];
    this.#live = from.live;
    this.#live?.log.goLive(this.#recordBegun);
    this.#lastGeneration = lastGeneration;
  }

  /**
   * Opens or creates the storage, and destroys what a crash left over. Nothing is sent to another
   * member before it resolves: the directory is marked last, and without that mark a later start
   * takes it for empty. Throws IdentityError for another member's data, and FormatError for data of
   * another version; both before anything is written.
   */
  static async open(
    setup: StorageSetup,
  ): Promise<{ readonly storage: Storage; readonly recovered: Recovered }> {
    const full = { ...setup, options: { ...DEFAULT_STORAGE_OPTIONS, ...setup.options } };
    const from = await recoverStorage(full);
    const generations = await generationsOf(setup);
    const lastGeneration = Math.max(from.meta.generation, ...generations);
    const storage = new Storage(full, from, lastGeneration);
    try {
      await storage.starts.countStart();
      if ((await setup.treeStore.founding()) !== 'complete') {
        await setup.treeStore.completeFounding();
      }
      return { storage, recovered: from.recovered };
    } catch (error) {
      // LevelDB may find a damaged block only during a compaction.
      if (!(error instanceof DamagedError)) throw error;
      await storage.#closeFiles();
      await (await replaceMeta(full, generations, error.message)).close();
      return await Storage.open(setup);
    }
  }

  readonly #recordBegun = async (logSeq: number): Promise<void> => {
    await this.#meta.change({ logSeq });
  };

  async #closeFiles(): Promise<void> {
    await this.#live?.log.closeFiles();
    await this.#live?.tree.database.unpin();
    await this.#meta.close();
  }

  /** The zxid of the last proposal in the log, or the one after which an empty log starts. */
  get last(): Zxid {
    return this.#live?.log.last ?? 0;
  }
  /** The zxid before the first proposal in the log. */
  get base(): Zxid {
    return this.#live?.log.base ?? 0;
  }
  /** The zxid of the tree on disk. */
  get checkpointZxid(): Zxid {
    return this.#live?.tree.checkpoint.zxid ?? 0;
  }
  /** The bytes of log that this process has written. They decrease only with installSnapshot. */
  get logBytes(): number {
    return this.#live?.log.writtenBytes ?? 0;
  }
  /** The number of files of the log that a start would no longer need after a checkpoint. */
  segmentsUpTo(zxid: Zxid): number {
    return this.#live?.log.segmentsIn(this.checkpointZxid, zxid) ?? 0;
  }
  /** The generation, which changes with every installed snapshot. */
  get generation(): number {
    return this.#meta.value.generation;
  }

  #beginChange(): void {
    this.#checkUnchanging();
    this.#isChanging = true;
  }
  /** The contents of the disk are unknown after a failure, so nothing is changed then. */
  #checkUnchanging(): void {
    this.#background.check();
    assert(!this.#isChanging, 'storage is changed by one call at a time, by none after a failure');
  }

  /** Appends batches in order. Asserts that they continue the log without a gap. */
  async append(batches: readonly ProposalBatch[]): Promise<void> {
    this.#beginChange();
    await this.#liveGeneration().log.append(batches);
    this.#isChanging = false;
  }

  /**
   * Drops everything after `after`; asserts that it is in the log and not before the checkpoint.
   */
  async truncate(after: Zxid): Promise<void> {
    const floor = Math.max(this.checkpointZxid, this.#frozenZxid);
    assert(
      after >= floor,
      () => `truncation to ${formatZxid(after)} would undo the checkpoint at ${formatZxid(floor)}`,
    );
    this.#beginChange();
    // This comes first, because a crash in between would leave a log that seems to have lost its
    // end.
    if (after < this.#meta.value.recordedZxid) await this.#meta.change({ recordedZxid: after });
    await this.#liveGeneration().log.truncate(after);
    this.#isChanging = false;
  }

  /**
   * Records where the log ends, so that a log that has lost something before that is not mistaken
   * for one whose last write a crash interrupted. Durable when resolved. Called between two
   * changes, when all of the log is durable. The next ones need not wait for it: appends go beyond
   * the mark, and a truncation sees it at once and lowers it with a later write of `meta`.
   */
  async markLogEnd(): Promise<void> {
    this.#checkUnchanging();
    if (!this.isLogEndMarked) this.#meta.remember({ recordedZxid: this.last });
    await this.#background.idle();
  }
  /** Whether the mark is where the log ends, or is on its way there; true also without a log. */
  get isLogEndMarked(): boolean {
    return this.#live === null || this.last === this.#meta.value.recordedZxid;
  }

  /**
   * Asserts that no epoch decreases, that current <= accepted, and that the ensemble stays the
   * same.
   */
  async saveEpochs(epochs: Epochs): Promise<void> {
    const { accepted, current, ensembleId, founded } = epochs;
    const meta = this.#meta.value;
    assert(accepted >= meta.acceptedEpoch, `accepted epoch ${accepted} < ${meta.acceptedEpoch}`);
    assert(current >= meta.currentEpoch, `current epoch ${current} < ${meta.currentEpoch}`);
    assert(current <= accepted, `current epoch ${current} > accepted epoch ${accepted}`);
    // A tentative ensemble id may be replaced, and a damaged member gives its id up.
    const bound = meta.founded && meta.damaged === null;
    assert(
      !bound || meta.ensembleId === ensembleId,
      `a member of ensemble ${meta.ensembleId} does not join ${ensembleId}`,
    );
    assert(!bound || founded, 'an ensemble that was founded stays so');
    this.#beginChange();
    const lineage = [...(epochs.lineage ?? meta.lineage)];
    const saved = { acceptedEpoch: accepted, currentEpoch: current };
    const configured = this.#configured;
    const settled = epochs.settled === true && configured !== null;
    const servedWith = settled ? { servedWith: configured } : {};
    await this.#meta.change({ ensembleId, founded, ...saved, lineage, ...servedWith });
    this.#isChanging = false;
  }

  /** This disk's state is not that of the ensemble. It counts as damaged from now on. */
  async giveUp(reason: string): Promise<void> {
    this.#beginChange();
    const start = this.starts.first();
    await this.#meta.change({ damaged: reason, ensembleId: '', founded: false, start });
    this.#isChanging = false;
  }

  /**
   * The state has reached this level: from now on a release that does not know it refuses the
   * directory. The log may contain transactions of that level by then; a release that finds them
   * there without this record ends when it applies the transaction that raised the level.
   */
  raiseLevel(level: number): void {
    refuseHigherLevel(level, this.#setup.options.levelMax);
    if (level > this.#meta.value.level) this.#background.run(() => this.#meta.change({ level }));
  }

  /**
   * Called before anything is sent to another member: `kept` is durable when it resolves. The
   * configured list replaces it with the first `saveEpochs` that says `settled`.
   */
  async beginServing(kept: ServedWith, configured: ServedWith): Promise<void> {
    this.#configured = configured;
    const isKept = JSON.stringify(this.#meta.value.servedWith) === JSON.stringify(kept);
    if (!isKept && this.#meta.isKnown) await this.#meta.change({ servedWith: kept });
  }

  /** Begins a snapshot and abandons an earlier one that is not complete. */
  async beginSnapshot(): Promise<SnapshotSink> {
    return await this.#beginGeneration();
  }

  async #beginGeneration(): Promise<GenerationSink> {
    // Destroys leftover generations first, so that they do not pile up.
    if (!this.#meta.isKnown) await this.#meta.change({});
    const old = this.#sink;
    this.#lastGeneration += 1;
    const sink = new GenerationSink(this.#setup.treeStore, this.#lastGeneration);
    this.#sink = sink;
    if (old !== null) await old.abandon();
    return sink;
  }

  /**
   * Makes the snapshot that the last sink received the member's tree and empties its log, in one
   * atomic switch. After that the caller makes a fresh state, calls `loadTree` for it, and makes a
   * fresh Checkpointer. The next proposal's `previous` must be `zxid`. Throws SnapshotDamagedError
   * if the snapshot is incomplete.
   */
  async installSnapshot(zxid: Zxid, lineage: readonly LeadershipOf[] = []): Promise<void> {
    const sink = this.#sink;
    assert(sink !== null, 'a snapshot was begun before it is installed');
    this.#beginChange();
    const tree = await sink.finish(zxid);
    refuseHigherLevel(tree.checkpoint.level, this.#setup.options.levelMax);
    const { generation } = tree;
    const at = { generation, base: zxid };
    const log = await TxnLog.create(this.#setup, at);
    const level = Math.max(this.#meta.value.level, tree.checkpoint.level ?? LEVEL.first);
    const facts = { logSeq: 0, recordedZxid: zxid, lineage: [...lineage] };
    await this.#meta.change({ generation, damaged: null, level, ...facts });
    log.goLive(this.#recordBegun);
    const old = this.#live;
    this.#live = { tree, log };
    this.#sink = null;
    this.#frozenZxid = 0;
    this.#background.run(() => this.#destroyOld(old, generation));
    this.#isChanging = false;
  }

  /** Reads the tree on disk into `loader`. Throws DamagedError if it is damaged. */
  async loadTree(loader: StateLoader): Promise<{ readonly zxid: Zxid }> {
    const { tree } = this.#liveGeneration();
    const { zxid } = tree.checkpoint;
    await tree.load(loader);
    assert(tree.checkpoint.zxid === zxid, 'no checkpoint is taken while the tree is loaded');
    return { zxid };
  }

  /**
   * Returns the log in (after, through], in batches of bounded size; `after` is in the log or its
   * base. It is not purged while it is read. Throws HistoryGoneError if it is not, or no longer,
   * there: a part that cannot be read and is before the checkpoint is given up (its cause is then
   * an UnreadableHistoryError), and the base advances. Throws DamagedError for a part that every
   * start reads.
   */
  async *readHistory(after: Zxid, through: Zxid): AsyncGenerator<ProposalBatch> {
    const live = this.#liveGeneration();
    try {
      yield* live.log.read(after, through);
    } catch (error) {
      this.#throwUnreadable(live, error);
    }
  }

  #throwUnreadable(live: Live, error: unknown): never {
    if (!(error instanceof UnreadableHistoryError)) throw error;
    const isOld = this.#live !== live;
    if (isOld || live.log.dropThrough(error.through, live.tree.checkpoint.zxid)) {
      throw new HistoryGoneError(error.message, { cause: error });
    }
    throw error.cause;
  }

  /**
   * Reads the whole checkpoint and the log, and yields how many bytes each part had. Throws
   * DamagedError for damage that needs a repair, and HistoryGoneError, as `readHistory` does, for a
   * part of the log that only learners could need: it was given up.
   */
  async *scrub(checker: StateLoader): AsyncGenerator<number> {
    const live = this.#liveGeneration();
    yield* scrubTree(live.tree, checker, () => live.log.writtenBytes);
    try {
      const lost = await live.log.lostHeader();
      if (lost !== null) {
        const cause = new DamagedError(`${lost.name} has lost its header`);
        throw new UnreadableHistoryError(lost.through, cause);
      }
      yield* scrubLog(live.log);
    } catch (error) {
      this.#throwUnreadable(live, error);
    }
  }

  /**
   * The record of identity and epochs, repaired by writing it from memory into a new database. A
   * crash in between leaves no record, which counts as damage because the directory is marked.
   */
  #knownMeta(): KnownRecord {
    return {
      name: 'the record of identity and epochs',
      check: () => this.#meta.check(),
      writeAnew: async () => {
        this.#background.run(() => this.#meta.writeAnew());
        await this.#background.idle();
      },
    };
  }

  /**
   * Begins a new generation, whose tree is that of `zxid` in the member's memory. Nothing at or
   * before `zxid` may be truncated from now on, and no checkpoint of the generation in use may be
   * begun.
   */
  async beginRepair(zxid: Zxid): Promise<GenerationRepair> {
    this.beginCheckpoint(zxid);
    const from = this.#liveGeneration().log;
    const sink = await this.#beginGeneration();
    try {
      const at = { generation: sink.generation, base: zxid };
      const to = await TxnLog.create(this.#setup, at);
      return new GenerationRepair(zxid, { sink, from, to });
    } catch (error) {
      await sink.abandon();
      throw error;
    }
  }

  /**
   * Makes the repaired generation the live one, in one atomic switch, with all of the log; to be
   * called between two outputs of the core. After that the caller makes a fresh Checkpointer.
   * Rejects with the errors of GenerationRepair before anything has changed; every other one is
   * fatal.
   */
  async finishRepair(repair: GenerationRepair): Promise<void> {
    this.#beginChange();
    const replaced = this.#liveGeneration();
    const tree = await this.#wholeTree(repair, replaced);
    repair.finished();
    const { generation } = tree;
    const log = repair.to;
    assert(log.last === replaced.log.last, 'a repaired generation has all of the log');
    await this.#meta.change({ generation, logSeq: log.lastSeq, recordedZxid: log.last });
    log.goLive(this.#recordBegun);
    this.#live = { tree, log };
    this.#frozenZxid = 0;
    this.#background.run(() => this.#destroyOld(replaced, generation));
    this.#isChanging = false;
  }

  /** The tree of a repair, whose log has everything, too. Nothing has changed if it rejects. */
  async #wholeTree(repair: GenerationRepair, live: Live): Promise<CheckpointedTree> {
    try {
      repair.check(live.log);
      // A snapshot that begins from now on leaves the repaired generation as it is.
      this.#sink = null;
      await repair.catchUp();
      return await repair.sink.finish(repair.zxid);
    } catch (error) {
      this.#isChanging = false;
      throw error;
    }
  }

  async openSnapshot(): Promise<SnapshotSource> {
    const { tree, log } = this.#liveGeneration();
    return await openSnapshotSource(tree, log, this.#setup.options.chunkBytesMax);
  }

  /** For the Checkpointer. From now on nothing at or before `zxid` may be truncated. */
  beginCheckpoint(zxid: Zxid): void {
    assert(zxid <= this.last, () => `the checkpoint ${formatZxid(zxid)} is in the log`);
    this.#frozenZxid = zxid;
  }

  /** For the Checkpointer. Returns false if a snapshot has replaced the tree meanwhile. */
  async writeCheckpoint(
    changes: readonly KeyValueOperation[],
    checkpoint: Checkpoint,
  ): Promise<boolean> {
    const live = this.#liveGeneration();
    assert(
      checkpoint.zxid === this.#frozenZxid,
      () => `the checkpoint at ${formatZxid(checkpoint.zxid)} was begun`,
    );
    await live.tree.write(changes, checkpoint);
    if (this.#live !== live) return false;
    this.#frozenZxid = 0;
    return true;
  }

  /** For the Checkpointer. Drops old log and returns the new base. */
  purge(treeBytes: number): Zxid {
    const { log, tree } = this.#liveGeneration();
    const keepBytes = Math.max(this.#setup.options.retainedBytesMin, treeBytes / 4);
    return log.purge(tree.checkpoint.zxid, keepBytes);
  }

  /** Waits for all background work, then throws its first failure. */
  async idle(): Promise<void> {
    const work = [this.#background.idle(), this.#live?.log.idle()];
    for (const done of await Promise.allSettled(work)) {
      if (done.status === 'rejected') throw done.reason;
    }
  }

  /** Waits for background work, closes the stores, and throws the failure of that work. */
  async close(): Promise<void> {
    try {
      await this.idle();
    } finally {
      try {
        await this.#setup.treeStore.close();
      } finally {
        await this.#setup.logFiles.close();
      }
    }
  }

  /** Called only while the disk is sound. */
  #liveGeneration(): Live {
    assert(this.#live !== null, `the disk is sound, not: ${this.#meta.value.damaged}`);
    return this.#live;
  }

  async #destroyOld(old: Live | null, generation: number): Promise<void> {
    if (old === null) return await destroyGenerations(this.#setup, generation);
    await old.tree.markForDeletion();
    await old.log.markForDeletion();
  }
}

export interface StorageQueueHooks {
  /** Everything up to and including this ticket is durable; tickets only grow. */
  onPersisted(ticket: Ticket): void;
  /** A snapshot was installed. Called before its onPersisted and before the next output. */
  onInstalled(zxid: Zxid): void | Promise<void>;
  /** The log after `after` is about to be discarded, although it may be acknowledged. */
  onDiscard(after: Zxid): Promise<void>;
  /** The disk has no vote any more, and the tree in memory is about to be discarded. */
  onGivenUp(): Promise<void>;
  /** A group commit begins. */
  onWriting?(): void;
  /** It is durable. */
  onWritten?(): void;
  /** The member must end. */
  onFatal(error: unknown): void;
}

type Append = Extract<StorageOutput, { kind: 'append' }>;

/** Bytes of proposals in one group. */
const GROUP_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Carries out the core's storage outputs strictly in order, and has the end of the log marked
 * between two of them.
 *
 * Appends that wait next to each other, up to GROUP_BYTES_MAX, become one synced write (group
 * commit). A mark delays only outputs that change `meta`, too. Nothing is dropped or retried: the
 * first failure is reported to `onFatal` and ends the queue. No hook is called inside `enqueue`.
 */
export class StorageQueue {
  readonly #storage: Storage;
  readonly #hooks: StorageQueueHooks;
  readonly #groupBytesMax: number;
  readonly #waiting = new Fifo<StorageOutput>();
  #bytes = 0;
  #running: Promise<void> | null = null;
  #failed = false;
  #wantsMark = false;
  /** Waits to run between two outputs; null if nothing does. */
  #between: (() => Promise<void>) | null = null;
  /** The mark that is being written; null if none is. */
  #marking: Promise<void> | null = null;

  constructor(storage: Storage, hooks: StorageQueueHooks, groupBytesMax = GROUP_BYTES_MAX) {
    this.#storage = storage;
    this.#hooks = hooks;
    this.#groupBytesMax = groupBytesMax;
  }

  enqueue(output: StorageOutput): void {
    if (this.#failed) return;
    this.#waiting.push(output);
    if (output.kind === 'append') this.#bytes += output.batch.bytes.length;
    this.#running ??= this.#run();
  }

  /**
   * Records in `meta` where the log ends after the output that is being carried out, while further
   * ones follow. Does nothing while an earlier mark is being written.
   */
  markLogEnd(): void {
    if (this.#failed || this.#marking !== null) return;
    this.#wantsMark = true;
    this.#running ??= this.#run();
  }

  /**
   * Runs `task` before the next output, while nothing is written. Its failure is fatal, as that of
   * an output is. One at a time.
   */
  runBetween(task: () => Promise<void>): void {
    if (this.#failed) return;
    assert(this.#between === null, 'one task at a time runs between two outputs');
    this.#between = task;
    this.#running ??= this.#run();
  }

  /** Bytes of proposals that are not durable yet, for backpressure. */
  get pendingBytes(): number {
    return this.#bytes;
  }

  /** Resolves when nothing waits and no mark is being written, or the queue has failed. */
  async idle(): Promise<void> {
    for (let work = this.#work; work !== null; work = this.#work) await work;
  }

  get #work(): Promise<void> | null {
    return this.#running ?? this.#marking;
  }

  async #run(): Promise<void> {
    try {
      // What is appended in the same callback of the event loop comes together in the first group:
      // all that a leader proposes at the end of its turn, or that one read brings to a follower.
      await Promise.resolve();
      while (this.#waiting.length > 0 || this.#wantsMark || this.#between !== null) {
        const task = this.#between;
        this.#between = null;
        if (task !== null) await task();
        const output = this.#waiting.shift();
        if (output?.kind === 'append') {
          const ticket = await this.#appendGroup(output);
          this.#hooks.onPersisted(ticket);
        } else if (output !== undefined) {
          await this.#carryOut(output);
          this.#hooks.onPersisted(output.ticket);
        }
        if (this.#wantsMark) this.#marking = this.#mark();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#running = null;
    }
  }

  async #mark(): Promise<void> {
    this.#wantsMark = false;
    try {
      await this.#storage.markLogEnd();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#marking = null;
    }
  }

  /** Storage refuses the next output, too. */
  #fail(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#hooks.onFatal(error);
  }

  /** Appends as many batches as wait and fit. Returns the ticket of the last one. */
  async #appendGroup(first: Append): Promise<Ticket> {
    const waiting = this.#waiting;
    const batches = [first.batch];
    let { ticket } = first;
    let bytes = first.batch.bytes.length;
    for (let next = waiting.first; next?.kind === 'append'; next = waiting.first) {
      if (bytes + next.batch.bytes.length > this.#groupBytesMax) break;
      waiting.shift();
      batches.push(next.batch);
      ticket = next.ticket;
      bytes += next.batch.bytes.length;
    }
    this.#hooks.onWriting?.();
    await this.#storage.append(batches);
    this.#hooks.onWritten?.();
    this.#bytes -= bytes;
    return ticket;
  }

  async #carryOut(output: Exclude<StorageOutput, Append>): Promise<void> {
    switch (output.kind) {
      case 'truncate':
        if (output.diverged) await this.#hooks.onDiscard(output.after);
        return await this.#storage.truncate(output.after);
      case 'saveEpochs':
        return await this.#storage.saveEpochs(output);
      case 'giveUp':
        // The vote first: a member that is killed while it saves transactions must not vote.
        await this.#storage.giveUp(output.reason);
        await this.#hooks.onDiscard(output.after);
        return await this.#hooks.onGivenUp();
      case 'installSnapshot':
        await this.#storage.installSnapshot(output.zxid, output.lineage);
        return await this.#hooks.onInstalled(output.zxid);
      default:
        unreachable(output);
    }
  }
}
