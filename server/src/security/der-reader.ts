/**
 * Reads DER, the encoding of certificates, one value after the other. Every length is checked
 * against what there is; what is not DER throws DerError. Called by x509-name.ts.
 */

export class DerError extends Error {
  override readonly name = 'DerError';
}

export const TAG = { oid: 0x06, sequence: 0x30, set: 0x31, version: 0xa0 } as const;

interface DerValue {
  readonly tag: number;
  /** The content. */
  readonly bytes: Uint8Array;
  /** Tag, length and content. */
  readonly whole: Uint8Array;
}

/** No length in a certificate takes more bytes. */
const LENGTH_BYTES_MAX = 4;

export class DerReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  next(): DerValue {
    const start = this.#at;
    const tag = this.#byte();
    if ((tag & 0x1f) === 0x1f) throw new DerError('a tag of several bytes');
    const length = this.#length();
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new DerError(`${length} bytes from ${this.#at} on`);
    const value = {
      tag,
      bytes: this.#bytes.subarray(this.#at, end),
      whole: this.#bytes.subarray(start, end),
    };
    this.#at = end;
    return value;
  }

  bytesOf(tag: number): Uint8Array {
    const value = this.next();
    if (value.tag !== tag) throw new DerError(`tag ${value.tag} in place of ${tag}`);
    return value.bytes;
  }

  /** Reads a value that consists of values. */
  enter(tag: number): DerReader {
    return new DerReader(this.bytesOf(tag));
  }

  skip(): void {
    this.next();
  }

  maybeSkip(tag: number): void {
    if (this.#bytes[this.#at] === tag) this.next();
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new DerError(`nothing at ${this.#at}`);
    this.#at += 1;
    return byte;
  }

  #length(): number {
    const first = this.#byte();
    if (first < 0x80) return first;
    const count = first & 0x7f;
    if (count === 0 || count > LENGTH_BYTES_MAX) throw new DerError(`a length of ${count} bytes`);
    let length = 0;
    for (let byte = 0; byte < count; byte++) length = length * 256 + this.#byte();
    return length;
  }
}
