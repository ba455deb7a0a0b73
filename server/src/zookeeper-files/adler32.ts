/**
 * Adler-32, the checksum of ZooKeeper's files, over bytes that come in parts. Node has it in zlib's
 * streams only.
 */
const BASE = 65_521;
/** The sums of this many bytes stay below 2^53, and below 2^32 as in zlib. */
const BLOCK_BYTES = 5552;

export class Adler32 {
  #a = 1;
  #b = 0;

  update(bytes: Uint8Array): void {
    let a = this.#a;
    let b = this.#b;
    for (let start = 0; start < bytes.length; start += BLOCK_BYTES) {
      const end = Math.min(bytes.length, start + BLOCK_BYTES);
      for (let at = start; at < end; at++) {
        a += bytes[at] ?? 0;
        b += a;
      }
      a %= BASE;
      b %= BASE;
    }
    this.#a = a;
    this.#b = b;
  }

  /** The checksum of all bytes so far, unsigned. */
  get value(): number {
    return this.#b * 65_536 + this.#a;
  }
}
