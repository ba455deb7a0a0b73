/**
 * Writes and reads the stream that carries a backup of a running member: the records of its
 * checkpoint, the log after it, and an end marker without which it is incomplete.
 *
 *     entry: kind (1 byte), length of a, length of b (4 bytes each, big-endian), a, b
 *     'r': a record of the checkpoint, key and value;  'b': a batch of proposals, and nothing
 *     'e': the zxid of the state (8 bytes), and its digest in hex where the member knew it
 *
 * The member copies what its disk has; the reader makes a state of it.
 */
import { isZxid, MarshallingError, ProposalBatch, type Zxid } from '@rookery/protocol';
import { IGNORE_CHANGES, ReplicatedState } from '../state/replicated-state.js';
import { txnOf } from '../state/txn-codec.js';
import { CHECKPOINT_KEY, type Checkpoint, parseCheckpoint } from '../storage/checkpoint.js';
import { DamagedError, type TreeRecord } from '../storage/index.js';
import { verifiedPayload } from '../storage/records.js';
import { TRAILER_KEY } from '../storage/snapshot-source.js';

const KIND = { record: 0x72, batch: 0x62, end: 0x65 } as const;
const NOTHING = new Uint8Array(0);
/** Larger parts of an entry are written as they are, and not copied into a buffer with others. */
const COPIED_BYTES_MAX = 8 << 10;

export interface StreamedBackup {
  readonly zxid: Zxid;
  readonly digest: string | null;
  records(): AsyncIterable<readonly TreeRecord[]>;
  batches(): AsyncIterable<ProposalBatch>;
}

export interface OpenedBackup extends StreamedBackup {
  /** Safe to call again. */
  close(): Promise<void>;
}

export async function* encodedBackup(source: StreamedBackup): AsyncGenerator<Uint8Array> {
  for await (const records of source.records()) yield* encoded(KIND.record, records);
  for await (const { bytes } of source.batches()) yield* encoded(KIND.batch, [[bytes, NOTHING]]);
  const zxid = Buffer.alloc(8);
  zxid.writeBigUInt64BE(BigInt(source.zxid));
  yield* encoded(KIND.end, [[zxid, Buffer.from(source.digest ?? '')]]);
}

/** Rejects with DamagedError for a stream that is damaged, or that ended before its end. */
export async function readBackup(chunks: AsyncIterable<Uint8Array>): Promise<ReplicatedState> {
  const reader = new BackupReader();
  const entry = new EntryAssembly();
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      at = entry.take(chunk, at);
      if (!entry.isWhole) break;
      reader.entry(entry.kind, entry.key, entry.value);
      entry.begin();
    }
  }
  if (!entry.isEmpty) throw new DamagedError('the backup ends within an entry');
  return reader.finish();
}

class BackupReader {
  readonly #state = new ReplicatedState();
  #checkpoint: Checkpoint | null = null;
  #isLoaded = false;
  #isWhole = false;

  entry(kind: number, key: Uint8Array, value: Uint8Array): void {
    if (this.#isWhole) throw new DamagedError('something follows the end of the backup');
    if (kind === KIND.record) this.#record(key, value);
    else if (kind === KIND.batch) this.#batch(key);
    else if (kind === KIND.end) this.#end(key, Buffer.from(value).toString('latin1'));
    else throw new DamagedError(`the backup has an entry of the unknown kind ${kind}`);
  }

  finish(): ReplicatedState {
    if (!this.#isWhole) throw new DamagedError('the backup was cut off before its end');
    return this.#state;
  }

  #record(key: Uint8Array, stored: Uint8Array): void {
    const value = verifiedPayload(key, stored);
    if (value === null) throw new DamagedError('a record has a wrong checksum');
    if (isKey(key, CHECKPOINT_KEY)) this.#checkpoint = parseCheckpoint('the backup', stored);
    else if (isKey(key, TRAILER_KEY)) this.#loaded();
    else this.#state.load(key, value);
  }

  #loaded(): void {
    const checkpoint = this.#checkpoint;
    if (checkpoint === null) throw new DamagedError('the backup has no checkpoint');
    this.#state.finishLoad(checkpoint);
    this.#isLoaded = true;
    if (this.#state.digest() === checkpoint.digest) return;
    throw new DamagedError('the digest of the backup is not that of its checkpoint');
  }

  #batch(bytes: Uint8Array): void {
    if (!this.#isLoaded) throw new DamagedError('a batch comes before the end of the checkpoint');
    try {
      for (const proposal of ProposalBatch.parse(Uint8Array.from(bytes))) {
        this.#state.apply(proposal.zxid, txnOf(proposal), IGNORE_CHANGES);
      }
    } catch (error) {
      if (!(error instanceof MarshallingError)) throw error;
      throw new DamagedError(`a batch cannot be read: ${error.message}`, { cause: error });
    }
  }

  #end(zxidBytes: Uint8Array, digest: string): void {
    const zxid = Number(Buffer.from(zxidBytes).readBigUInt64BE());
    if (!this.#isLoaded || !isZxid(zxid) || zxid !== this.#state.lastZxid) {
      throw new DamagedError('the backup does not end at its zxid');
    }
    if (digest !== '' && digest !== this.#state.digest()) {
      throw new DamagedError("the digest of the backup is not the member's");
    }
    this.#isWhole = true;
  }
}

/**
 * The entries of one kind: small parts are copied into one buffer, large ones are yielded as they
 * are. A copy of what is large, or a buffer for each part, would be garbage that the member's
 * collector clears away in pauses that clients notice.
 */
function* encoded(kind: number, entries: readonly TreeRecord[]): Generator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(entries.reduce((sum, entry) => sum + copiedBytes(entry), 0));
  let [start, at] = [0, 0];
  for (const entry of entries) {
    const [key, value] = entry;
    buffer[at] = kind;
    buffer.writeUInt32BE(key.length, at + 1);
    buffer.writeUInt32BE(value.length, at + 5);
    at += ENTRY_HEAD_BYTES;
    for (const part of entry) {
      if (isCopied(part)) {
        buffer.set(part, at);
        at += part.length;
        continue;
      }
      yield buffer.subarray(start, at);
      yield part;
      start = at;
    }
  }
  if (at > start) yield buffer.subarray(start, at);
}

/** How many bytes of the buffer an entry takes. */
function copiedBytes(parts: TreeRecord): number {
  return parts.reduce((sum, part) => sum + (isCopied(part) ? part.length : 0), ENTRY_HEAD_BYTES);
}

function isCopied(part: Uint8Array): boolean {
  return part.length <= COPIED_BYTES_MAX;
}

function isKey(key: Uint8Array, expected: Uint8Array): boolean {
  return Buffer.compare(key, expected) === 0;
}

const ENTRY_HEAD_BYTES = 9;
/** Beyond the largest block of a checkpoint and the largest batch of a log. */
const ENTRY_BYTES_MAX = 256 << 20;
const WORD_BYTES = 4;

/**
 * Puts an entry of a backup's stream together of the chunks in which it comes: kind (1 byte),
 * length of the key, length of the value (4 bytes each, big-endian), key, value.
 *
 * An entry is a block of a checkpoint as a rule, larger than a chunk. All entries use the same
 * memory, one after the other. Called by `readBackup`.
 */
class EntryAssembly {
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
