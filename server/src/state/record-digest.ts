/**
 * Computes the digest of a checkpoint from its records, without the tree that they describe.
 *
 * It takes records as ReplicatedState does, in the order of their keys, and keeps none of them, so
 * a checkpoint of any size is checked in constant memory, but for the bitmaps of dead records. Used
 * for a checkpoint that has just been written from memory, and by the scrub.
 */
import { bufferOf } from '@rookery/protocol';
import { AclTable } from './acl-table.js';
import { DamagedCheckpointError, must } from './damage.js';
import { Digest } from './digest.js';
import { LEVEL } from './level.js';
import { hashName, hashPrefix } from './memory/hash.js';
import { INT } from './memory/node-store.js';
import { KNOWN_PATH_KEY } from './memory/path-hash.js';
import { BLOCK_KEY } from './node-record.js';
import { BlockReader, DEAD_KEY, isDead } from './record-blocks.js';
import { decodeSession, SESSION_KEY } from './session-record.js';
import { Tree } from './tree.js';

export class RecordDigest {
  readonly #digest = new Digest();
  readonly #acls = new AclTable();
  /** The bitmaps whose blocks have not come yet, by the keys of these without their kind. */
  readonly #dead = new Map<string, Uint8Array>();
  #hasBlocks = false;

  /** Throws DamagedCheckpointError and MarshallingError, as does `finishLoad`. */
  load(key: Uint8Array, value: Uint8Array): void {
    if (key[0] === DEAD_KEY) {
      this.#dead.set(numberText(key), Uint8Array.from(value));
    } else if (key[0] === BLOCK_KEY) {
      const number = numberText(key);
      this.#loadBlock(value, this.#dead.get(number) ?? null);
      this.#dead.delete(number);
    } else if (key[0] === SESSION_KEY) {
      const { id, session } = decodeSession(key, value);
      this.#digest.countSession(id, session, 1);
    } else {
      throw new DamagedCheckpointError(`a record has a key of kind ${key[0]}`);
    }
  }

  finishLoad({ level = LEVEL.first }: { readonly level?: number | undefined }): void {
    must(this.#dead.size === 0, 'a block is missing, but has dead records');
    // A checkpoint of a founding has no records: it is that of the znodes that always exist.
    if (!this.#hasBlocks) void new Tree(this.#digest, KNOWN_PATH_KEY);
    this.#digest.countLevel(level, 1);
  }

  digest(): string {
    return this.#digest.toString();
  }

  #loadBlock(value: Uint8Array, dead: Uint8Array | null): void {
    this.#hasBlocks = true;
    const reader = new BlockReader(value);
    const digest = this.#digest;
    let parentAt = -1;
    let prefixHash = 0;
    let isRoot = false;
    let aclAt = -1;
    let acl = { low: 0, high: 0 };
    while (reader.next()) {
      if (dead !== null && isDead(dead, reader.index)) continue;
      const { ints, bytes, at, start, end, dataBytes } = reader;
      if (parentAt !== reader.parentStart) {
        parentAt = reader.parentStart;
        const parent = bytes.toString('utf8', reader.parentStart, reader.parentEnd);
        isRoot = parent === '';
        prefixHash = hashPrefix(isRoot || parent === '/' ? '/' : `${parent}/`);
      }
      if (aclAt !== reader.aclStart) {
        aclAt = reader.aclStart;
        acl = this.#acls.hashOf(this.#acls.useEncoded(bytes, reader.aclStart, reader.aclEnd));
      }
      const content = digest.recordContent({
        pathHash: isRoot ? 0 : hashName(prefixHash, reader),
        dataBytes,
        size: end + Math.max(0, dataBytes) - start,
        part: { words: ints, bytes, at: start >>> 2 },
      });
      must(
        ints[at + INT.contentLow] === content.low && ints[at + INT.contentHigh] === content.high,
        'a record has another hash than its content',
      );
      digest.countRecord(ints, at, acl);
    }
  }
}

/** The number of a block, as it stands in the key of the block and of its bitmap. */
function numberText(key: Uint8Array): string {
  return bufferOf(key).toString('latin1', 1);
}
