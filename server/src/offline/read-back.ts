/**
 * Proves that a file which was written has what was meant to be in it: its content is summed up on
 * the way to the file, and again, decompressed, on the way back from it.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { crc32, createGunzip } from 'node:zlib';
import { OperatorError } from '../config/operator-error.js';

/** Large chunks, because each is a wait for another thread. */
const CHUNK_BYTES = 1 << 20;
const DIFFERS = 'was read again and is not what was written';

/** The length and the CRC-32 of bytes that come in parts. */
export class ContentSum {
  #bytes = 0;
  #crc = 0;

  /** Yields the parts as they are. */
  *over(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
    for (const part of parts) {
      this.add(part);
      yield part;
    }
  }

  add(part: Uint8Array): void {
    this.#bytes += part.length;
    this.#crc = crc32(part, this.#crc);
  }

  equals(other: ContentSum): boolean {
    return this.#bytes === other.#bytes && this.#crc === other.#crc;
  }
}

export interface Written {
  readonly isCompressed: boolean;
  /** The sum of what was written, before it was compressed. */
  readonly content: ContentSum;
}

/**
 * Resolves with the SHA-256 of the file in hex. Rejects with OperatorError where the file does not
 * have the content, and with the system's errors.
 */
export async function readBack(path: string, written: Written): Promise<string> {
  const hash = createHash('sha256');
  const content = new ContentSum();
  async function* hashed(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  }
  async function sum(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const chunk of chunks) content.add(chunk);
  }
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  try {
    if (written.isCompressed) {
      await pipeline(file, hashed, createGunzip({ chunkSize: CHUNK_BYTES }), sum);
    } else {
      await pipeline(file, hashed, sum);
    }
  } catch (error) {
    if (!isOfZlib(error)) throw error;
    throw new OperatorError(`${path} ${DIFFERS}: ${error.message}`, { cause: error });
  }
  if (!content.equals(written.content)) throw new OperatorError(`${path} ${DIFFERS}`);
  return hash.digest('hex');
}

function isOfZlib(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && `${error.code}`.startsWith('Z_');
}
