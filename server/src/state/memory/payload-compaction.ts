/**
 * Gives back the memory of chunks that are mostly free, by moving what is left in them to others.
 *
 * A client that creates values of one size, deletes nearly all of them and continues with the next
 * size would otherwise keep a chunk allocated for each value that it left: many times the bound of
 * the tree. Once the idle memory exceeds half of what is in use and 16 MB, sparse chunks take in
 * nothing more, and a walk over the rows moves what is in them, a little after each transaction.
 * Without transactions nothing moves, and nothing grows either. It decides nothing that another
 * member could see. Called by Payloads.
 */
import type { DataSlabs } from './data-slabs.js';
import { INT, NONE, type NodeStore } from './node-store.js';

export interface IdleLimits {
  /**
   * The idle memory that is allowed beside half of what is in use: for each class a chunk that is
   * being filled, and some.
   */
  readonly idleBytesMax: number;
  /** After a walk, this much more must be idle before the next one. */
  readonly againBytes: number;
}

const IDLE_LIMITS: IdleLimits = { idleBytesMax: 16 << 20, againBytes: 4 << 20 };
const IDLE_PART = 0.5;
/** The rows of one step, which takes some tens of microseconds. */
const ROWS = 256;
const MOVED_BYTES = 32 << 10;

export class PayloadCompaction {
  readonly #store: NodeStore;
  readonly #slabs: DataSlabs;
  readonly #limits: IdleLimits;
  /** The next row to look at; NONE while no walk is under way. */
  #next: number = NONE;
  /** The idle memory after the last walk. */
  #floorBytes = 0;

  /** Tests set smaller `limits`. */
  constructor(store: NodeStore, slabs: DataSlabs, limits = IDLE_LIMITS) {
    this.#store = store;
    this.#slabs = slabs;
    this.#limits = limits;
  }

  /** Called after each transaction. */
  step(): void {
    if (this.#next === NONE && !this.#begins()) return;
    const end = Math.min(this.#next + ROWS, this.#store.limit);
    for (let moved = 0; this.#next < end && moved < MOVED_BYTES; this.#next++) {
      if (this.#store.isLive(this.#next)) moved += this.#moveMaybe(this.#next);
    }
    if (this.#next < this.#store.limit) return;
    this.#next = NONE;
    this.#floorBytes = this.#idleBytes;
  }

  get #idleBytes(): number {
    return this.#slabs.reservedBytes - this.#slabs.usedBytes;
  }

  #begins(): boolean {
    const idleBytes = this.#idleBytes;
    if (idleBytes < this.#floorBytes) this.#floorBytes = idleBytes;
    const { idleBytesMax, againBytes } = this.#limits;
    if (idleBytes <= idleBytesMax + IDLE_PART * this.#slabs.usedBytes) return false;
    if (idleBytes - this.#floorBytes < againBytes) return false;
    this.#slabs.leaveSparseChunks();
    this.#next = 0;
    return true;
  }

  /** Returns the number of bytes that were moved. */
  #moveMaybe(node: number): number {
    const location = this.#store.int(node, INT.location);
    if (location === NONE || !this.#slabs.isLeaving(location)) return 0;
    const moved = this.#slabs.move(location);
    this.#store.setInt(node, INT.location, moved);
    return this.#slabs.slotBytesAt(moved);
  }
}
