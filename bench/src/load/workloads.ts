/**
 * What a load requests: a table of workloads, and for each connection the source of its requests.
 *
 * Values are random bytes, because zeros would favour a store that compresses. A source belongs to
 * one connection, walks its own random keys and knows nothing of sockets, time or results. Which
 * znodes must exist beforehand is in `setup.ts`.
 */
import { randomBytes } from 'node:crypto';
import {
  CreateRequest,
  GetChildrenPageRequest,
  MultiRequest,
  OpCode,
  PathVersionRequest,
  PathWatchRequest,
  SetDataRequest,
  STAT_BYTES,
  unreachable,
  viewOf,
} from '@rookery/protocol';
import {
  copyFrame,
  copyShort,
  fourDigits,
  frameOf,
  type Place,
  patchDigits,
  placesOf,
  REPLY_HEADER_BYTES,
  SHORT_BYTES,
  WORLD,
  XID_OFFSET,
} from './frames.js';
import {
  DIRECTORY_DIGITS_AT,
  directoryOf,
  hotPath,
  KEY_DIGITS_AT,
  KEY_LETTER,
  KEY_PLACEHOLDER,
  KEYS_PER_DIRECTORY,
  type KeySpace,
  parentPath,
} from './key-space.js';

export type Workload =
  | { readonly kind: 'mix'; readonly readPercent: number }
  /** Creates new znodes without end, each connection under a parent of its own. */
  | { readonly kind: 'create' }
  /**
   * All connections create under the one hot parent, with numbers without gaps; ends when it has
   * `children`.
   */
  | { readonly kind: 'createHot'; readonly children: number }
  /**
   * Creates a znode, deletes it, and continues with the next; each of both counts as an operation.
   */
  | { readonly kind: 'createDelete' }
  /** One multi sets the data of this many keys. */
  | { readonly kind: 'multi'; readonly operations: number }
  /** Creates every key once, with the keys dealt to the connections round-robin, and ends. */
  | { readonly kind: 'fill' }
  /** Lists all names of the one hot parent. */
  | { readonly kind: 'getChildren' }
  /**
   * Lists a page of its names from a random position, with an opcode that ZooKeeper does not have.
   */
  | { readonly kind: 'getPage'; readonly limit: number; readonly children: number };

/** Produces the requests of one connection, one after the other. */
export interface RequestSource {
  readonly requestBytesMax: number;
  /**
   * The length that a successful reply to the last request must have; ANY_LENGTH if any is right.
   */
  readonly replyBytes: number;
  /** Writes the next whole frame; returns 0 if there are no more. */
  write(target: Buffer, offset: number, xid: number): number;
}

export const ANY_LENGTH = -1;
const CREATE_DIGITS = 10;
const CREATE_PLACEHOLDER = '#'.repeat(CREATE_DIGITS);
const MULTI_HEADER_BYTES = 9;

/** Makes the load of connection number `connection` of `connections`. */
export function sourceOf(
  workload: Workload,
  space: KeySpace,
  slot: { readonly connection: number; readonly connections: number },
): RequestSource {
  const { connection } = slot;
  switch (workload.kind) {
    case 'mix':
      return new MixSource(space, connection, workload.readPercent);
    case 'create':
      return new CreateSource(space, parentPath(space, connection), {
        first: 0,
        step: 1,
        end: Number.POSITIVE_INFINITY,
      });
    case 'createHot':
      return new CreateSource(space, hotPath(space), {
        first: connection,
        step: slot.connections,
        end: workload.children,
      });
    case 'createDelete':
      return new CreateDeleteSource(space, parentPath(space, connection));
    case 'multi':
      return new MultiSource(space, connection, workload.operations);
    case 'fill':
      return new FillSource(space, slot);
    case 'getChildren':
      return new ChildrenSource(space);
    case 'getPage':
      return new PageSource(space, connection, workload);
    default:
      return unreachable(workload);
  }
}

/** Creates each of the paths once, and ends. */
export class CreateOnceSource implements RequestSource {
  readonly requestBytesMax: number;
  replyBytes = 0;
  readonly #paths: readonly string[];
  readonly #data: Buffer;
  #next = 0;

  constructor(paths: readonly string[], valueBytes: number) {
    this.#paths = paths;
    this.#data = randomBytes(valueBytes);
    const longest = paths.reduce((path, other) => (other.length > path.length ? other : path), '');
    this.requestBytesMax = this.#frameOf(longest).length;
  }

  write(target: Buffer, offset: number, xid: number): number {
    const path = this.#paths[this.#next++];
    if (path === undefined) return 0;
    this.replyBytes = REPLY_HEADER_BYTES + 4 + path.length;
    return copyFrame(this.#frameOf(path), { target, offset, xid });
  }

  #frameOf(path: string): Buffer {
    return frameOf(OpCode.create, CreateRequest, { path, data: this.#data, acl: WORLD, flags: 0 });
  }
}

/** Random numbers that cost nothing and differ from connection to connection (xorshift). */
class Random {
  #state: number;

  constructor(connection: number) {
    this.#state = Math.imul(connection + 1, 0x9e37_79b1) | 1;
  }

  /** Returns a number below `limit`, which must be far below 2^31. */
  below(limit: number): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state;
    return Math.floor(((state >>> 0) / 0x1_0000_0000) * limit);
  }
}

/** A request on `count` keys in one frame. */
class KeyTemplate {
  readonly #frame: Buffer;
  readonly #words: DataView;
  readonly #places: readonly number[];
  /** The buffer of the last write, which is mostly the same each time, and a view of it. */
  #target: Buffer = Buffer.alloc(0);
  #view = viewOf(this.#target);

  constructor(frame: Buffer, count = 1) {
    this.#frame = frame;
    this.#words = viewOf(frame);
    this.#places = placesOf(frame, KEY_PLACEHOLDER, count);
  }

  get bytes(): number {
    return this.#frame.length;
  }

  write({ target, offset, xid }: Place, nextKey: () => number): number {
    if (target !== this.#target) {
      this.#target = target;
      this.#view = viewOf(target);
    }
    const view = this.#view;
    const bytes = this.#frame.length;
    if (bytes > SHORT_BYTES) target.set(this.#frame, offset);
    else copyShort(this.#words, view, offset);
    view.setInt32(offset + XID_OFFSET, xid);
    for (let place = 0; place < this.#places.length; place++) {
      const key = nextKey();
      const from = offset + (this.#places[place] ?? 0);
      const directory = directoryOf(key);
      view.setInt32(from + DIRECTORY_DIGITS_AT, fourDigits(directory));
      // The letter before the three digits is written with them.
      const digits = fourDigits(key - directory * KEYS_PER_DIRECTORY) & 0xff_ffff;
      view.setInt32(from + KEY_DIGITS_AT - 1, (KEY_LETTER << 24) | digits);
    }
    return bytes;
  }
}

/** Mixes reads and writes of random keys. */
class MixSource implements RequestSource {
  readonly requestBytesMax: number;
  replyBytes = 0;
  readonly #read: KeyTemplate;
  readonly #write: KeyTemplate;
  readonly #readPercent: number;
  readonly #readReplyBytes: number;
  readonly #random: Random;
  readonly #nextKey: () => number;

  constructor(space: KeySpace, connection: number, readPercent: number) {
    const path = `${space.root}${KEY_PLACEHOLDER}`;
    const data = randomBytes(space.valueBytes);
    this.#read = new KeyTemplate(frameOf(OpCode.getData, PathWatchRequest, { path, watch: false }));
    this.#write = new KeyTemplate(
      frameOf(OpCode.setData, SetDataRequest, { path, data, version: -1 }),
    );
    this.#readPercent = readPercent;
    this.#readReplyBytes = REPLY_HEADER_BYTES + 4 + space.valueBytes + STAT_BYTES;
    this.requestBytesMax = Math.max(this.#read.bytes, this.#write.bytes);
    this.#random = new Random(connection);
    this.#nextKey = () => this.#random.below(space.keys);
  }

  write(target: Buffer, offset: number, xid: number): number {
    const isRead = this.#random.below(100) < this.#readPercent;
    this.replyBytes = isRead ? this.#readReplyBytes : REPLY_HEADER_BYTES + STAT_BYTES;
    const template = isRead ? this.#read : this.#write;
    return template.write({ target, offset, xid }, this.#nextKey);
  }
}

/** One multi of several setData. */
class MultiSource implements RequestSource {
  readonly requestBytesMax: number;
  readonly replyBytes: number;
  readonly #template: KeyTemplate;
  readonly #nextKey: () => number;

  constructor(space: KeySpace, connection: number, operations: number) {
    const path = `${space.root}${KEY_PLACEHOLDER}`;
    const data = randomBytes(space.valueBytes);
    const op = { opcode: OpCode.setData, request: { path, data, version: -1 } } as const;
    const ops = Array.from({ length: operations }, () => op);
    this.#template = new KeyTemplate(frameOf(OpCode.multi, MultiRequest, { ops }), operations);
    this.requestBytesMax = this.#template.bytes;
    this.replyBytes =
      REPLY_HEADER_BYTES + operations * (MULTI_HEADER_BYTES + STAT_BYTES) + MULTI_HEADER_BYTES;
    const random = new Random(connection);
    this.#nextKey = () => random.below(space.keys);
  }

  write(target: Buffer, offset: number, xid: number): number {
    return this.#template.write({ target, offset, xid }, this.#nextKey);
  }
}

/** Creates the keys `connection`, `connection + connections` and so on. */
class FillSource implements RequestSource {
  readonly requestBytesMax: number;
  readonly replyBytes: number;
  readonly #template: KeyTemplate;
  readonly #keys: number;
  readonly #step: number;
  #next: number;

  constructor(space: KeySpace, slot: { connection: number; connections: number }) {
    const path = `${space.root}${KEY_PLACEHOLDER}`;
    const data = randomBytes(space.valueBytes);
    const request = { path, data, acl: WORLD, flags: 0 };
    this.#template = new KeyTemplate(frameOf(OpCode.create, CreateRequest, request));
    this.requestBytesMax = this.#template.bytes;
    this.replyBytes = REPLY_HEADER_BYTES + 4 + path.length;
    this.#keys = space.keys;
    this.#step = slot.connections;
    this.#next = slot.connection;
  }

  write(target: Buffer, offset: number, xid: number): number {
    if (this.#next >= this.#keys) return 0;
    const key = this.#next;
    this.#next += this.#step;
    return this.#template.write({ target, offset, xid }, () => key);
  }
}

/** The numbers of the znodes that one connection creates. */
interface Numbers {
  readonly first: number;
  readonly step: number;
  readonly end: number;
}

/** Creates znodes with ever new names under a parent. */
class CreateSource implements RequestSource {
  readonly requestBytesMax: number;
  readonly replyBytes: number;
  readonly #frame: Buffer;
  readonly #digitsAt: number;
  readonly #numbers: Numbers;
  #next: number;

  constructor(space: KeySpace, parent: string, numbers: Numbers) {
    const path = `${parent}/${CREATE_PLACEHOLDER}`;
    const data = randomBytes(space.valueBytes);
    this.#frame = frameOf(OpCode.create, CreateRequest, { path, data, acl: WORLD, flags: 0 });
    this.#digitsAt = placesOf(this.#frame, CREATE_PLACEHOLDER, 1)[0] ?? 0;
    this.requestBytesMax = this.#frame.length;
    this.replyBytes = REPLY_HEADER_BYTES + 4 + path.length;
    this.#numbers = numbers;
    this.#next = numbers.first;
  }

  write(target: Buffer, offset: number, xid: number): number {
    if (this.#next >= this.#numbers.end) return 0;
    const bytes = copyFrame(this.#frame, { target, offset, xid });
    patchDigits(target, offset + this.#digitsAt, CREATE_DIGITS, this.#next);
    this.#next += this.#numbers.step;
    return bytes;
  }
}

/** Creates a znode, deletes it, and takes the next name. */
class CreateDeleteSource implements RequestSource {
  readonly requestBytesMax: number;
  replyBytes = 0;
  readonly #create: Buffer;
  readonly #delete: Buffer;
  readonly #createDigitsAt: number;
  readonly #deleteDigitsAt: number;
  readonly #pathBytes: number;
  #next = 0;

  constructor(space: KeySpace, parent: string) {
    const path = `${parent}/${CREATE_PLACEHOLDER}`;
    const data = randomBytes(space.valueBytes);
    this.#create = frameOf(OpCode.create, CreateRequest, { path, data, acl: WORLD, flags: 0 });
    this.#delete = frameOf(OpCode.delete, PathVersionRequest, { path, version: -1 });
    this.#createDigitsAt = placesOf(this.#create, CREATE_PLACEHOLDER, 1)[0] ?? 0;
    this.#deleteDigitsAt = placesOf(this.#delete, CREATE_PLACEHOLDER, 1)[0] ?? 0;
    this.#pathBytes = path.length;
    this.requestBytesMax = this.#create.length;
  }

  write(target: Buffer, offset: number, xid: number): number {
    const isCreate = this.#next % 2 === 0;
    const bytes = copyFrame(isCreate ? this.#create : this.#delete, { target, offset, xid });
    const digitsAt = isCreate ? this.#createDigitsAt : this.#deleteDigitsAt;
    patchDigits(target, offset + digitsAt, CREATE_DIGITS, Math.floor(this.#next / 2));
    this.replyBytes = REPLY_HEADER_BYTES + (isCreate ? 4 + this.#pathBytes : 0);
    this.#next++;
    return bytes;
  }
}

class ChildrenSource implements RequestSource {
  readonly requestBytesMax: number;
  readonly replyBytes = ANY_LENGTH;
  readonly #frame: Buffer;

  constructor(space: KeySpace) {
    const request = { path: hotPath(space), watch: false };
    this.#frame = frameOf(OpCode.getChildren, PathWatchRequest, request);
    this.requestBytesMax = this.#frame.length;
  }

  write(target: Buffer, offset: number, xid: number): number {
    return copyFrame(this.#frame, { target, offset, xid });
  }
}

class PageSource implements RequestSource {
  readonly requestBytesMax: number;
  readonly replyBytes = ANY_LENGTH;
  readonly #frame: Buffer;
  readonly #digitsAt: number;
  readonly #children: number;
  readonly #random: Random;

  constructor(space: KeySpace, connection: number, page: { limit: number; children: number }) {
    const startAfter = CREATE_PLACEHOLDER;
    const request = { path: hotPath(space), startAfter, limit: page.limit, watch: false };
    this.#frame = frameOf(OpCode.getChildrenPage, GetChildrenPageRequest, request);
    this.#digitsAt = placesOf(this.#frame, CREATE_PLACEHOLDER, 1)[0] ?? 0;
    this.requestBytesMax = this.#frame.length;
    this.#children = page.children;
    this.#random = new Random(connection);
  }

  write(target: Buffer, offset: number, xid: number): number {
    const bytes = copyFrame(this.#frame, { target, offset, xid });
    const from = this.#random.below(this.#children);
    patchDigits(target, offset + this.#digitsAt, CREATE_DIGITS, from);
    return bytes;
  }
}
