/**
 * Memory for the variable part of znodes (name and data), outside the JavaScript heap.
 *
 * Chunks are cut into slots of one size class each; classes are a granule of 8 bytes apart up to
 * 512 bytes, then eight to a doubling, so at most an eighth is lost to rounding. A chunk whose last
 * slot is freed goes back to the pool, hence no class keeps memory it had once. What does not fit a
 * class gets memory of its own. No object per slot: free slots are chained through their own first
 * bytes.
 *
 * A location is `chunk * 2^14 + slot`, below -1 for what has memory of its own; it stays valid
 * until it is freed. Chunks have 128 KB, and the more there are the larger new ones become, so that
 * numbers of 32 bits reach beyond any memory: apply must never fail. Called by Tree.
 */
import { assert, viewOf } from '@rookery/protocol';

const CHUNK_BYTES = 1 << 17;
const GRANULE_BITS = 3;
const GRANULE = 1 << GRANULE_BITS;
const SLOT_BITS = 14;
const SLOT_MASK = (1 << SLOT_BITS) - 1;
const FINE_BYTES_MAX = 512;
const CLASS_BYTES_MAX = 1 << 15;
/** What has memory of its own: the objects that hold it, and the pages of the system. */
const OWN_OVERHEAD_BYTES = 256;
const OWN_GRANULE = 4096;
const CHUNK_BITS = 31 - SLOT_BITS;
/**
 * Chunks of one step, of four: those of the next have eight times as many bytes, as long as their
 * slots have numbers. All together: 2 TB, or 2^31 slots where those are small, as many as nodes.
 */
const STEP_BITS = CHUNK_BITS - 2;
const STEP_GROWTH_BITS = 3;
/**
 * Empty chunks kept, so that a class at the edge of a chunk does not map memory again and again.
 */
const SPARES_MAX = 8;
const NO_SLOT = -1;
/** A chunk with less of its memory in use is sparse. */
const SPARSE_PART = 0.75;
/** The location of what has memory of its own and number 0; the others go down from there. */
const OWN_FIRST = -2;

interface Chunk {
  readonly id: number;
  readonly bytes: Buffer;
  /** The same memory. */
  readonly view: DataView;
  readonly words: Int32Array;
  readonly slotBytes: number;
  used: number;
  /** The first freed slot. */
  freeHead: number;
  /** Slots that were ever used. */
  fresh: number;
  /** It is to become empty: nothing new is put into it, and it is in no list. */
  isLeaving: boolean;
  /** Neighbours in the list of its class's chunks with room; null at the ends and outside. */
  previous: Chunk | null;
  next: Chunk | null;
}

export class DataSlabs {
  readonly #allocateBytes: (bytes: number) => Buffer;
  readonly #stepBits: number;
  readonly #chunks: (Chunk | null)[] = [];
  readonly #freeIds: number[] = [];
  /** What has memory of its own. */
  readonly #own: (Buffer | null)[] = [];
  readonly #freeOwn: number[] = [];
  readonly #spares: Buffer[] = [];
  /** By slot granules: the chunks that have room. */
  readonly #roomy: (Chunk | null)[] = new Array(CLASS_BYTES_MAX / GRANULE + 1).fill(null);
  #reservedBytes = 0;
  /** Of slots in use, and of memory of their own. */
  #usedBytes = 0;

  /** The arguments are for tests. */
  constructor(allocateBytes = (bytes: number) => Buffer.alloc(bytes), stepBits = STEP_BITS) {
    this.#allocateBytes = allocateBytes;
    this.#stepBits = stepBits;
  }

  /** Bytes held, free slots included. */
  get reservedBytes(): number {
    return this.#reservedBytes;
  }

  /** Of them, those of slots in use. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** From now on nothing is put into chunks of which less than three quarters are in use. */
  leaveSparseChunks(): void {
    for (const chunk of this.#chunks) {
      if (chunk === null || chunk.isLeaving) continue;
      if (chunk.used * chunk.slotBytes >= SPARSE_PART * chunk.bytes.length) continue;
      if (hasRoom(chunk)) this.#unlink(chunk);
      chunk.isLeaving = true;
    }
  }

  /** Whether the chunk that it lies in is to become empty. */
  isLeaving(location: number): boolean {
    return location >= 0 && this.#chunk(location).isLeaving;
  }

  /** The whole slot, to where it stays; returns its new location. */
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
      this.#own[id] = null;
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

  /** True when what lies at `location` could grow or shrink to `bytes` where it is. */
  fits(location: number, bytes: number): boolean {
    if (location < 0) {
      return bytes === this.#ownBytes(location).length;
    }
    return bytes <= CLASS_BYTES_MAX && slotBytesFor(bytes) === this.#chunk(location).slotBytes;
  }

  /** The memory a location lies in, and where in it. */
  bytes(location: number): Buffer {
    return location < 0 ? this.#ownBytes(location) : this.#chunk(location).bytes;
  }
  /** As `bytes`, of what lies in a chunk; null for what has memory of its own. */
  view(location: number): DataView | null {
    return location < 0 ? null : this.#chunk(location).view;
  }
  /** The same memory in words, whole slots; null for what has memory of its own. */
  words(location: number): Int32Array | null {
    return location < 0 ? null : this.#chunk(location).words;
  }
  /** In `bytes`; a multiple of GRANULE. */
  offset(location: number): number {
    return location < 0 ? 0 : (location & SLOT_MASK) * this.#chunk(location).slotBytes;
  }

  /** Whether what lies at `location` begins with these bytes; `size` is no more than its own. */
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
    const bytes = this.#own[OWN_FIRST - location];
    assert(bytes !== null && bytes !== undefined, 'a location has its memory');
    return bytes;
  }

  #allocateOwn(bytes: number): number {
    const id = this.#freeOwn.pop() ?? this.#own.length;
    this.#own[id] = this.#allocateBytes(bytes);
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

/** What so many bytes take, at least one: a slot of their class, or memory of their own. */
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
