/**
 * Reads what a user names as input, up to a bound and until Ctrl-C: files, pipes and devices, some
 * of which never end, and some of which never begin.
 */
import { closeSync, constants, fstatSync, openSync, read } from 'node:fs';
import { Socket } from 'node:net';
import { Transform, type TransformCallback } from 'node:stream';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';
import { OperatorError } from '@rookery/server';

/** No server takes a request that is larger: see `frameBytesMax`. */
export const INPUT_BYTES_MAX = 32 << 20;

const NEWLINE = 0x0a;
const PART_BYTES = 64 << 10;
const readPart = promisify(read);

interface Bounds {
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

/** Rejects with OperatorError, with the system's error, or with the reason of the signal. */
export async function readFileWithin(path: string, bounds: Bounds): Promise<Buffer> {
  // Opening a named pipe would otherwise wait for its writer in a thread, which nothing can end.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  if (fstatSync(file).isFIFO()) {
    // It owns the file from now on.
    const pipe = new Socket({ fd: file, readable: true, writable: false });
    try {
      return await readStreamWithin(pipe, {
        what: path,
        bytesMax: bounds.bytesMax,
        signal: bounds.signal,
      });
    } finally {
      pipe.destroy();
    }
  }
  try {
    if (isatty(file)) throw new OperatorError(`${path} is a terminal: use - to type the data.`);
    return await readOpenWithin(file, path, bounds);
  } finally {
    closeSync(file);
  }
}

async function readOpenWithin(
  file: number,
  path: string,
  { bytesMax, signal }: Bounds,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    signal.throwIfAborted();
    const buffer = Buffer.allocUnsafeSlow(PART_BYTES);
    const { bytesRead } = await readPart(file, { buffer });
    if (bytesRead === 0) return Buffer.concat(parts, bytes);
    bytes += bytesRead;
    if (bytes > bytesMax) throw tooLarge(path, bytesMax);
    parts.push(buffer.subarray(0, bytesRead));
  }
}

/** Leaves the rest of the stream unread. Rejects as above. */
export async function readStreamWithin(
  stream: NodeJS.ReadableStream,
  { what, bytesMax, signal }: Bounds & { readonly what: string },
): Promise<Buffer> {
  signal.throwIfAborted();
  const chunks = stream[Symbol.asyncIterator]();
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for (;;) {
      const { value, done } = await Promise.race([chunks.next(), aborted]);
      if (done === true) return Buffer.concat(parts, bytes);
      const part = Buffer.from(value);
      bytes += part.length;
      if (bytes > bytesMax) throw tooLarge(what, bytesMax);
      parts.push(part);
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Passes on lines, for a reader that holds one of them whatever its length. The input ends before a
 * line that is too long, which the reader has to ask for.
 */
export class BoundedLines extends Transform {
  #lineBytes = 0;
  #isTooLong = false;

  /** Throws OperatorError where the input has ended before a line that is too long. */
  requireWhole(): void {
    if (!this.#isTooLong) return;
    throw new OperatorError(
      `A line of standard input has more than ${INPUT_BYTES_MAX} bytes: it is not carried out.`,
    );
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.#isTooLong) {
      done();
      return;
    }
    const lastEnd = chunk.lastIndexOf(NEWLINE);
    this.#lineBytes = lastEnd < 0 ? this.#lineBytes + chunk.length : chunk.length - lastEnd - 1;
    this.#isTooLong = this.#lineBytes > INPUT_BYTES_MAX;
    done(null, this.#isTooLong ? null : chunk);
  }
}

function tooLarge(what: string, bytesMax: number): OperatorError {
  return new OperatorError(
    `${what} has more than ${bytesMax} bytes, which is more than any server takes.`,
  );
}
