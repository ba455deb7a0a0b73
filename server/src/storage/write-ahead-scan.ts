/**
 * Tells damage in a file of LevelDB's write-ahead format from a tail that a crash tore. Pure.
 *
 * LevelDB drops a bad record and the rest of its 32 KB block in silence, and so would hand out a
 * shorter log that looks whole. But batches are written one at a time, each synced before the next:
 * the beginning of a later batch that checks proves that everything before it was whole once. So
 * whatever is bad in front of one is damage; what is bad and has no later batch behind it is the
 * torn end of the last write. (A later piece of the same batch proves nothing: a power cut may keep
 * the second half of one write and lose the first.) Damage in the last batch looks like a torn one.
 */
import { assert } from '@rookery/protocol';
import { maskedCrc32c } from './crc32c.js';

export const BLOCK_BYTES = 32 * 1024;
/** Checksum (4), length (2), type (1). A shorter rest of a block stays empty. */
const HEADER_BYTES = 7;
const TYPE_AT = 6;
const ZEROS = new Uint8Array(BLOCK_BYTES);
const PIECE = { full: 1, first: 2, middle: 3, last: 4 } as const;

export interface WriteAheadDamage {
  /** The offset of the bad record in the file, in bytes. */
  readonly offset: number;
  readonly reason: string;
}

export class WriteAheadScan {
  /** The offset of a batch whose last piece has not been read yet. */
  #open: number | null = null;
  /** The first bad record. It is damage once the beginning of a later batch is found. */
  #bad: WriteAheadDamage | null = null;
  #offset = 0;
  #ended = false;

  /** Whether everything so far is whole batches. */
  get whole(): boolean {
    return this.#open === null && this.#bad === null;
  }

  /**
   * The blocks of a file in order, all but the last of BLOCK_BYTES. Stop at the first damage.
   */
  block(block: Uint8Array): WriteAheadDamage | null {
    assert(!this.#ended && block.length <= BLOCK_BYTES, 'only the last block is short, none long');
    this.#ended = block.length < BLOCK_BYTES;
    const damage = this.#scan(block);
    this.#offset += block.length;
    return damage;
  }

  #scan(block: Uint8Array): WriteAheadDamage | null {
    let at = 0;
    while (at + HEADER_BYTES <= block.length && this.#bad === null) {
      const length = pieceLength(block, at);
      if (length === null) {
        this.#bad = { offset: this.#offset + at, reason: 'a record does not check' };
        break;
      }
      const damage = this.#place(block[at + TYPE_AT], this.#offset + at);
      if (damage !== null) return damage;
      at += HEADER_BYTES + length;
    }
    if (this.#bad === null && this.#ended && at < block.length) {
      this.#bad = { offset: this.#offset + at, reason: 'the last record is cut short' };
    }
    if (this.#bad === null) return null;
    // Most of it is preallocated space, which is searched very fast.
    if (Buffer.compare(block, ZEROS.subarray(0, block.length)) === 0) return null;
    // The length of a bad record cannot be trusted, so the next record may begin anywhere.
    for (; at + HEADER_BYTES <= block.length; at++) {
      if (beginsBatch(block[at + TYPE_AT]) && pieceLength(block, at) !== null) return this.#bad;
    }
    return null;
  }

  /** Takes a sound piece. */
  #place(type: number | undefined, offset: number): WriteAheadDamage | null {
    const open = this.#open;
    const begins = beginsBatch(type);
    if (begins && open !== null) return { offset: open, reason: 'a batch has lost its end' };
    if (!begins && open === null) return { offset, reason: 'a batch has lost its beginning' };
    if (type === PIECE.first) this.#open = offset;
    if (type === PIECE.last) this.#open = null;
    return null;
  }
}

/** Yields views of the beginning of each batch, up to the first bad piece. */
export function* batchBeginnings(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += BLOCK_BYTES) {
    const block = bytes.subarray(start, start + BLOCK_BYTES);
    for (let at = 0; at + HEADER_BYTES <= block.length; ) {
      const length = pieceLength(block, at);
      if (length === null) return;
      const payload = block.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length);
      if (beginsBatch(block[at + TYPE_AT])) yield payload;
      at += HEADER_BYTES + length;
    }
  }
}

function beginsBatch(type: number | undefined): boolean {
  return type === PIECE.full || type === PIECE.first;
}

/** The payload size of the piece that begins here; null if there is no sound one. */
function pieceLength(block: Uint8Array, at: number): number | null {
  const type = block[at + TYPE_AT] ?? 0;
  if (type < PIECE.full || type > PIECE.last) return null;
  const length = (block[at + 4] ?? 0) | ((block[at + 5] ?? 0) << 8);
  const end = at + HEADER_BYTES + length;
  if (end > block.length) return null;
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  return view.getUint32(at, true) === maskedCrc32c(block, at + TYPE_AT, end) ? length : null;
}
