/**
 * Reads files whose size others decide: a device never ends, and a file may grow while it is read.
 */
import { closeSync, openSync, readSync } from 'node:fs';

const PART_BYTES = 16_384;

/** More than a file of settings, a list of users or a certificate needs. */
export const SMALL_FILE_BYTES_MAX = 8 << 20;

/** Throws the system's error, or an Error with a sentence for a file with more bytes. */
export function readFileUpTo(path: string, bytesMax: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const content = readOpenUpTo(file, bytesMax);
    if (content !== null) return content;
  } finally {
    closeSync(file);
  }
  throw new Error(`it has more than ${bytesMax} bytes`);
}

/** Returns null where the file, which stays open, has more bytes. */
export function readOpenUpTo(file: number, bytesMax: number): Buffer | null {
  const parts: Buffer[] = [];
  let length = 0;
  for (;;) {
    const part = Buffer.alloc(PART_BYTES);
    const bytes = readSync(file, part);
    if (bytes === 0) return Buffer.concat(parts, length);
    length += bytes;
    if (length > bytesMax) return null;
    parts.push(part.subarray(0, bytes));
  }
}
