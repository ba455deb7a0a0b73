/**
 * The format of entries in Curator's queues, which have one or more items: 4 bytes of version,
 * 0x00010001; for each item 0x01, its length (4 bytes) and its bytes; 0x02 at the end. All numbers
 * are big-endian. Pure.
 */
import type { Codec } from '../../api/codec.js';
import { ClientError } from '../../api/errors.js';
import { bytes } from '../../helpers/codecs.js';

/** The data of an entry is not in this format: another program wrote it, or it is damaged. */
export class QueueFormatError extends ClientError {
  override readonly name = 'QueueFormatError';
  override readonly code = 'QUEUE_FORMAT';
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${problem}: ${path}`);
    this.path = path;
  }
}

const VERSION = 0x0001_0001;
const ITEM = 0x01;
const END = 0x02;
const HEAD_BYTES = 5;

export function encodeItems(items: readonly (Uint8Array | string)[]): Buffer {
  const version = Buffer.alloc(4);
  version.writeInt32BE(VERSION);
  const parts: Uint8Array[] = [version];
  for (const item of items) {
    const bytes = typeof item === 'string' ? Buffer.from(item) : item;
    const head = Buffer.alloc(HEAD_BYTES, ITEM);
    head.writeInt32BE(bytes.length, 1);
    parts.push(head, bytes);
  }
  parts.push(Buffer.of(END));
  return Buffer.concat(parts);
}

/** Without a codec an item is bytes: written from bytes or a string, read as a view of the data. */
export type RawItem = Uint8Array | string;

/** Determines how the items of a queue are written and read. */
export class ItemCodec<T, In> {
  readonly #codec: Codec<T, In>;

  constructor(codec: Codec<T, In> | undefined) {
    // Without a codec, T and In are the types of bytes, as the queues' type parameters say.
    this.#codec = codec ?? (bytes as Codec<unknown, never> as Codec<T, In>);
  }

  /** Throws the errors of the codec; `path` is that of the queue. */
  encode(items: readonly In[], path: string): Buffer {
    return encodeItems(items.map((item) => this.#codec.format(item, path) ?? ''));
  }

  /** Throws QueueFormatError, or the errors of the codec. */
  decode(data: Buffer | null, path: string): T[] {
    return decodeItems(data, path).map((item) => this.#codec.parse(item, path));
  }
}

/** The items, as views of the data. What follows the end marker is ignored, as in Curator. */
export function decodeItems(data: Buffer | null, path: string): Buffer[] {
  if (data === null || data.length < 4) throw new QueueFormatError(path, 'there is no version');
  const version = data.readInt32BE(0);
  if (version !== VERSION) throw new QueueFormatError(path, `the version is ${version}`);
  const items: Buffer[] = [];
  let at = 4;
  for (;;) {
    const kind = data[at];
    if (kind === END) return items;
    if (kind !== ITEM) throw new QueueFormatError(path, `neither item nor end at byte ${at}`);
    const sizeBytes = at + HEAD_BYTES <= data.length ? data.readInt32BE(at + 1) : -1;
    const start = at + HEAD_BYTES;
    if (sizeBytes < 0 || start + sizeBytes > data.length) {
      throw new QueueFormatError(path, `an item at byte ${at} is cut off`);
    }
    items.push(data.subarray(start, start + sizeBytes));
    at = start + sizeBytes;
  }
}
