/**
 * Rewrites the disk of a serving member from its memory: after a read has found damage in the
 * checkpoint or the log, or after a checkpoint met a full disk, which is no damage.
 *
 * The whole state is written again, as a new generation, in slices of turns. Memory may be the
 * damaged side, so the new generation counts only after two proofs: its records, read back, have
 * the digest of the state at their zxid; and a quorum has reported this digest, or the one of a
 * later state that was made from it (`DigestWatch`). Then the generation becomes the live one,
 * between two outputs of the core. What goes wrong before that leaves the former generation as it
 * was, and the repair begins again: after a full disk once there is room. A state that twice does
 * not have its own digest is distrusted, as one that differs from a quorum is. A member that ends
 * before its repair is done finds the damage again at its start, and takes a snapshot.
 *
 * For damage that was read, and for a checkpoint that met a full disk: every other failed write or
 * sync is fatal. Owned by the StateKeeper.
 */
import { formatZxid, type Zxid } from '@rookery/protocol';
import { RecordDigest } from '../state/record-digest.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import { changeWithChecksum, checkpointRecord } from '../storage/checkpoint.js';
import { DEFAULT_CHECKPOINT_OPTIONS } from '../storage/checkpointer.js';
import type { TreeRecord } from '../storage/contract.js';
import {
  DamagedError,
  HistoryGoneError,
  RepairOutdatedError,
  SnapshotDamagedError,
  StorageFault,
} from '../storage/errors.js';
import type { GenerationRepair } from '../storage/generation-repair.js';
import { trailerRecord } from '../storage/snapshot-source.js';
import type { StorageQueue } from '../storage/storage.js';
import type { DigestWatch } from './digest-watch.js';
import type { DriverActions, DriverParts } from './parts.js';
import type { ShownRole } from './read-only-mode.js';

/** The znodes and bytes of one part of a slice; the time is looked at after each. */
const PART_COUNT = 64;
const PART_BYTES = 16 << 10;
/** The bytes of one write, as of a snapshot that comes in. */
const WRITE_BYTES = 512 << 10;
/** Nothing more is captured while so many bytes wait for the disk. */
const UNWRITTEN_BYTES_MAX = 4 << 20;
/** The rest of the log is copied while appends wait, so it is small. */
const REST_BYTES_MAX = 256 << 10;
/** The pause before the next attempt, in ms. */
const RETRY_MS = 1000;
/** The longest rest after a write. */
const REST_MS_MAX = 100;
const RETRY_WITHOUT_ROOM_MS = 10_000;
/** Read back wrong so often in sequence, it is the memory that is damaged, or all of the disk. */
const UNEQUAL_MAX = 2;

type Phase = 'none' | 'waiting' | 'opening' | 'capturing' | 'checking' | 'confirming' | 'switching';

/** Why a repair waits; null while it works. */
type RepairWait = 'room on the disk' | 'a quorum' | 'the next attempt' | null;

/** Why the generation is to be replaced. */
interface Cause {
  readonly kind: 'damage' | 'checkpoint given up';
  readonly reason: string;
}

interface PendingRepair {
  readonly reason: string;
  readonly waitsFor: RepairWait;
}

/** The state in memory and what writes it: StateKeeper. */
interface StateInUse {
  readonly state: ReplicatedState;
  readonly queue: StorageQueue;
  /** No checkpoint of the generation in use may be taken any more. */
  abandonCheckpoint(): void;
  /** The new generation is live; the log begins after `base`. */
  onRepaired(base: Zxid): void;
  /** Ends the member because of a failed write. */
  fail(error: unknown): void;
}

/** What proves the state in memory: that the member serves, and the digests of a quorum. */
interface Proof {
  readonly shown: ShownRole;
  readonly digests: DigestWatch;
}

interface Attempt {
  readonly state: ReplicatedState;
  readonly zxid: Zxid;
  readonly digest: string;
  repair: GenerationRepair | null;
  records: TreeRecord[];
  recordsBytes: number;
  /** The records so far, for the trailer. */
  count: number;
  unwrittenBytes: number;
  writes: Promise<void>;
}

export class DamageRepair {
  readonly #parts: DriverParts;
  readonly #driver: DriverActions;
  readonly #kept: StateInUse;
  readonly #proof: Proof;
  #cause: Cause | null = null;
  #phase: Phase = 'none';
  #attempt: Attempt | null = null;
  #retryAtMs = 0;
  #unequal = 0;
  #lacksRoom = false;

  constructor(parts: DriverParts, driver: DriverActions, kept: StateInUse, proof: Proof) {
    this.#parts = parts;
    this.#driver = driver;
    this.#kept = kept;
    this.#proof = proof;
  }

  /** The generation in use is to be replaced, for either cause. */
  get isPending(): boolean {
    return this.#cause !== null;
  }

  /** The damage that is being repaired; null for none. */
  get damage(): PendingRepair | null {
    return this.#pendingFor('damage');
  }

  /**
   * The checkpoint that was given up because the disk was full, until the state is written again;
   * null for none. What is on the disk is whole meanwhile.
   */
  get checkpointGivenUp(): PendingRepair | null {
    return this.#pendingFor('checkpoint given up');
  }

  #pendingFor(kind: Cause['kind']): PendingRepair | null {
    if (this.#cause?.kind !== kind) return null;
    return { reason: this.#cause.reason, waitsFor: this.#waitsFor };
  }

  /** The member leads or follows: no snapshot comes in, and a quorum may confirm its state. */
  get #isServing(): boolean {
    return this.#proof.shown.role !== 'looking';
  }

  get #waitsFor(): RepairWait {
    if (this.#phase === 'confirming' || !this.#isServing) return 'a quorum';
    if (this.#phase !== 'waiting') return null;
    return this.#lacksRoom ? 'room on the disk' : 'the next attempt';
  }

  /** Reading has found damage. Further reports of it change nothing. */
  onDamage({ message: reason }: DamagedError): void {
    if (this.#cause?.kind === 'damage') return;
    const { counters, logger } = this.#parts;
    counters.damagesFound += 1;
    logger.error(
      { reason },
      'disk.damaged: it is written again from memory once a quorum confirms its digest',
    );
    this.#begins({ kind: 'damage', reason });
  }

  /**
   * A checkpoint ran out of disk space. The data on disk is whole, but LevelDB takes no further
   * writes and the captured changes are lost, so checkpoints need a new generation.
   */
  onDiskFull({ message: reason }: StorageFault): void {
    if (this.#cause !== null) return;
    const { counters, logger } = this.#parts;
    counters.checkpointsGivenUp += 1;
    logger.error(
      { reason },
      'disk.checkpoint_given_up: nothing is damaged; the state is written again, as a whole, ' +
        'once there is room for it',
    );
    this.#begins({ kind: 'checkpoint given up', reason });
  }

  /** Damage that is found while a repair for the other cause is under way is repaired by it. */
  #begins(cause: Cause): void {
    const isUnderWay = this.#cause !== null;
    this.#cause = cause;
    if (isUnderWay) return;
    this.#phase = 'waiting';
    this.#retryAtMs = 0;
    this.#unequal = 0;
    this.#driver.wake();
  }

  /** A snapshot has replaced tree, log and state: it repairs whatever was damaged. */
  onReplaced(): void {
    this.#end();
    this.#settle('snapshot');
  }

  /** For a clean stop, while storage does nothing: gives up what was not repaired. */
  async stop(): Promise<void> {
    const attempt = this.#attempt;
    this.#attempt = null;
    this.#phase = 'none';
    try {
      await attempt?.repair?.abandon();
    } catch (error) {
      // The next start removes what is left.
      if (!isPassing(error)) throw error;
    }
  }

  /**
   * Called in every turn and at every tick while damage is pending. True while it wants to be
   * called again next turn.
   */
  step(nowMs: number, hasTime: () => boolean): boolean {
    switch (this.#phase) {
      case 'waiting':
        if (nowMs >= this.#retryAtMs && this.#mayBegin) this.#begin();
        return false;
      case 'capturing':
        return this.#capture(hasTime);
      case 'confirming':
        this.#maybeSwitch();
        return false;
      default:
        return false;
    }
  }

  get #mayBegin(): boolean {
    // A snapshot that comes in would be given up for the repair.
    if (!this.#isServing) return false;
    const { diskSpace, storage } = this.#parts;
    const { roomBytes } = diskSpace;
    const neededBytes = this.#kept.state.tree.approximateDataSize;
    this.#lacksRoom = roomBytes !== null && roomBytes < neededBytes;
    if (this.#lacksRoom) return false;
    // Where others are a majority without this disk, what was applied may not be written here yet.
    return this.#kept.state.lastZxid <= storage.last;
  }

  #begin(): void {
    const state = this.#kept.state;
    this.#kept.abandonCheckpoint();
    const frozen = state.freezeAll(DEFAULT_CHECKPOINT_OPTIONS.blockBytes);
    const attempt: Attempt = {
      state,
      zxid: frozen.zxid,
      digest: frozen.digest,
      repair: null,
      records: [checkpointRecord(frozen)],
      recordsBytes: 0,
      count: 1,
      unwrittenBytes: 0,
      writes: Promise.resolve(),
    };
    this.#attempt = attempt;
    this.#phase = 'opening';
    this.#run(attempt, async () => {
      attempt.repair = await this.#parts.storage.beginRepair(attempt.zxid);
      if (this.#attempt !== attempt) return await attempt.repair.abandon();
      this.#phase = 'capturing';
      this.#driver.wake();
    });
  }

  /** Captures for some time; true if more can be captured in the next turn. */
  #capture(hasTime: () => boolean): boolean {
    const attempt = this.#attempt;
    if (attempt === null) return false;
    if (this.#parts.diskSpace.shortage !== null) {
      const reason = 'the disk reached its reserve';
      this.#onFailed(attempt, new StorageFault('disk full', reason, null));
      return false;
    }
    const { state } = attempt;
    do {
      if (attempt.unwrittenBytes >= UNWRITTEN_BYTES_MAX) return false;
      for (const change of state.captureSome(PART_COUNT, PART_BYTES)) {
        const operation = changeWithChecksum(change);
        if (operation.type === 'del') continue;
        attempt.records.push([operation.key, operation.value]);
        attempt.recordsBytes += operation.value.length;
        attempt.count += 1;
      }
      if (attempt.recordsBytes >= WRITE_BYTES) this.#write(attempt);
    } while (!state.captureDone && hasTime());
    if (!state.captureDone) return true;
    attempt.records.push(trailerRecord(attempt.count));
    this.#write(attempt);
    this.#phase = 'checking';
    this.#run(attempt, () => this.#check(attempt));
    return false;
  }

  #write(attempt: Attempt): void {
    const { repair, records, recordsBytes } = attempt;
    attempt.records = [];
    attempt.recordsBytes = 0;
    attempt.unwrittenBytes += recordsBytes;
    attempt.writes = attempt.writes.then(async () => {
      const fromMs = this.#parts.timers.nowMs();
      await repair?.write(records);
      attempt.unwrittenBytes -= recordsBytes;
      this.#driver.wake();
      // Half of the disk's time is left to the log.
      await this.#rest(Math.min(REST_MS_MAX, this.#parts.timers.nowMs() - fromMs));
    });
    this.#run(attempt, () => attempt.writes);
  }

  #rest(forMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#parts.timers.after(forMs, resolve);
    });
  }

  /** Reads back what was written, and copies the log behind it. */
  async #check(attempt: Attempt): Promise<void> {
    await attempt.writes;
    await attempt.repair?.verify(new RecordDigest());
    await attempt.repair?.catchUp();
    if (this.#attempt !== attempt) return;
    this.#phase = 'confirming';
    this.#driver.wake();
  }

  #maybeSwitch(): void {
    const attempt = this.#attempt;
    if (attempt === null || !this.#isConfirmed(attempt)) return;
    this.#phase = 'switching';
    this.#run(attempt, async () => {
      const { repair } = attempt;
      if (repair === null) return;
      while ((await repair.catchUp()) > REST_BYTES_MAX);
      if (this.#attempt === attempt) this.#kept.queue.runBetween(() => this.#switch(attempt));
    });
  }

  /**
   * A later state was made from this one, so it proves this one, too. At the same zxid the digests
   * are compared: memory may have changed since this member reported its own.
   */
  #isConfirmed({ zxid, digest }: Attempt): boolean {
    const { confirmed } = this.#proof.digests;
    if (confirmed === null || confirmed.zxid < zxid) return false;
    return confirmed.zxid > zxid || confirmed.digest === digest;
  }

  /** Runs between two outputs of the core. Rejects with what is fatal. */
  async #switch(attempt: Attempt): Promise<void> {
    const { repair } = attempt;
    if (this.#attempt !== attempt || repair === null) return;
    const { storage, zab } = this.#parts;
    try {
      if (!zab.replica.sound)
        throw new RepairOutdatedError('the state of this member was given up');
      await storage.finishRepair(repair);
    } catch (error) {
      // After a failed write of `meta` nobody knows which generation a start would find.
      if (isPassing(error) && !repair.isFinished) return this.#onFailed(attempt, error);
      throw error;
    }
    this.#attempt = null;
    this.#settle('memory');
    this.#kept.onRepaired(storage.base);
  }

  #settle(from: 'memory' | 'snapshot'): void {
    const cause = this.#cause;
    if (cause === null) return;
    const { counters, logger, storage } = this.#parts;
    const facts = { reason: cause.reason, from, zxid: formatZxid(storage.checkpointZxid) };
    this.#cause = null;
    this.#phase = 'none';
    if (cause.kind === 'checkpoint given up') {
      logger.info(facts, 'disk.checkpoint_caught_up: the state is written, and checkpoints go on');
      return;
    }
    counters.damagesRepaired += 1;
    logger.error(facts, 'disk.repaired: a new generation has replaced the one before');
  }

  /** Work of an attempt that is under way; failures after its end do not count. */
  #run(attempt: Attempt, work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      if (this.#attempt === attempt) this.#onFailed(attempt, error);
    });
  }

  #onFailed(attempt: Attempt, error: unknown): void {
    if (this.#attempt !== attempt) return;
    this.#end();
    const { logger, timers, options } = this.#parts;
    if (!isPassing(error)) return this.#kept.fail(error);
    this.#phase = 'waiting';
    this.#lacksRoom = error instanceof StorageFault;
    this.#retryAtMs = timers.nowMs() + (this.#lacksRoom ? RETRY_WITHOUT_ROOM_MS : RETRY_MS);
    const reason = error instanceof Error ? error.message : '';
    if (this.#cause?.kind === 'damage') {
      logger.error({ reason }, 'disk.repair_failed: it begins again');
    } else logger.warn({ reason }, 'disk.checkpoint_failed: it begins again');
    this.#unequal = error instanceof SnapshotDamagedError ? this.#unequal + 1 : 0;
    // A server that stands by itself has no other to take a snapshot from: it goes on trying.
    if (this.#unequal < UNEQUAL_MAX || options.members === 1) return;
    this.#unequal = 0;
    this.#driver.step({
      kind: 'distrust',
      reason: `the memory of this member is not what its digest says: ${reason}`,
    });
  }

  /** Gives up the attempt that is under way, if there is one. */
  #end(): void {
    const attempt = this.#attempt;
    this.#attempt = null;
    attempt?.repair?.abandon().catch((error: unknown) => {
      // A full disk may have left pieces of it; the next start removes them.
      if (!isPassing(error)) this.#kept.fail(error);
    });
  }
}

/** Whether another attempt may succeed, and nothing that is relied upon was touched. */
function isPassing(error: unknown): boolean {
  return (
    error instanceof DamagedError ||
    error instanceof SnapshotDamagedError ||
    error instanceof HistoryGoneError ||
    error instanceof RepairOutdatedError ||
    (error instanceof StorageFault && error.reason === 'disk full')
  );
}
