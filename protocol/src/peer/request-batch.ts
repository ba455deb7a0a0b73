/**
 * A batch of writes that a member forwards to the leader: one field of a message, and the memory in
 * which the member wrote them.
 *
 * The field is one byte string. It is encoded by hand in jute's terms, because msgpack would take
 * three times as long, for every write. It has the count of requests; then for each its number and
 * session (longs), attachment, opcode, body and identities. Nearly all clients have only their
 * address as identity: it is encoded as -1 and one string; other lists as a count, and scheme and
 * id of each. A request that was read refers to the bytes of the batch, because most bodies are
 * only read in place.
 */
import { assert } from '../basics/assert.js';
import { MarshallingError } from '../jute/errors.js';
import {
  bufferOf,
  JuteReader,
  requiredCardinal,
  requiredCount,
  requiredNatural,
  requiredString,
} from '../jute/reader.js';
import { JuteWriter } from '../jute/writer.js';

const RECORD = 'a request';
const ADDRESS_SCHEME = 'ip';
/** Replaces the count of identities if the only one is an address. */
const ADDRESS_ONLY = -1;
/** Memory before the bytes, for the head of the frame in which they are sent. */
const HEADROOM_BYTES = 16;
/** The count of requests. */
const COUNT_BYTES = 4;
/** What a request has besides its body and its identities. */
const FIXED_BYTES = 32;
/** What an identity has besides its two texts. */
const IDENTITY_FIXED_BYTES = 8;
/** A piece of memory holds several batches. Only a batch of one request may be larger than it. */
const SLAB_BYTES = 256 << 10;

/** What a client is known to be; an ACL entry of the same scheme may name it. */
export interface Identity {
  readonly scheme: string;
  readonly id: string;
}

/** A client's write on its way to the leader; `body` is the jute record behind the header. */
export interface ForwardedRequest {
  /** Chosen by the origin, unique among all its requests, across its restarts too. */
  readonly request: number;
  readonly session: number;
  /**
   * The attachment of the session that it came by: see `Attach`. 0 for a session that only the
   * origin knows.
   */
  readonly attachment: number;
  readonly opcode: number;
  readonly body: Uint8Array;
  /** The identities of the connection when the request came; the leader checks ACLs with them. */
  readonly identities: readonly Identity[];
}

/**
 * The identities that were read last. Requests of one client mostly follow each other, in a batch
 * and over several batches, and get the same list, which nobody changes.
 *
 * This is state of the module, because messages are decoded by functions, and a batch does not live
 * long enough: the leader keeps what an ACL grants to a list of identities
 * (`server/src/pipeline/access.ts`), so with a new list for each batch it would find that out
 * again and again.
 */
let lastIdentities: readonly Identity[] = [];

export class RequestBatch {
  readonly bytes: Buffer;
  /** Bytes of memory right before `bytes` that belong to the batch. */
  readonly headroom: number;
  #items: readonly ForwardedRequest[] | null;

  /** Used in this file only. `items` is null until they are read. */
  constructor(bytes: Buffer, headroom: number, items: readonly ForwardedRequest[] | null) {
    this.bytes = bytes;
    this.headroom = headroom;
    this.#items = items;
  }

  /** Copies the requests, which may be none. */
  static of(requests: Iterable<ForwardedRequest>): RequestBatch {
    const writer = new JuteWriter();
    const items = [...requests];
    writer.int(items.length);
    for (const item of items) writeRequest(writer, item);
    return new RequestBatch(bufferOf(writer.take()), 0, null);
  }

  /** Uses the bytes without a copy. Throws MarshallingError if they are not a batch. */
  static parse(packed: Uint8Array): RequestBatch {
    const bytes = bufferOf(packed);
    return new RequestBatch(bytes, 0, readRequests(bytes));
  }

  /** The requests in the order in which they were added. They are views of the batch. */
  get items(): readonly ForwardedRequest[] {
    this.#items ??= readRequests(this.bytes);
    return this.#items;
  }
}

const NONE: readonly RequestBatch[] = [];

/** Writes batches one behind the other in the same memory. Each request is written once. */
export class RequestWriter {
  readonly #writer = new JuteWriter(null, SLAB_BYTES);
  #full: RequestBatch[] = [];
  #count = 0;

  get isEmpty(): boolean {
    return this.#count === 0 && this.#full.length === 0;
  }

  /** Copies the request. */
  add(request: ForwardedRequest): void {
    if (this.#count > 0 && !this.#hasRoomFor(bytesOf(request))) this.#end();
    if (this.#count === 0) this.#writer.claim(HEADROOM_BYTES + COUNT_BYTES);
    this.#count += 1;
    writeRequest(this.#writer, request);
  }

  /** Returns what was added since the last call, in order. */
  take(): readonly RequestBatch[] {
    if (this.#count > 0) this.#end();
    const taken = this.#full;
    if (taken.length === 0) return NONE;
    this.#full = [];
    return taken;
  }

  /** Drops what was added since the last call of `take`. */
  clear(): void {
    this.#writer.reset();
    this.#count = 0;
    this.#full = [];
  }

  /** Whether it can be written behind the others, of which none has to move for it. */
  #hasRoomFor(bytes: number): boolean {
    const { room, length } = this.#writer;
    return bytes <= room && length + bytes <= SLAB_BYTES;
  }

  #end(): void {
    const bytes = bufferOf(this.#writer.take()).subarray(HEADROOM_BYTES);
    bytes.writeInt32BE(this.#count, 0);
    this.#count = 0;
    this.#full.push(new RequestBatch(bytes, HEADROOM_BYTES, null));
  }
}

/** A request that was read: its body lies in the batch, between `start` and `end`. */
class RequestInBatch implements ForwardedRequest {
  readonly request: number;
  readonly session: number;
  readonly attachment: number;
  readonly opcode: number;
  readonly identities: readonly Identity[];
  readonly batchBytes: Buffer;
  readonly start: number;
  readonly end: number;

  constructor(read: Omit<RequestInBatch, 'body'>) {
    this.request = read.request;
    this.session = read.session;
    this.attachment = read.attachment;
    this.opcode = read.opcode;
    this.identities = read.identities;
    this.batchBytes = read.batchBytes;
    this.start = read.start;
    this.end = read.end;
  }

  get body(): Uint8Array {
    return this.batchBytes.subarray(this.start, this.end);
  }
}

/** Points the reader at the body, in place. */
export function pointAtRequest(reader: JuteReader, request: ForwardedRequest): void {
  if (request instanceof RequestInBatch) {
    reader.point(request.batchBytes, request.start, request.end);
  } else {
    reader.point(request.body, 0, request.body.length);
  }
}

function bytesOf({ body, identities }: ForwardedRequest): number {
  let bytes = FIXED_BYTES + body.length;
  for (const { scheme, id } of identities) {
    // A UTF-16 unit takes at most three bytes in UTF-8.
    bytes += IDENTITY_FIXED_BYTES + 3 * (scheme.length + id.length);
  }
  return bytes;
}

function writeRequest(writer: JuteWriter, item: ForwardedRequest): void {
  writer.long(natural(item.request));
  writer.long(natural(item.session));
  writer.int(natural(item.attachment));
  writer.int(item.opcode);
  writer.buffer(item.body);
  writeIdentities(writer, item.identities);
}

function readRequests(bytes: Buffer): readonly ForwardedRequest[] {
  const reader = new JuteReader(bytes);
  const items: ForwardedRequest[] = [];
  for (let left = requiredCount(reader, RECORD); left > 0; left--) {
    const request = requiredNatural(reader, RECORD);
    const session = requiredNatural(reader, RECORD);
    const attachment = requiredCardinal(reader, RECORD);
    const opcode = reader.int();
    const length = reader.skipBuffer();
    if (length === -1) throw new MarshallingError('a request without a body');
    const end = reader.position;
    const start = end - length;
    const batchBytes = reader.bytes;
    const identities = readIdentities(reader);
    items.push(
      new RequestInBatch({
        request,
        session,
        attachment,
        opcode,
        identities,
        batchBytes,
        start,
        end,
      }),
    );
  }
  if (reader.remaining > 0) {
    throw new MarshallingError(`${reader.remaining} bytes after the requests`);
  }
  return items;
}

function writeIdentities(writer: JuteWriter, identities: readonly Identity[]): void {
  const [first] = identities;
  if (identities.length === 1 && first?.scheme === ADDRESS_SCHEME) {
    writer.int(ADDRESS_ONLY);
    writer.string(first.id);
    return;
  }
  writer.int(identities.length);
  for (const { scheme, id } of identities) {
    writer.string(scheme);
    writer.string(id);
  }
}

function readIdentities(reader: JuteReader): readonly Identity[] {
  const count = reader.count();
  if (count === ADDRESS_ONLY) return identitiesOf(requiredString(reader, RECORD));
  const identities: Identity[] = [];
  for (let left = count; left > 0; left--) {
    identities.push({ scheme: requiredString(reader, RECORD), id: requiredString(reader, RECORD) });
  }
  return identities;
}

/** The list for a client of which only the address is known: the last one if that has it. */
function identitiesOf(address: string): readonly Identity[] {
  if (lastIdentities[0]?.id !== address) lastIdentities = [{ scheme: ADDRESS_SCHEME, id: address }];
  return lastIdentities;
}

function natural(value: number): number {
  assert(value >= 0, () => `a field to be sent is a natural number, not ${value}`);
  return value;
}
