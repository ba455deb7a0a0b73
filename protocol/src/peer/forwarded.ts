/**
 * The requests that a member forwards to the leader, as one field of a message.
 *
 * The field is one byte string in jute's encoding, because there is one request for every write:
 * the number of requests, then for each its number and session (longs), attachment, opcode, body
 * and identities. A mark before the number says that attachments are included; members of the first
 * wire version write neither. Nearly all clients have only their address as identity: it is encoded
 * as -1 and one string; other lists as a count, and scheme and id of each. A decoded request refers
 * to the given bytes, because most bodies are only read in place.
 */
import { assert } from '../assert.js';
import { JuteReader } from '../jute/reader.js';
import {
  requiredCardinal,
  requiredCount,
  requiredNatural,
  requiredString,
} from '../jute/required.js';
import { JuteWriter } from '../jute/writer.js';
import { MarshallingError } from '../marshalling-error.js';
import { bytes, type Field } from './fields.js';
import type { ForwardedRequest, Identity } from './messages.js';

const RECORD = 'a request';
const ADDRESS_SCHEME = 'ip';
/** Stands before the number of requests. */
const WITH_ATTACHMENTS = -1;
/** Stands in place of the number of identities. */
const ADDRESS_ONLY = -1;

/** The identities of the client that was read last. */
let latest: readonly Identity[] = [];

/** Between calls it keeps nothing but memory to write on. */
const writer = new JuteWriter();

class PlacedRequest implements ForwardedRequest {
  readonly request: number;
  readonly session: number;
  readonly attachment: number;
  readonly opcode: number;
  readonly identities: readonly Identity[];
  readonly frame: Buffer;
  readonly start: number;
  readonly end: number;

  constructor(place: Omit<PlacedRequest, 'body'>) {
    this.request = place.request;
    this.session = place.session;
    this.attachment = place.attachment;
    this.opcode = place.opcode;
    this.identities = place.identities;
    this.frame = place.frame;
    this.start = place.start;
    this.end = place.end;
  }

  get body(): Uint8Array {
    return this.frame.subarray(this.start, this.end);
  }
}

/** Points the reader at the body, in place. */
export function pointAtRequest(reader: JuteReader, request: ForwardedRequest): void {
  if (request instanceof PlacedRequest) {
    reader.point(request.frame, request.start, request.end);
  } else {
    reader.point(request.body, 0, request.body.length);
  }
}

/**
 * Returns the encoded requests in memory of their own, after `headroom` bytes for the caller to
 * write.
 */
export function packRequests(
  items: readonly ForwardedRequest[],
  hasAttachments: boolean,
  headBytes = 0,
): Buffer {
  writer.reset();
  if (hasAttachments) writer.int(WITH_ATTACHMENTS);
  writer.int(items.length);
  for (const item of items) {
    writer.long(natural(item.request));
    writer.long(natural(item.session));
    if (hasAttachments) writer.int(natural(item.attachment));
    writer.int(item.opcode);
    writer.buffer(item.body);
    writeIdentities(item.identities);
  }
  return writer.takeCopy(headBytes);
}

export const forwardedRequests: Field<readonly ForwardedRequest[]> = {
  pack: (items) => packRequests(items, true),
  unpack: (packed) => {
    const reader = new JuteReader(bytes.unpack(packed));
    const items: ForwardedRequest[] = [];
    const first = reader.count();
    const hasAttachments = first === WITH_ATTACHMENTS;
    const count = hasAttachments ? requiredCount(reader, RECORD) : first;
    for (let left = count; left > 0; left--) {
      const request = requiredNatural(reader, RECORD);
      const session = requiredNatural(reader, RECORD);
      const attachment = hasAttachments ? requiredCardinal(reader, RECORD) : 0;
      const opcode = reader.int();
      const length = reader.skipBuffer();
      if (length === -1) throw new MarshallingError('a request without a body');
      const end = reader.position;
      const place = { frame: reader.bytes, start: end - length, end };
      const identities = readIdentities(reader);
      items.push(new PlacedRequest({ request, session, attachment, opcode, identities, ...place }));
    }
    if (reader.remaining > 0) {
      throw new MarshallingError(`${reader.remaining} bytes after the requests`);
    }
    return items;
  },
};

function writeIdentities(identities: readonly Identity[]): void {
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

/** Requests of one client are next to each other. */
function identitiesOf(address: string): readonly Identity[] {
  if (latest[0]?.id !== address) latest = [{ scheme: ADDRESS_SCHEME, id: address }];
  return latest;
}

function natural(value: number): number {
  assert(value >= 0, () => `a field to be sent is a natural number, not ${value}`);
  return value;
}
