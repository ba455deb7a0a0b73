/**
 * Adler-32, the checksum of ZooKeeper's files, over bytes that come in parts. Node has it in zlib's
 * streams only.
 */
const BASE = 65_521;
/** Both sums of this many bytes stay below 2^31, so that the compiler adds small integers. */
const BLOCK_BYTES = 3800;
/** Bytes that are added in one step, a part of BLOCK_BYTES. */
const STEP_BYTES = 8;

export class Adler32 {
  #a = 1;
  #b = 0;

  update(bytes: Uint8Array): void {
    let a = this.#a;
    let b = this.#b;
    for (let start = 0; start < bytes.length; start += BLOCK_BYTES) {
      const end = Math.min(bytes.length, start + BLOCK_BYTES);
      let at = start;
      // `b` gets the value that `a` has after each byte: the first byte of a step counts 8 times.
      for (; at + STEP_BYTES <= end; at += STEP_BYTES) {
        const first = (bytes[at] ?? 0) | 0;
        const second = (first + (bytes[at + 1] ?? 0)) | 0;
        const third = (second + (bytes[at + 2] ?? 0)) | 0;
        const fourth = (third + (bytes[at + 3] ?? 0)) | 0;
        const fifth = (fourth + (bytes[at + 4] ?? 0)) | 0;
        const sixth = (fifth + (bytes[at + 5] ?? 0)) | 0;
        const seventh = (sixth + (bytes[at + 6] ?? 0)) | 0;
        const eighth = (seventh + (bytes[at + 7] ?? 0)) | 0;
        const sums = (first + second + third + fourth + fifth + sixth + seventh + eighth) | 0;
        b = (b + STEP_BYTES * a + sums) | 0;
        a = (a + eighth) | 0;
      }
      for (; at < end; at++) {
        a = (a + (bytes[at] ?? 0)) | 0;
        b = (b + a) | 0;
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
