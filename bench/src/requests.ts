/**
 * What the generator asks for: requests made once and copied, only xid and path digits patched.
 *
 * Owns the key space: `<root>/k0000..` for reads and writes, `<root>/c<connection>/<number>` for
 * creates, with values of random bytes, because a store that compresses would shine with zeros.
 * A source belongs to one connection. Knows nothing of sockets, time or results.
 */
import { randomBytes } from 'node:crypto';
import {
  type Codec,
  CreateRequest,
  JuteWriter,
  OpCode,
  PathWatchRequest,
  RequestHeader,
  SetDataRequest,
  STAT_BYTES,
  unreachable,
} from '@rookery/protocol';

export const OPERATIONS = ['getData', 'setData', 'create', 'mixed70'] as const;
export type OperationName = (typeof OPERATIONS)[number];

/** Gives the requests of one connection, one after the other. */
export interface RequestSource {
  readonly requestBytesMax: number;
  /** Length that a successful reply to the request written last must have, header included. */
  readonly replyBytes: number;
  /** Writes the next whole frame; 0 when there is none any more. */
  write(target: Buffer, offset: number, xid: number): number;
}

export interface KeySpace {
  readonly root: string;
  readonly keys: number;
  readonly valueBytes: number;
}

const REPLY_HEADER_BYTES = 16;
/** Of a frame: its length, then the xid. */
const XID_OFFSET = 4;
const CREATE_DIGITS = 9;
const READ_PERCENT = 70;
const WORLD = [{ perms: 31, scheme: 'world', id: 'anyone' }];

/** The load of one connection; endless. */
export function loadSource(
  operation: OperationName,
  space: KeySpace,
  connection: number,
): RequestSource {
  switch (operation) {
    case 'getData':
      return new KeySource(space, connection, 100);
    case 'setData':
      return new KeySource(space, connection, 0);
    case 'mixed70':
      return new KeySource(space, connection, READ_PERCENT);
    case 'create':
      return new CreateSource(space, connection);
    default:
      unreachable(operation);
  }
}

/** Creates the root and every key, and ends. */
export function keysSource(space: KeySpace): RequestSource {
  const paths = Array.from({ length: space.keys }, (_, key) => keyPath(space, key));
  return new CreateOnceSource([space.root, ...paths], space.valueBytes);
}

/** Creates the parent of what `connection` will create, and ends. */
export function parentSource(space: KeySpace, connection: number): RequestSource {
  return new CreateOnceSource([`${space.root}/c${connection}`], space.valueBytes);
}

/** Reads and writes of random keys, in a mix. */
class KeySource implements RequestSource {
  readonly requestBytesMax: number;
  replyBytes = 0;
  readonly #reads: readonly Buffer[];
  readonly #writes: readonly Buffer[];
  readonly #readPercent: number;
  readonly #readReplyBytes: number;
  #random: number;

  constructor(space: KeySpace, connection: number, readPercent: number) {
    const paths = Array.from({ length: space.keys }, (_, key) => keyPath(space, key));
    const data = randomBytes(space.valueBytes);
    this.#reads = paths.map((path) =>
      frameOf(OpCode.getData, PathWatchRequest, { path, watch: false }),
    );
    this.#writes = paths.map((path) =>
      frameOf(OpCode.setData, SetDataRequest, { path, data, version: -1 }),
    );
    this.#readPercent = readPercent;
    this.#readReplyBytes = REPLY_HEADER_BYTES + 4 + space.valueBytes + STAT_BYTES;
    this.requestBytesMax = Math.max(longest(this.#reads), longest(this.#writes));
    // Spread out, so that no two connections walk the same keys.
    this.#random = (connection + 1) * 7_919;
  }

  write(target: Buffer, offset: number, xid: number): number {
    this.#random = (this.#random * 48_271) % 2_147_483_647;
    const isRead = this.#random % 100 < this.#readPercent;
    const frames = isRead ? this.#reads : this.#writes;
    this.replyBytes = isRead ? this.#readReplyBytes : REPLY_HEADER_BYTES + STAT_BYTES;
    const key = Math.floor(this.#random / 100) % frames.length;
    return copyRequest(frames[key], { target, offset, xid });
  }
}

/** Creates znodes of ever new names under the connection's own parent. */
class CreateSource implements RequestSource {
  readonly requestBytesMax: number;
  readonly replyBytes: number;
  readonly #frame: Buffer;
  readonly #digitsAt: number;
  #next = 0;

  constructor(space: KeySpace, connection: number) {
    const path = `${space.root}/c${connection}/${'0'.repeat(CREATE_DIGITS)}`;
    const data = randomBytes(space.valueBytes);
    this.#frame = frameOf(OpCode.create, CreateRequest, { path, data, acl: WORLD, flags: 0 });
    // Length, xid, opcode, the path's own length; all of 4 bytes.
    this.#digitsAt = 16 + path.length - CREATE_DIGITS;
    this.requestBytesMax = this.#frame.length;
    this.replyBytes = REPLY_HEADER_BYTES + 4 + path.length;
  }

  write(target: Buffer, offset: number, xid: number): number {
    const bytes = copyRequest(this.#frame, { target, offset, xid });
    let number = this.#next++;
    for (let digit = CREATE_DIGITS - 1; digit >= 0; digit--) {
      target[offset + this.#digitsAt + digit] = 48 + (number % 10);
      number = Math.floor(number / 10);
    }
    return bytes;
  }
}

/** Creates each of the paths once. */
class CreateOnceSource implements RequestSource {
  readonly requestBytesMax: number;
  replyBytes = 0;
  readonly #frames: readonly Buffer[];
  readonly #paths: readonly string[];
  #next = 0;

  constructor(paths: readonly string[], valueBytes: number) {
    const data = randomBytes(valueBytes);
    this.#paths = paths;
    this.#frames = paths.map((path) =>
      frameOf(OpCode.create, CreateRequest, { path, data, acl: WORLD, flags: 0 }),
    );
    this.requestBytesMax = longest(this.#frames);
  }

  write(target: Buffer, offset: number, xid: number): number {
    this.replyBytes = REPLY_HEADER_BYTES + 4 + (this.#paths[this.#next]?.length ?? 0);
    return copyRequest(this.#frames[this.#next++], { target, offset, xid });
  }
}

interface Place {
  readonly target: Buffer;
  readonly offset: number;
  readonly xid: number;
}

function copyRequest(frame: Buffer | undefined, place: Place): number {
  if (frame === undefined) return 0;
  const { target, offset, xid } = place;
  target.set(frame, offset);
  target[offset + XID_OFFSET] = xid >>> 24;
  target[offset + XID_OFFSET + 1] = xid >>> 16;
  target[offset + XID_OFFSET + 2] = xid >>> 8;
  target[offset + XID_OFFSET + 3] = xid;
  return frame.length;
}

/** One request as a frame of its own; for what is not repeated, and as a template. */
export function frameOf<T>(type: number, codec: Codec<T>, value: T): Buffer {
  const writer = new JuteWriter();
  writer.beginFrame();
  RequestHeader.write(writer, { xid: 0, type });
  codec.write(writer, value);
  writer.endFrame();
  return Buffer.from(writer.take());
}

function keyPath(space: KeySpace, key: number): string {
  return `${space.root}/k${String(key).padStart(6, '0')}`;
}

function longest(frames: readonly Buffer[]): number {
  return frames.reduce((bytes, frame) => Math.max(bytes, frame.length), 0);
}
