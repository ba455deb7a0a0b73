/**
 * Stores the fixed-size part of every znode, in rows of 128 bytes outside the JavaScript heap.
 *
 * A row is six float64 and twenty int32 side by side in a page of 16,384 rows. A Stat is thus two
 * cache lines, and a million znodes are no work for the garbage collector. A node is the number of
 * its row. This file knows nothing of paths, of digests or of what a field means.
 *
 * Invariant: a row is either live or on the free list, as its FREE flag says, and every field of a
 * fresh row is zero. Called by Tree and its helpers only.
 */
import { assert } from '@rookery/protocol';

/** No node, no next row, no data. */
export const NONE = -1;

/** Indexes of the float64 fields. */
export const DOUBLE = { czxid: 0, mzxid: 1, pzxid: 2, ctime: 3, mtime: 4, owner: 5 } as const;

/** Indexes of the int32 fields, counted from the start of the row, whose doubles are 0 to 11. */
export const INT = {
  version: 12,
  /** The number of creates ever done below the node; clients see `visibleCversion`. */
  creates: 13,
  aversion: 14,
  /** The 64-bit hash of path and data. */
  contentLow: 15,
  contentHigh: 16,
  /** The bytes of the name, the mode and the FLAG bits. */
  shape: 17,
  aclId: 18,
  childCount: 19,
  parent: 20,
  firstChild: 21,
  nextSibling: 22,
  previousSibling: 23,
  /** -1 for null data. */
  dataBytes: 24,
  /** The location of name and data in the slabs. */
  location: 25,
  /** The hash of the path with this process's key, for PathFinder alone. */
  indexHash: 26,
  /** The next node of the same bucket of the path index; for a free row, the next free row. */
  nextInBucket: 27,
  nextEphemeral: 28,
  previousEphemeral: 29,
  /**
   * The capture generation in which the node was last marked as changed. During recovery: the
   * number of children that the record announced.
   */
  mark: 30,
  /** The location of its newest checkpoint record (record-blocks.ts); 0 while it has none. */
  record: 31,
} as const;

/** The digest covers the first DIGEST_INTS ints of a row, doubles included. */
export const DIGEST_INTS = 18;

/** Far more than the longest path at which a znode may be created (pipeline/path-bound.ts). */
const NAME_BYTES_MASK = 0xff_ffff;
const MODE_SHIFT = 24;
const MODE_MASK = 3;
export const FLAG = {
  /** The name is stored as UTF-16 code units and not as ASCII. */
  wide: 1 << 26,
  free: 1 << 28,
} as const;

/**
 * What a checkpoint record may contain: the bytes of the name, the mode, and whether the name is
 * wide.
 */
export const SHAPE_MASK = NAME_BYTES_MASK | (MODE_MASK << MODE_SHIFT) | FLAG.wide;

export function makeShape(parts: { nameBytes: number; mode: number; flags: number }): number {
  assert(parts.nameBytes <= NAME_BYTES_MASK, 'a name fits its 24-bit length');
  return parts.nameBytes | (parts.mode << MODE_SHIFT) | parts.flags;
}
export function nameBytesOf(shape: number): number {
  return shape & NAME_BYTES_MASK;
}
export function modeOf(shape: number): number {
  return (shape >> MODE_SHIFT) & MODE_MASK;
}

const PAGE_BITS = 14;
const PAGE_ROWS = 1 << PAGE_BITS;
const ROW_MASK = PAGE_ROWS - 1;
const ROW_BYTES = 128;
const INTS_BITS = 5;
const DOUBLES_BITS = 4;
const NO_INTS = new Int32Array(0);
const NO_DOUBLES = new Float64Array(0);

export class NodeStore {
  readonly #ints: Int32Array[] = [];
  readonly #doubles: Float64Array[] = [];
  /** The number of rows ever used; every node is below it. */
  #limit = 0;
  #freeHead: number = NONE;
  #count = 0;

  get count(): number {
    return this.#count;
  }
  get limit(): number {
    return this.#limit;
  }

  /** Returns a row whose fields are all zero. */
  allocate(): number {
    this.#count++;
    const free = this.#freeHead;
    if (free !== NONE) {
      assert(this.isFree(free), 'the free list holds free rows only');
      this.#freeHead = this.int(free, INT.nextInBucket);
      this.#clear(free);
      return free;
    }
    if (this.#limit === this.#ints.length * PAGE_ROWS) {
      const page = new ArrayBuffer(PAGE_ROWS * ROW_BYTES);
      this.#ints.push(new Int32Array(page));
      this.#doubles.push(new Float64Array(page));
    }
    return this.#limit++;
  }

  release(node: number): void {
    assert(this.isLive(node), 'a row is released once');
    this.#count--;
    this.setInt(node, INT.shape, FLAG.free);
    this.setInt(node, INT.nextInBucket, this.#freeHead);
    this.setInt(node, INT.mark, 0);
    this.#freeHead = node;
  }

  isFree(node: number): boolean {
    return (this.int(node, INT.shape) & FLAG.free) !== 0;
  }
  isLive(node: number): boolean {
    return node >= 0 && node < this.#limit && !this.isFree(node);
  }

  int(node: number, field: number): number {
    return this.intPage(node)[this.intBase(node) + field] ?? 0;
  }
  setInt(node: number, field: number, value: number): void {
    this.intPage(node)[this.intBase(node) + field] = value;
  }
  double(node: number, field: number): number {
    const page = this.#doubles[node >>> PAGE_BITS] ?? NO_DOUBLES;
    return page[((node & ROW_MASK) << DOUBLES_BITS) + field] ?? 0;
  }
  setDouble(node: number, field: number, value: number): void {
    const page = this.#doubles[node >>> PAGE_BITS] ?? NO_DOUBLES;
    page[((node & ROW_MASK) << DOUBLES_BITS) + field] = value;
  }

  doublePage(node: number): Float64Array {
    return this.#doubles[node >>> PAGE_BITS] ?? NO_DOUBLES;
  }
  doubleBase(node: number): number {
    return (node & ROW_MASK) << DOUBLES_BITS;
  }
  /** For loops over many fields of one row: its page; `intBase` says where in it the row starts. */
  intPage(node: number): Int32Array {
    return this.#ints[node >>> PAGE_BITS] ?? NO_INTS;
  }
  intBase(node: number): number {
    return (node & ROW_MASK) << INTS_BITS;
  }

  #clear(node: number): void {
    const base = this.intBase(node);
    this.intPage(node).fill(0, base, base + (1 << INTS_BITS));
  }
}

/**
 * Links the children of a node into a list through their rows: constant time, no order, no object
 * for each child. It keeps childCount.
 */
export function linkChild(store: NodeStore, parent: number, child: number): void {
  const above = store.intPage(parent);
  const aboveBase = store.intBase(parent);
  const first = above[aboveBase + INT.firstChild] ?? NONE;
  const row = store.intPage(child);
  const base = store.intBase(child);
  row[base + INT.parent] = parent;
  row[base + INT.previousSibling] = NONE;
  row[base + INT.nextSibling] = first;
  if (first !== NONE) {
    store.setInt(first, INT.previousSibling, child);
  }
  above[aboveBase + INT.firstChild] = child;
  above[aboveBase + INT.childCount] = (above[aboveBase + INT.childCount] ?? 0) + 1;
}

export function unlinkChild(store: NodeStore, parent: number, child: number): void {
  const previous = store.int(child, INT.previousSibling);
  const next = store.int(child, INT.nextSibling);
  if (previous === NONE) {
    store.setInt(parent, INT.firstChild, next);
  } else {
    store.setInt(previous, INT.nextSibling, next);
  }
  if (next !== NONE) {
    store.setInt(next, INT.previousSibling, previous);
  }
  store.setInt(parent, INT.childCount, store.int(parent, INT.childCount) - 1);
}

/**
 * The containers and TTL nodes of the tree, which the reaper examines instead of the whole tree.
 *
 * They are in a plain array. Each row knows its index in it, in the field that links ephemerals (no
 * node is both). Removing one moves the last one into the gap, so a walk in slices goes from the
 * end to the start and misses none that stays.
 */
export class TimedNodes {
  readonly #store: NodeStore;
  readonly #nodes: number[] = [];

  constructor(store: NodeStore) {
    this.#store = store;
  }

  get count(): number {
    return this.#nodes.length;
  }

  /** The node at an index below `count`. */
  at(place: number): number {
    const node = this.#nodes[place];
    assert(node !== undefined, () => `place ${place} of ${this.#nodes.length} is taken`);
    return node;
  }

  add(node: number): void {
    this.#store.setInt(node, INT.nextEphemeral, this.#nodes.length);
    this.#nodes.push(node);
  }

  remove(node: number): void {
    const place = this.#store.int(node, INT.nextEphemeral);
    assert(this.#nodes[place] === node, 'a timed node is where its row says');
    const last = this.#nodes.pop();
    if (last === undefined || last === node) {
      return;
    }
    this.#nodes[place] = last;
    this.#store.setInt(last, INT.nextEphemeral, place);
  }
}
