/**
 * Puts an entry of a backup's stream together of the chunks in which it comes: kind (1 byte),
 * length of the key, length of the value (4 bytes each, big-endian), key, value.
 *
 * An entry is a block of a checkpoint as a rule, larger than a chunk. All entries use the same
 * memory, one after the other. Called by `readBackup`.
 */
import { DamagedError } from '../storage/index.js';

export const ENTRY_HEAD_BYTES = 9;
/** Beyond the largest block of a checkpoint and the largest batch of a log. */
const ENTRY_BYTES_MAX = 256 << 20;
const WORD_BYTES = 4;

export class EntryAssembly {
  readonly #head = Buffer.alloc(ENTRY_HEAD_BYTES);
  #headBytes = 0;
  #body = Buffer.alloc(0);
  /**
   * Where the key begins in the body. The value begins at a multiple of 4 bytes, and so do the
   * words of a block, which follow its checksum: words elsewhere would be copied once more.
   */
  #start = 0;
  /** Where the bytes end that have come. */
  #end = 0;

  get isEmpty(): boolean {
    return this.#headBytes === 0;
  }
  get isWhole(): boolean {
    return this.#headBytes === ENTRY_HEAD_BYTES && this.#end === this.#start + this.#bytes;
  }
  get kind(): number {
    return this.#head[0] ?? 0;
  }
  /** The key and the value are valid until the next entry. */
  get key(): Uint8Array {
    return this.#body.subarray(this.#start, this.#start + this.#keyBytes);
  }
  get value(): Uint8Array {
    return this.#body.subarray(this.#start + this.#keyBytes, this.#end);
  }

  begin(): void {
    this.#headBytes = 0;
  }

  /**
   * Takes what belongs to the entry, and returns where the rest of the chunk begins. Throws
   * DamagedError.
   */
  take(chunk: Uint8Array, from: number): number {
    let at = from;
    if (this.#headBytes < ENTRY_HEAD_BYTES) {
      const taken = Math.min(ENTRY_HEAD_BYTES - this.#headBytes, chunk.length - at);
      this.#head.set(chunk.subarray(at, at + taken), this.#headBytes);
      this.#headBytes += taken;
      at += taken;
      if (this.#headBytes < ENTRY_HEAD_BYTES) return at;
      this.#beginBody();
    }
    const taken = Math.min(this.#start + this.#bytes - this.#end, chunk.length - at);
    this.#body.set(chunk.subarray(at, at + taken), this.#end);
    this.#end += taken;
    return at + taken;
  }

  #beginBody(): void {
    const bytes = this.#bytes;
    if (bytes > ENTRY_BYTES_MAX) throw new DamagedError('an entry is too large');
    this.#start = -this.#keyBytes & (WORD_BYTES - 1);
    this.#end = this.#start;
    const needed = this.#start + bytes;
    if (needed > this.#body.length) this.#body = Buffer.allocUnsafeSlow(powerOfTwo(needed));
  }

  get #keyBytes(): number {
    return this.#head.readUInt32BE(1);
  }
  /** The bytes of key and value together. */
  get #bytes(): number {
    return this.#keyBytes + this.#head.readUInt32BE(5);
  }
}

/** The first one that is not below `size`: blocks differ a little, and few of them take more. */
function powerOfTwo(size: number): number {
  return 1 << (32 - Math.clz32(size - 1));
}
