/**
 * Proposals packed flat: the same bytes are the body of a PROPOSE and the value of a log record.
 *
 * Layout, big-endian: uint32 count, then of each proposal its zxid (8 bytes), its predecessor's
 * zxid (8), uint32 length and the body. Unpacked bodies are views of the bytes that were given.
 * Invariant: within one pack each proposal names the one before it.
 *
 * An array of proposals has one pack, made or seen once and remembered with it, so that what goes
 * to several followers and to the log is packed once by the leader, and never by who receives it.
 */
import { assert } from '../assert.js';
import { MarshallingError } from '../marshalling-error.js';
import { EPOCH_MAX, formatZxid } from '../zxid.js';
import type { Proposal, Zxid } from './proposal.js';

const COUNT_BYTES = 4;
const HEADER_BYTES = 20;
const COUNTER_SPAN = 0x1_0000_0000;

/** The packs of arrays that are still in use, which nobody changes. */
const packs = new WeakMap<readonly Proposal[], Uint8Array>();

/** Bytes that a proposal adds to a pack. */
export function packedBytesOf(proposal: Proposal): number {
  return HEADER_BYTES + proposal.body.length;
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
  let size = COUNT_BYTES;
  for (const proposal of proposals) size += packedBytesOf(proposal);
  const bytes = Buffer.allocUnsafeSlow(size);
  let at = bytes.writeUInt32BE(proposals.length, 0);
  let last: Zxid | null = null;
  for (const { zxid, previous, body } of proposals) {
    assert(zxid > previous, () => `${formatZxid(zxid)} is after ${formatZxid(previous)}`);
    assert(last === null || previous === last, () => `${formatZxid(zxid)} continues the pack`);
    at = writeZxid(bytes, zxid, at);
    at = writeZxid(bytes, previous, at);
    at = bytes.writeUInt32BE(body.length, at);
    bytes.set(body, at);
    at += body.length;
    last = zxid;
  }
  return bytes;
}

/** Throws MarshallingError for anything that packProposals cannot have made. */
export function unpackProposals(packed: Uint8Array): readonly Proposal[] {
  const bytes = asBuffer(packed);
  if (bytes.length < COUNT_BYTES) throw new MarshallingError('a pack without its count');
  const count = bytes.readUInt32BE(0);
  let at = COUNT_BYTES;
  if (count * HEADER_BYTES > bytes.length - at) {
    throw new MarshallingError(`a pack of ${count} proposals in ${bytes.length} bytes`);
  }
  const proposals: Proposal[] = [];
  let last: Zxid | null = null;
  for (let index = 0; index < count; index++) {
    if (bytes.length - at < HEADER_BYTES) throw new MarshallingError('a pack ends in a header');
    const zxid = readZxid(bytes, at);
    const previous = readZxid(bytes, at + 8);
    const length = bytes.readUInt32BE(at + 16);
    at += HEADER_BYTES;
    if (length > bytes.length - at) throw new MarshallingError('a pack ends in a body');
    if (zxid <= previous || (last !== null && previous !== last)) {
      throw new MarshallingError(`${formatZxid(zxid)} does not continue its pack`);
    }
    proposals.push({ zxid, previous, body: bytes.subarray(at, at + length) });
    at += length;
    last = zxid;
  }
  if (at !== bytes.length) throw new MarshallingError(`${bytes.length - at} bytes after a pack`);
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

function asBuffer(bytes: Uint8Array): Buffer {
  if (bytes instanceof Buffer) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
