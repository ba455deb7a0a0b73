/**
 * Knows how large the tree may become, and logs when it comes close to that bound.
 *
 * The bound is the setting `treeBytesMax`. Without it, it is the smallest size that any member's
 * memory allows; each member announces its own in its hello, and the value of an absent member
 * still counts. Every member knows the bound and watches its own tree; the leader refuses writes
 * by it. There is one line at 80 %, one when the tree is below 75 % again, and at most one a second
 * about refused writes.
 */
import type { Hello, PeerId } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { TreeBound as Bound, TreeRefusals } from '../pipeline/tree-room.js';
import type { DiskSpace } from './disk-space.js';

const LOOK_EVERY_MS = 1000;
const NEARLY_FULL = 0.8;
const ROOMY = 0.75;

export interface TreeBoundOptions {
  /** The setting; null if the members' memories decide. */
  readonly configuredBytes: number | null;
  /** The size that the memory of this member allows. */
  readonly ownBytes: number;
  readonly disk: Pick<DiskSpace, 'refuses' | 'onRefused'>;
}

export class TreeBound implements Bound {
  readonly #options: TreeBoundOptions;
  readonly #logger: Logger;
  readonly #others = new Map<PeerId, number>();
  #bytesMax: number;
  #nextLookMs = 0;
  #isNearlyFull = false;

  constructor(options: TreeBoundOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
    this.#bytesMax = options.configuredBytes ?? options.ownBytes;
    const { configuredBytes, ownBytes } = options;
    if (configuredBytes === null || configuredBytes <= ownBytes) return;
    const facts = { treeBytesMax: configuredBytes, memoryAllows: ownBytes };
    logger.warn(facts, 'tree.bound_beyond_memory: this member may be ended before the bound holds');
  }

  get bytesMax(): number {
    return this.#bytesMax;
  }

  get isDiskFull(): boolean {
    return this.#options.disk.refuses;
  }

  onConnected(peer: PeerId, { offer }: Hello): void {
    this.#others.set(peer, offer.treeBytes);
    const { configuredBytes, ownBytes } = this.#options;
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
    if (forDisk > 0) this.#options.disk.onRefused(forDisk);
    if (count === 0) return;
    const refused = { refused: count, bytes, bytesMax };
    this.#logger.warn(refused, 'tree.full: writes that add data are refused (-125)');
  }
}
