/**
 * Proposals packed into one byte string: what goes over a link, and what lies in the log.
 *
 * One after the other: zxid (8 bytes), previous zxid (8), length of the body (4), body; all
 * big-endian. So proposals are written once, by the leader, and never again: followers and logs
 * get the pack. A proposal that was unpacked is a place in its pack, so the pack stays as it is.
 * An array of proposals has one pack, remembered with it; memory before it may be had, once.
 * Invariant: within one pack each proposal names the one before it.
 */
import { assert } from '../assert.js';
import { bufferOf, type JuteReader } from '../jute/reader.js';
import { JuteWriter } from '../jute/writer.js';
import { MarshallingError } from '../marshalling-error.js';
import { EPOCH_MAX, formatZxid } from '../zxid.js';
import type { Proposal, Zxid } from './proposal.js';

const HEADER_BYTES = 20;
/** What the leader leaves free before a pack: for the head of a frame, or a seal. */
const ROOM_BYTES = 16;
const COUNTER_SPAN = 0x1_0000_0000;

/** The packs of arrays that are still in use, which nobody changes. */
const packs = new WeakMap<readonly Proposal[], Uint8Array>();

/** The memory before packs that is nobody's yet, in bytes. */
const rooms = new WeakMap<Uint8Array, number>();

/** A place in a pack: most bodies are only ever read where they lie. */
class PackedProposal implements Proposal {
  readonly zxid: Zxid;
  readonly previous: Zxid;
  readonly pack: Buffer;
  readonly start: number;
  readonly end: number;

  constructor(place: Omit<PackedProposal, 'body'>) {
    this.zxid = place.zxid;
    this.previous = place.previous;
    this.pack = place.pack;
    this.start = place.start;
    this.end = place.end;
  }

  get body(): Uint8Array {
    return this.pack.subarray(this.start, this.end);
  }
}

/** Bytes that a proposal adds to a pack. */
export function packedBytesOf(proposal: Proposal): number {
  return HEADER_BYTES + bodyBytesOf(proposal);
}

/** Bytes of the transaction. */
function bodyBytesOf(proposal: Proposal): number {
  return proposal instanceof PackedProposal ? proposal.end - proposal.start : proposal.body.length;
}

/** Lets the reader read the body, where it lies. */
export function pointAtBody(reader: JuteReader, proposal: Proposal): void {
  if (proposal instanceof PackedProposal) {
    reader.point(proposal.pack, proposal.start, proposal.end);
  } else {
    reader.point(proposal.body, 0, proposal.body.length);
  }
}

/** Makes packs, each proposal written where it will lie. */
export class Packer {
  readonly #writer = new JuteWriter();
  #last: Zxid = 0;

  /** Bytes of the pack so far; 0 when there is none. */
  get bytes(): number {
    return this.#writer.length;
  }

  /** The caller writes the body and ends the frame. Asserts that it continues the pack. */
  begin(zxid: Zxid, previous: Zxid): JuteWriter {
    assertContinues(this.#writer.length === 0 ? null : this.#last, zxid, previous);
    this.#last = zxid;
    this.#writer.long(zxid);
    this.#writer.long(previous);
    this.#writer.beginFrame();
    return this.#writer;
  }

  /** What was written since the last time. */
  take(): readonly Proposal[] {
    const packed = this.#writer.takeCopy(ROOM_BYTES).subarray(ROOM_BYTES);
    offerRoom(packed, ROOM_BYTES);
    return unpackProposals(packed);
  }
}

/**
 * Whoever puts something in front of the pack may write it into the `bytes` of memory right before
 * it, and copies nothing. Nobody reads what is there any more, nor offers it a second time.
 */
export function offerRoom(packed: Uint8Array, bytes: number): void {
  assert(packed.byteOffset >= bytes, 'the room is there');
  rooms.set(packed, bytes);
}

/**
 * The pack with `bytes` of memory before it that are the caller's to write, without a copy; null
 * when there is no such room, or somebody has had it.
 */
export function claimRoom(packed: Uint8Array, bytes: number): Buffer | null {
  assert(bytes > 0, 'something is put in front');
  if ((rooms.get(packed) ?? 0) < bytes) return null;
  rooms.delete(packed);
  return Buffer.from(packed.buffer, packed.byteOffset - bytes, bytes + packed.length);
}

/** Asserts that the proposals are consecutive. Shared: neither may be changed any more. */
export function packProposals(proposals: readonly Proposal[]): Uint8Array {
  const known = packs.get(proposals);
  if (known !== undefined) return known;
  const packed = pack(proposals);
  packs.set(proposals, packed);
  return packed;
}

function pack(proposals: readonly Proposal[]): Uint8Array {
  let size = 0;
  for (const proposal of proposals) size += packedBytesOf(proposal);
  const bytes = Buffer.allocUnsafeSlow(size);
  let at = 0;
  let last: Zxid | null = null;
  for (const { zxid, previous, body } of proposals) {
    assertContinues(last, zxid, previous);
    at = writeZxid(bytes, zxid, at);
    at = writeZxid(bytes, previous, at);
    at = bytes.writeUInt32BE(body.length, at);
    bytes.set(body, at);
    at += body.length;
    last = zxid;
  }
  return bytes;
}

function assertContinues(last: Zxid | null, zxid: Zxid, previous: Zxid): void {
  assert(zxid > previous, () => `${formatZxid(zxid)} is after ${formatZxid(previous)}`);
  assert(last === null || previous === last, () => `${formatZxid(zxid)} continues the pack`);
}

/** Throws MarshallingError for anything that packProposals cannot have made. */
export function unpackProposals(packed: Uint8Array): readonly Proposal[] {
  const bytes = bufferOf(packed);
  const proposals: Proposal[] = [];
  let last: Zxid | null = null;
  for (let at = 0; at < bytes.length; ) {
    if (bytes.length - at < HEADER_BYTES) throw new MarshallingError('a pack ends in a header');
    const zxid = readZxid(bytes, at);
    const previous = readZxid(bytes, at + 8);
    const start = at + HEADER_BYTES;
    const end = start + bytes.readUInt32BE(at + 16);
    if (end > bytes.length) throw new MarshallingError('a pack ends in a body');
    if (zxid <= previous || (last !== null && previous !== last)) {
      throw new MarshallingError(`${formatZxid(zxid)} does not continue its pack`);
    }
    proposals.push(new PackedProposal({ zxid, previous, pack: bytes, start, end }));
    at = end;
    last = zxid;
  }
  packs.set(proposals, packed);
  return proposals;
}

function writeZxid(bytes: Buffer, zxid: Zxid, at: number): number {
  bytes.writeUInt32BE(Math.floor(zxid / COUNTER_SPAN), at);
  return bytes.writeUInt32BE(zxid >>> 0, at + 4);
}

function readZxid(bytes: Buffer, at: number): Zxid {
  const epoch = bytes.readUInt32BE(at);
  if (epoch > EPOCH_MAX) throw new MarshallingError(`an epoch of ${epoch}`);
  return epoch * COUNTER_SPAN + bytes.readUInt32BE(at + 4);
}
