/**
 * How large the tree may become, and what the log says as it comes near.
 *
 * The bound is the setting `treeBytesMax`, else the smallest of what the members' memories allow:
 * each says in its hello what its own does. What was said is kept while a member is away, since it
 * will be back. Every member knows the bound, the leader decides by it, and each watches its own
 * tree: one line at 80 %, one once it is below 75 % again, and at most one a second about writes
 * that were refused.
 */
import type { Hello, PeerId } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { TreeBound as Bound, TreeRefusals } from '../pipeline/tree-room.js';

const LOOK_EVERY_MS = 1000;
const NEARLY_FULL = 0.8;
const ROOMY = 0.75;

export interface TreeBoundOptions {
  /** The setting; null while the members' memories decide. */
  readonly configuredBytes: number | null;
  /** What the memory of this member allows. */
  readonly ownBytes: number;
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

  /** What this member says in its hello. */
  get ownBytes(): number {
    return this.#options.ownBytes;
  }

  onConnected(member: PeerId, { offer }: Hello): void {
    const bytes = offer?.treeBytes ?? 0;
    // An older release does not say.
    if (bytes === 0) this.#others.delete(member);
    else this.#others.set(member, bytes);
    const { configuredBytes, ownBytes } = this.#options;
    const before = this.#bytesMax;
    this.#bytesMax = configuredBytes ?? Math.min(ownBytes, ...this.#others.values());
    if (this.#bytesMax === before) return;
    this.#logger.info({ member, bytesMax: this.#bytesMax, before }, 'tree.bound');
  }

  /** At the end of a turn; `bytes` is what the state takes now. */
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

  /** The leader asks for them once a second at most. */
  onRefused({ count, bytes, bytesMax }: TreeRefusals): void {
    const refused = { refused: count, bytes, bytesMax };
    this.#logger.warn(refused, 'tree.full: writes that add data are refused (-125)');
  }
}
