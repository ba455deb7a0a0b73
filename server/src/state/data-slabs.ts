/**
 * Memory for the variable part of znodes (name and data), outside the JavaScript heap.
 *
 * Chunks of 128 KB are cut into slots of one size class each; classes are a granule of 8 bytes
 * apart up to 512 bytes, then eight to a doubling, so at most an eighth is lost to rounding. A
 * chunk whose last slot is freed goes back to the pool, hence no class keeps memory it had once.
 * What does not fit a class gets a chunk of its own. No object per slot: free slots are chained
 * through their own first bytes.
 *
 * A location is `chunk * 2^14 + offset / 8`; it stays valid until it is freed. Called by Tree.
 */
import { assert } from '@rookery/protocol';

const CHUNK_BYTES = 1 << 17;
const GRANULE_BITS = 3;
const GRANULE = 1 << GRANULE_BITS;
const OFFSET_BITS = 14;
const OFFSET_MASK = (1 << OFFSET_BITS) - 1;
const FINE_BYTES_MAX = 512;
const CLASS_BYTES_MAX = 1 << 15;
const CHUNKS_MAX = 1 << (31 - OFFSET_BITS);
/**
 * Empty chunks kept, so that a class at the edge of a chunk does not map memory again and again.
 */
const SPARES_MAX = 8;
const NO_SLOT = -1;

interface Chunk {
  readonly id: number;
  readonly bytes: Buffer;
  /** 0 for a chunk that is one big slot. */
  readonly slotBytes: number;
  used: number;
  /** Offset of the first freed slot. */
  freeHead: number;
  /** Offset behind the last slot that was ever used. */
  freshOffset: number;
  /** Neighbours in the list of its class's chunks with room; null at the ends and outside. */
  previous: Chunk | null;
  next: Chunk | null;
}

export class DataSlabs {
  readonly #chunks: (Chunk | null)[] = [];
  readonly #freeIds: number[] = [];
  readonly #spares: Buffer[] = [];
  /** By slot granules: the chunks that have room. */
  readonly #roomy: (Chunk | null)[] = new Array(CLASS_BYTES_MAX / GRANULE + 1).fill(null);
  #reservedBytes = 0;

  /** Bytes held in chunks, free slots included. */
  get reservedBytes(): number {
    return this.#reservedBytes;
  }

  allocate(bytes: number): number {
    assert(bytes > 0, 'a slot has at least one byte');
    if (bytes > CLASS_BYTES_MAX) {
      return this.#addChunk(Buffer.alloc(bytes), 0).id << OFFSET_BITS;
    }
    const slotBytes = slotBytesFor(bytes);
    const list = slotBytes >>> GRANULE_BITS;
    const chunk = this.#roomy[list] ?? this.#addRoomyChunk(slotBytes);
    const offset = takeSlot(chunk);
    chunk.used++;
    if (!hasRoom(chunk)) {
      this.#unlink(chunk);
    }
    return (chunk.id << OFFSET_BITS) | (offset >>> GRANULE_BITS);
  }

  free(location: number): void {
    const chunk = this.#chunk(location);
    if (chunk.slotBytes === 0) {
      this.#dropChunk(chunk);
      return;
    }
    const wasFull = !hasRoom(chunk);
    const offset = this.offset(location);
    chunk.bytes.writeInt32LE(chunk.freeHead, offset);
    chunk.freeHead = offset;
    chunk.used--;
    assert(chunk.used >= 0, 'a slot is freed once');
    if (wasFull) {
      this.#link(chunk);
    }
    if (chunk.used === 0) {
      this.#unlink(chunk);
      this.#dropChunk(chunk);
    }
  }

  /** True when what lies at `location` could grow or shrink to `bytes` where it is. */
  fits(location: number, bytes: number): boolean {
    const chunk = this.#chunk(location);
    if (chunk.slotBytes === 0) {
      return bytes === chunk.bytes.length;
    }
    return bytes <= CLASS_BYTES_MAX && slotBytesFor(bytes) === chunk.slotBytes;
  }

  /** The chunk a location lies in, and where in it. */
  bytes(location: number): Buffer {
    return this.#chunk(location).bytes;
  }
  offset(location: number): number {
    return (location & OFFSET_MASK) << GRANULE_BITS;
  }

  #chunk(location: number): Chunk {
    const chunk = this.#chunks[location >>> OFFSET_BITS];
    assert(chunk !== null && chunk !== undefined, 'a location lies in a chunk');
    return chunk;
  }

  #addRoomyChunk(slotBytes: number): Chunk {
    const chunk = this.#addChunk(this.#spares.pop() ?? Buffer.alloc(CHUNK_BYTES), slotBytes);
    this.#link(chunk);
    return chunk;
  }

  #addChunk(bytes: Buffer, slotBytes: number): Chunk {
    const id = this.#freeIds.pop() ?? this.#chunks.length;
    assert(id < CHUNKS_MAX, 'the data of all znodes is below 16 GB');
    const links = { previous: null, next: null };
    const chunk = { id, bytes, slotBytes, used: 0, freeHead: NO_SLOT, freshOffset: 0, ...links };
    this.#chunks[id] = chunk;
    this.#reservedBytes += bytes.length;
    return chunk;
  }

  #dropChunk(chunk: Chunk): void {
    this.#chunks[chunk.id] = null;
    this.#freeIds.push(chunk.id);
    this.#reservedBytes -= chunk.bytes.length;
    if (chunk.slotBytes !== 0 && this.#spares.length < SPARES_MAX) {
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

function hasRoom(chunk: Chunk): boolean {
  return chunk.freeHead !== NO_SLOT || chunk.freshOffset + chunk.slotBytes <= CHUNK_BYTES;
}

function takeSlot(chunk: Chunk): number {
  const offset = chunk.freeHead;
  if (offset !== NO_SLOT) {
    chunk.freeHead = chunk.bytes.readInt32LE(offset);
    return offset;
  }
  const fresh = chunk.freshOffset;
  chunk.freshOffset += chunk.slotBytes;
  return fresh;
}

function slotBytesFor(bytes: number): number {
  if (bytes <= FINE_BYTES_MAX) {
    return (bytes + GRANULE - 1) & -GRANULE;
  }
  const step = 1 << (31 - Math.clz32(bytes - 1) - 3);
  return (bytes + step - 1) & -step;
}
