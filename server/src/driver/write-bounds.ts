/**
 * Bounds the writes that a leader accepts: by the free space of the members' disks (DiskSpace), and
 * by the size of the tree (TreeBound).
 *
 * Below its reserve a disk counts as full. Each member measures its own directories once a second.
 * The core decides what follows (`zab/room.ts`); it gets `room` with each tick, and its votes carry
 * it. A disk that answers nothing keeps the last answer, and never holds anything up. It is full
 * until a tenth more than the reserve is free, so that it does not flap. Owned by the member.
 */
import type { Hello, PeerId } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { Timer, Timers } from '../net/timers.js';
import type { TreeBound as Bound, TreeRefusals } from '../pipeline/write-room.js';
import type { DiskRoom, ZabOutput } from '../zab/index.js';

export interface Space {
  /** What users other than the superuser may still write. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Resolves with null for a directory of which nothing is known. */
export type MeasureSpace = (directory: string) => Promise<Space | null>;

/** A disk that is full, in bytes. */
interface DiskShortage {
  readonly freeBytes: number;
  readonly reserveBytes: number;
}

const MEASURE_MS = 1000;
const RESERVE_BYTES = 500_000_000;
/**
 * The reserve is at most this part of a disk, however small the disk is. A smaller part of a disk
 * of 1 GB is less than what a member still writes after its disk has counted as full: a second of
 * the log until it is measured, the proposals under way, and a checkpoint of 64 MB.
 */
const RESERVE_SHARE_MAX = 0.25;
const RESERVE_SHARE_MIN = 0.02;
const NEARLY_FULL_SHARE = 0.2;
/** With less of the reserve free no snapshot is taken: the rest is for the log. */
const SCARCE_SHARE = 0.1;
/** A shortage is over when this times the bytes are free at which it began. */
const RECOVERY = 1.1;

/** 500 MB or 2 % of the disk, whichever is more, but at most a quarter of a small disk. */
export function defaultReserve(totalBytes: number): number {
  const small = Math.min(RESERVE_BYTES, totalBytes * RESERVE_SHARE_MAX);
  return Math.floor(Math.max(small, totalBytes * RESERVE_SHARE_MIN));
}

type Refusal = Extract<ZabOutput, { kind: 'refusal' }>;

const NO_REFUSAL: Refusal = { kind: 'refusal', isOn: false, full: [] };

export class DiskSpace {
  /** The disk of this member that is full; null for none. */
  shortage: DiskShortage | null = null;
  /** On the fuller one of its disks, as it was last measured; null before that. */
  freeBytes: number | null = null;
  /** What may be written before a disk reaches its reserve; null before it was measured. */
  roomBytes: number | null = null;
  /** Writes that this member refused while it led, since its start. */
  refused = 0;
  readonly #directories: readonly string[];
  readonly #reserveBytes: number | null;
  readonly #timers: Timers;
  readonly #logger: Logger;
  #refusal: Refusal = NO_REFUSAL;
  #isNearlyFull = false;
  #timer: Timer | null = null;
  #isStopped = false;

  /**
   * `reserveBytes` is the setting; null for the default of each disk. Without `spaceOf` nothing is
   * a disk, and none is ever full.
   */
  constructor(
    directories: readonly string[],
    reserveBytes: number | null,
    spaceOf: MeasureSpace | undefined,
    timers: Timers,
    logger: Logger,
  ) {
    this.#directories = directories;
    this.#reserveBytes = reserveBytes;
    this.#timers = timers;
    this.#logger = logger;
    if (spaceOf !== undefined) void this.#measure(spaceOf);
  }

  /** Whether a leader refuses writes that carry data. */
  get refuses(): boolean {
    return this.#refusal.isOn;
  }

  /** What the core is to know. */
  get room(): DiskRoom {
    if (this.shortage === null) return 'enough';
    const { freeBytes, reserveBytes } = this.shortage;
    return freeBytes < SCARCE_SHARE * reserveBytes ? 'scarce' : 'full';
  }

  /** What the core of a leader has decided; null when its term has ended. */
  onRefusal(refusal: Refusal | null): void {
    this.#refusal = refusal ?? NO_REFUSAL;
  }

  /** As the leader, which asks for them once a second at most. */
  onRefused(refused: number): void {
    this.refused += refused;
    const { full: members } = this.#refusal;
    const own = this.shortage !== null;
    this.#logger.warn(
      { refused, own, members },
      'disk.refused: writes that carry data are refused (-125): a disk is full, and members with ' +
        'room are no majority without it',
    );
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  async #measure(spaceOf: MeasureSpace): Promise<void> {
    const spaces: Space[] = [];
    for (const directory of this.#directories) {
      const space = await spaceOf(directory);
      if (space !== null) spaces.push(space);
    }
    if (this.#isStopped) return;
    if (spaces.length > 0) this.#judge(spaces);
    this.#timer = this.#timers.after(MEASURE_MS, () => void this.#measure(spaceOf));
  }

  #judge(spaces: readonly Space[]): void {
    const logger = this.#logger;
    this.freeBytes = Math.min(...spaces.map(({ freeBytes }) => freeBytes));
    const wasFull = this.shortage !== null;
    const factor = wasFull ? RECOVERY : 1;
    const disks = spaces.map(({ freeBytes, totalBytes }) => {
      const reserve = this.#reserveBytes ?? defaultReserve(totalBytes);
      const warnBytes = Math.max(2 * reserve, totalBytes * NEARLY_FULL_SHARE);
      return { freeBytes, reserveBytes: reserve, warnBytes };
    });
    this.roomBytes = Math.min(...disks.map((disk) => disk.freeBytes - disk.reserveBytes));
    const full = disks.find((disk) => disk.freeBytes < factor * disk.reserveBytes);
    this.shortage = full ? { freeBytes: full.freeBytes, reserveBytes: full.reserveBytes } : null;
    if (full !== undefined && !wasFull) {
      logger.error(
        this.shortage,
        'disk.full: this member takes no writes, and steps out while others with room are a ' +
          'majority; otherwise writes that carry data are refused (-125)',
      );
    }
    if (full === undefined && wasFull) logger.info('disk.has_room');
    const warnFactor = this.#isNearlyFull ? RECOVERY : 1;
    const low = disks.find((disk) => disk.freeBytes < warnFactor * disk.warnBytes);
    if (low !== undefined && !this.#isNearlyFull) logger.warn(low, 'disk.nearly_full');
    this.#isNearlyFull = low !== undefined;
  }
}

const LOOK_EVERY_MS = 1000;
const NEARLY_FULL = 0.8;
const ROOMY = 0.75;

interface TreeBytes {
  /** The setting; null if the members' memories decide. */
  readonly configuredBytes: number | null;
  /** The size that the memory of this member allows. */
  readonly ownBytes: number;
}

/**
 * Knows how large the tree may become, and logs when it comes close to that bound.
 *
 * The bound is the setting `treeBytesMax`. Without it, it is the smallest size that any member's
 * memory allows; each member announces its own in its hello, and the value of an absent member
 * still counts. Every member knows the bound and watches its own tree; the leader refuses writes
 * by it. There is one line at 80 %, one when the tree is below 75 % again, and at most one a second
 * about refused writes.
 */
export class TreeBound implements Bound {
  readonly #allowed: TreeBytes;
  readonly #disk: DiskSpace;
  readonly #logger: Logger;
  readonly #others = new Map<PeerId, number>();
  #bytesMax: number;
  #nextLookMs = 0;
  #isNearlyFull = false;

  constructor(allowed: TreeBytes, disk: DiskSpace, logger: Logger) {
    this.#allowed = allowed;
    this.#disk = disk;
    this.#logger = logger;
    const { configuredBytes, ownBytes } = allowed;
    this.#bytesMax = configuredBytes ?? ownBytes;
    if (configuredBytes === null || configuredBytes <= ownBytes) return;
    const facts = { treeBytesMax: configuredBytes, memoryAllows: ownBytes };
    logger.warn(facts, 'tree.bound_beyond_memory: this member may be ended before the bound holds');
  }

  get bytesMax(): number {
    return this.#bytesMax;
  }

  get isDiskFull(): boolean {
    return this.#disk.refuses;
  }

  onConnected(peer: PeerId, { offer }: Hello): void {
    const bytes = offer.treeBytes;
    // A hello that does not state its bound bounds nothing.
    if (bytes === 0) this.#others.delete(peer);
    else this.#others.set(peer, bytes);
    const { configuredBytes, ownBytes } = this.#allowed;
    const before = this.#bytesMax;
    this.#bytesMax = configuredBytes ?? Math.min(ownBytes, ...this.#others.values());
    if (this.#bytesMax === before) return;
    this.#logger.info({ peer, bytesMax: this.#bytesMax, before }, 'tree.bound');
  }

  /** Called at the end of each turn; `bytes` is the current size of the state. */
  step(nowMs: number, bytes: number): void {
    if (nowMs < this.#nextLookMs) return;
    this.#nextLookMs = nowMs + LOOK_EVERY_MS;
    const used = bytes / this.#bytesMax;
    const facts = { bytes, bytesMax: this.#bytesMax, percent: Math.floor(100 * used) };
    if (!this.#isNearlyFull && used >= NEARLY_FULL) {
      this.#isNearlyFull = true;
      this.#logger.warn(facts, 'tree.nearly_full: writes that add data are refused at 100 %');
    } else if (this.#isNearlyFull && used < ROOMY) {
      this.#isNearlyFull = false;
      this.#logger.info(facts, 'tree.has_room');
    }
  }

  /** Logs refused writes. Called at most once a second. */
  onRefused({ count, forDisk, bytes, bytesMax }: TreeRefusals): void {
    if (forDisk > 0) this.#disk.onRefused(forDisk);
    if (count === 0) return;
    const refused = { refused: count, bytes, bytesMax };
    this.#logger.warn(refused, 'tree.full: writes that add data are refused (-125)');
  }
}
