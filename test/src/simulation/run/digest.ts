/**
 * A running digest of numbers and texts: two 32-bit hashes with different constants.
 *
 * It shows whether two runs went the same way; it is no protection against malice. It is cheap
 * enough for everything that a run records: no string is built and nothing is allocated. Recorder
 * uses it.
 */
export class RunningDigest {
  #first = 0x811c9dc5;
  #second = 0x2545f491;
  readonly #double = new Float64Array(1);
  readonly #halves = new Uint32Array(this.#double.buffer);

  number(value: number): void {
    if ((value | 0) === value) {
      this.#mix(value);
      return;
    }
    this.#double[0] = value;
    this.#mix(this.#halves[0] ?? 0);
    this.#mix(this.#halves[1] ?? 0);
  }

  text(value: string): void {
    this.#mix(value.length);
    for (let at = 0; at < value.length; at++) this.#mix(value.charCodeAt(at));
  }

  bytes(value: Uint8Array): void {
    this.#mix(value.length);
    for (const byte of value) this.#mix(byte);
  }

  /** Returns 16 hex digits; the digest continues. */
  hex(): string {
    return [this.#first, this.#second]
      .map((half) => (half >>> 0).toString(16).padStart(8, '0'))
      .join('');
  }

  #mix(word: number): void {
    const first = this.#first ^ Math.imul(word, 0xcc9e2d51);
    this.#first = Math.imul((first << 13) | (first >>> 19), 5) + 0x38495ab5;
    const second = this.#second ^ Math.imul(word, 0x85ebca6b);
    this.#second = Math.imul((second << 15) | (second >>> 17), 9) + 0x52dce729;
  }
}
