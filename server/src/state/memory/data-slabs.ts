/**
 * Allocates memory for the variable part of znodes (name and data), outside the JavaScript heap.
 *
 * Chunks are cut into slots of one size class each. Classes are a granule of 8 bytes apart up to
 * 512 bytes, and then eight to each doubling, so that rounding wastes at most 7 bytes or an eighth.
 * A chunk whose last slot is freed returns to the pool, so no class keeps memory that it no longer
 * uses. What fits no class gets memory of its own. There is no object for each slot: free slots are
 * linked through their own first bytes.
 *
 * A location is `chunk * 2^14 + slot`, or a number below -1 for memory of its own. It stays valid
 * until it is freed. Chunks have 128 KB, and the more there are, the larger new ones become, so
 * that 32-bit numbers reach beyond any memory: applying a transaction must never fail. Called by
 * Payloads and PayloadCompaction; tree-bytes.ts rounds sizes as it does.
 */
import { assert, viewOf } from '@rookery/protocol';
import { INT, NONE, type NodeStore } from './node-store.js';

const CHUNK_BYTES = 1 << 17;
const GRANULE_BITS = 3;
const GRANULE = 1 << GRANULE_BITS;
const SLOT_BITS = 14;
const SLOT_MASK = (1 << SLOT_BITS) - 1;
const FINE_BYTES_MAX = 512;
const CLASS_BYTES_MAX = 1 << 15;
/** What an allocation of its own costs: the objects that hold it, and whole pages of the system. */
const OWN_OVERHEAD_BYTES = 256;
const OWN_GRANULE = 4096;
const CHUNK_BITS = 31 - SLOT_BITS;
/**
 * The numbers of chunks are divided into four steps, and the chunks of each step have eight times
 * as many bytes as those of the step before. But no chunk has more slots than SLOT_BITS can number,
 * so chunks of small slots grow less. Together they have 2 TB, or 2^31 slots where slots are small,
 * which is as many as there can be nodes.
 */
const STEP_BITS = CHUNK_BITS - 2;
const STEP_GROWTH_BITS = 3;
/**
 * The number of empty chunks that are kept, so that a class whose size varies around a chunk does
 * not map memory again and again.
 */
const SPARES_MAX = 8;
const NO_SLOT = -1;
/** A chunk in which less than this part of the memory is in use is sparse. */
const SPARSE_PART = 0.75;
/** The location of the first allocation of its own; the numbers decrease from there. */
const OWN_FIRST = -2;

interface Chunk {
  readonly id: number;
  readonly bytes: Buffer;
  /** A view of the same memory. */
  readonly view: DataView;
  readonly words: Int32Array;
  readonly slotBytes: number;
  used: number;
  /** The first freed slot. */
  freeHead: number;
  /** The number of slots that were ever used. */
  fresh: number;
  /** The chunk is to become empty: nothing new is put into it, and it is in no list. */
  isLeaving: boolean;
  /**
   * Neighbours in the list of its class's chunks with free slots; null at the ends and outside of
   * the list.
   */
  previous: Chunk | null;
  next: Chunk | null;
}

export class DataSlabs {
  readonly #allocateBytes: (bytes: number) => Buffer;
  readonly #stepBits: number;
  readonly #chunks: (Chunk | null)[] = [];
  readonly #freeIds: number[] = [];
  /** Allocations with memory of their own. */
  readonly #ownMemory: (Buffer | null)[] = [];
  readonly #freeOwn: number[] = [];
  readonly #spares: Buffer[] = [];
  /** By slot granules: the chunks that have free slots. */
  readonly #roomy: (Chunk | null)[] = new Array(CLASS_BYTES_MAX / GRANULE + 1).fill(null);
  #reservedBytes = 0;
  /** The bytes of slots in use and of allocations with memory of their own. */
  #usedBytes = 0;

  /** The arguments are set by tests only. */
  constructor(allocateBytes = (bytes: number) => Buffer.alloc(bytes), stepBits = STEP_BITS) {
    this.#allocateBytes = allocateBytes;
    this.#stepBits = stepBits;
  }

  /** The number of bytes held, free slots included. */
  get reservedBytes(): number {
    return this.#reservedBytes;
  }

  /** The number of those bytes that are in use. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** From now on, nothing is put into chunks of which less than three quarters are in use. */
  leaveSparseChunks(): void {
    for (const chunk of this.#chunks) {
      if (chunk === null || chunk.isLeaving) continue;
      if (chunk.used * chunk.slotBytes >= SPARSE_PART * chunk.bytes.length) continue;
      if (hasRoom(chunk)) this.#unlink(chunk);
      chunk.isLeaving = true;
    }
  }

  /** Whether the chunk that contains this location is to become empty. */
  isLeaving(location: number): boolean {
    return location >= 0 && this.#chunk(location).isLeaving;
  }

  /** Moves the whole slot to a chunk that stays; returns its new location. */
  move(location: number): number {
    const from = this.#chunk(location);
    const start = this.offset(location);
    const moved = this.allocate(from.slotBytes);
    from.bytes.copy(this.bytes(moved), this.offset(moved), start, start + from.slotBytes);
    this.free(location);
    return moved;
  }

  slotBytesAt(location: number): number {
    return this.#chunk(location).slotBytes;
  }

  allocate(bytes: number): number {
    assert(bytes > 0, 'a slot has at least one byte');
    if (bytes > CLASS_BYTES_MAX) {
      return this.#allocateOwn(bytes);
    }
    const slotBytes = slotBytesFor(bytes);
    const chunk = this.#roomy[slotBytes >>> GRANULE_BITS] ?? this.#addChunk(slotBytes);
    const slot = takeSlot(chunk);
    chunk.used++;
    this.#usedBytes += slotBytes;
    if (!hasRoom(chunk)) {
      this.#unlink(chunk);
    }
    return (chunk.id << SLOT_BITS) | slot;
  }

  free(location: number): void {
    if (location < 0) {
      const id = OWN_FIRST - location;
      const { length } = this.#ownBytes(location);
      this.#reservedBytes -= length;
      this.#usedBytes -= length;
      this.#ownMemory[id] = null;
      this.#freeOwn.push(id);
      return;
    }
    const chunk = this.#chunk(location);
    const isListed = !chunk.isLeaving;
    const wasFull = !hasRoom(chunk);
    chunk.bytes.writeInt32LE(chunk.freeHead, this.offset(location));
    chunk.freeHead = location & SLOT_MASK;
    chunk.used--;
    this.#usedBytes -= chunk.slotBytes;
    assert(chunk.used >= 0, 'a slot is freed once');
    if (wasFull && isListed) {
      this.#link(chunk);
    }
    if (chunk.used === 0) {
      if (isListed) this.#unlink(chunk);
      this.#dropChunk(chunk);
    }
  }

  /** Whether what is at `location` could grow or shrink to `bytes` in place. */
  fits(location: number, bytes: number): boolean {
    if (location < 0) {
      return bytes === this.#ownBytes(location).length;
    }
    return bytes <= CLASS_BYTES_MAX && slotBytesFor(bytes) === this.#chunk(location).slotBytes;
  }

  /** The memory that contains a location; `offset` says where in it. */
  bytes(location: number): Buffer {
    return location < 0 ? this.#ownBytes(location) : this.#chunk(location).bytes;
  }
  /** Like `bytes`, for a slot of a chunk; null for memory of its own. */
  view(location: number): DataView | null {
    return location < 0 ? null : this.#chunk(location).view;
  }
  /** The same memory as 32-bit words, whole slots; null for memory of its own. */
  words(location: number): Int32Array | null {
    return location < 0 ? null : this.#chunk(location).words;
  }
  /** The offset in `bytes`, a multiple of GRANULE. */
  offset(location: number): number {
    return location < 0 ? 0 : (location & SLOT_MASK) * this.#chunk(location).slotBytes;
  }

  /** Whether what is at `location` begins with these bytes; `size` is at most its own size. */
  has(location: number, bytes: DataView, start: number, size: number): boolean {
    let at = 0;
    let own = 0;
    let view: DataView;
    if (location < 0) {
      view = viewOf(this.#ownBytes(location));
    } else {
      const chunk = this.#chunk(location);
      view = chunk.view;
      own = (location & SLOT_MASK) * chunk.slotBytes;
    }
    for (; at + 4 <= size; at += 4) {
      if (view.getInt32(own + at, true) !== bytes.getInt32(start + at, true)) return false;
    }
    for (; at < size; at++) {
      if (view.getUint8(own + at) !== bytes.getUint8(start + at)) return false;
    }
    return true;
  }

  #chunk(location: number): Chunk {
    const chunk = this.#chunks[location >>> SLOT_BITS];
    assert(chunk !== null && chunk !== undefined, 'a location lies in a chunk');
    return chunk;
  }

  #ownBytes(location: number): Buffer {
    const bytes = this.#ownMemory[OWN_FIRST - location];
    assert(bytes !== null && bytes !== undefined, 'a location has its memory');
    return bytes;
  }

  #allocateOwn(bytes: number): number {
    const id = this.#freeOwn.pop() ?? this.#ownMemory.length;
    this.#ownMemory[id] = this.#allocateBytes(bytes);
    this.#reservedBytes += bytes;
    this.#usedBytes += bytes;
    return OWN_FIRST - id;
  }

  #addChunk(slotBytes: number): Chunk {
    const id = this.#freeIds.pop() ?? this.#chunks.length;
    assert(id < 1 << CHUNK_BITS, () => `${id} is the number of a chunk`);
    const step = Math.min(id >>> this.#stepBits, 3);
    const size = Math.max(
      CHUNK_BYTES,
      Math.min(CHUNK_BYTES << (step * STEP_GROWTH_BITS), slotBytes << SLOT_BITS),
    );
    const spare = size === CHUNK_BYTES ? this.#spares.pop() : undefined;
    const bytes = spare ?? this.#allocateBytes(size);
    const view = viewOf(bytes);
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
    const links = { previous: null, next: null };
    const slots = { slotBytes, used: 0, freeHead: NO_SLOT, fresh: 0, isLeaving: false };
    const chunk = { id, bytes, view, words, ...slots, ...links };
    this.#chunks[id] = chunk;
    this.#reservedBytes += bytes.length;
    this.#link(chunk);
    return chunk;
  }

  #dropChunk(chunk: Chunk): void {
    this.#chunks[chunk.id] = null;
    this.#freeIds.push(chunk.id);
    this.#reservedBytes -= chunk.bytes.length;
    if (chunk.bytes.length === CHUNK_BYTES && this.#spares.length < SPARES_MAX) {
      this.#spares.push(chunk.bytes);
    }
  }

  #link(chunk: Chunk): void {
    const list = chunk.slotBytes >>> GRANULE_BITS;
    const head = this.#roomy[list] ?? null;
    chunk.previous = null;
    chunk.next = head;
    if (head !== null) {
      head.previous = chunk;
    }
    this.#roomy[list] = chunk;
  }

  #unlink(chunk: Chunk): void {
    if (chunk.previous === null) {
      this.#roomy[chunk.slotBytes >>> GRANULE_BITS] = chunk.next;
    } else {
      chunk.previous.next = chunk.next;
    }
    if (chunk.next !== null) {
      chunk.next.previous = chunk.previous;
    }
    chunk.previous = null;
    chunk.next = null;
  }
}

function hasRoom({ freeHead, fresh, slotBytes, bytes }: Chunk): boolean {
  return freeHead !== NO_SLOT || (fresh + 1) * slotBytes <= bytes.length;
}

function takeSlot(chunk: Chunk): number {
  const slot = chunk.freeHead;
  if (slot === NO_SLOT) {
    return chunk.fresh++;
  }
  chunk.freeHead = chunk.bytes.readInt32LE(slot * chunk.slotBytes);
  return slot;
}

/**
 * The memory that this many bytes take, at least one: a slot of their class, or memory of its own.
 */
export function slotBytesFor(bytes: number): number {
  if (bytes > CLASS_BYTES_MAX) {
    return OWN_OVERHEAD_BYTES + ((bytes + OWN_GRANULE - 1) & -OWN_GRANULE);
  }
  if (bytes <= FINE_BYTES_MAX) {
    return (bytes + GRANULE - 1) & -GRANULE;
  }
  const step = 1 << (31 - Math.clz32(bytes - 1) - 3);
  return (bytes + step - 1) & -step;
}

const IDLE = {
  /**
   * The idle memory that is allowed beside half of what is in use: for each class a chunk that is
   * being filled, and some.
   */
  bytesMax: 16 << 20,
  /** After a walk, this much more must be idle before the next one. */
  againBytes: 4 << 20,
};
const IDLE_PART = 0.5;
/** The rows of one step, which takes some tens of microseconds. */
const ROWS = 256;
const MOVED_BYTES = 32 << 10;

/**
 * Gives back the memory of chunks that are mostly free, by moving what is left in them to others.
 *
 * A client that creates values of one size, deletes nearly all of them and continues with the next
 * size would otherwise keep a chunk allocated for each value that it left: many times the bound of
 * the tree. Once the idle memory exceeds half of what is in use and 16 MB, sparse chunks take in
 * nothing more, and a walk over the rows moves what is in them, a little after each transaction.
 * Without transactions nothing moves, and nothing grows either. It decides nothing that another
 * member could see.
 */
export class PayloadCompaction {
  readonly #store: NodeStore;
  readonly #slabs: DataSlabs;
  readonly #idle: typeof IDLE;
  /** The next row to look at; NONE while no walk is under way. */
  #next: number = NONE;
  /** The idle memory after the last walk. */
  #floorBytes = 0;

  /** Tests set smaller numbers. */
  constructor(store: NodeStore, slabs: DataSlabs, idle = IDLE) {
    this.#store = store;
    this.#slabs = slabs;
    this.#idle = idle;
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
    const { bytesMax, againBytes } = this.#idle;
    if (idleBytes <= bytesMax + IDLE_PART * this.#slabs.usedBytes) return false;
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
