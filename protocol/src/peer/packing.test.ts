/** Goal: what is written in front of a pack without a copy harms neither it nor what is before. */
import { describe, expect, it } from 'vitest';
import { decodePeerMessage, encodePeerFrame } from './codec.js';
import { claimRoom, Packer, packProposals, unpackProposals } from './packing.js';
import type { Proposal } from './proposal.js';

const LENGTH_BYTES = 4;
/** An array of two, its code, and the head of a byte string. */
const HEAD_BYTES = 7;
const ROOM_BYTES = 16;

function packOf(body: string): readonly Proposal[] {
  const packer = new Packer();
  const writer = packer.begin(7, 6);
  writer.raw(Buffer.from(body));
  writer.endFrame();
  return packer.take();
}

function frameOf(proposals: readonly Proposal[]): Uint8Array {
  return encodePeerFrame({ kind: 'propose', proposals });
}

describe('the memory before a pack', () => {
  it('becomes the head of a frame, the same as a copy has', () => {
    const proposals = packOf('abc');
    const packed = packProposals(proposals);
    const before = Buffer.from(packed);
    const inPlace = frameOf(proposals);
    const copied = frameOf(proposals);
    expect(inPlace.buffer).toBe(packed.buffer);
    expect(copied.buffer).not.toBe(packed.buffer);
    expect(Buffer.compare(inPlace, copied)).toBe(0);
    expect(Buffer.compare(packed, before)).toBe(0);
  });

  it('is had by one, and no more than there is', () => {
    const packed = packProposals(packOf('abc'));
    expect(claimRoom(packed, ROOM_BYTES + 1)).toBeNull();
    const claimed = claimRoom(packed, ROOM_BYTES);
    expect(claimed?.byteOffset).toBe(packed.byteOffset - ROOM_BYTES);
    expect(claimed?.length).toBe(ROOM_BYTES + packed.length);
    expect(claimRoom(packed, 1)).toBeNull();
  });

  it('is free in a frame that was read, not beyond it', () => {
    const payload = frameOf(packOf('abc')).subarray(LENGTH_BYTES);
    const around = Buffer.concat([Buffer.alloc(9, 0xee), payload]);
    const message = decodePeerMessage(around.subarray(9));
    if (message.kind !== 'propose') throw new Error(`a ${message.kind}`);
    const packed = packProposals(message.proposals);
    expect(claimRoom(packed, HEAD_BYTES + 1)).toBeNull();
    const claimed = claimRoom(packed, HEAD_BYTES);
    expect(claimed?.length).toBe(HEAD_BYTES + packed.length);
    claimed?.fill(0xdd, 0, HEAD_BYTES);
    expect(around.subarray(0, 9)).toEqual(Buffer.alloc(9, 0xee));
    expect(Buffer.from(unpackProposals(packed)[0]?.body ?? []).toString()).toBe('abc');
  });

  it('is not there when the pack was made of proposals', () => {
    const packed = packProposals([{ zxid: 7, previous: 6, body: new Uint8Array(3) }]);
    expect(claimRoom(packed, 1)).toBeNull();
  });
});
