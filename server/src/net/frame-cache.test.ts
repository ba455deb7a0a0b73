/**
 * A message is packed once per turn, however many members it goes to.
 */
import { InvariantViolation, type PeerMessage, WIRE_VERSION_MAX } from '@rookery/protocol';
import { decodePeerMessage } from '@rookery/protocol/peer';
import { describe, expect, it } from 'vitest';
import { FrameCache } from './frame-cache.js';

const propose = (zxid: number): PeerMessage => ({
  kind: 'propose',
  proposals: [{ zxid, previous: zxid - 1, body: new Uint8Array(10) }],
});

describe('the frame cache', () => {
  it('gives the same bytes for the same message, and others for an equal one', () => {
    const cache = new FrameCache(1000);
    const message = propose(1);
    const frame = cache.frameOf(message, WIRE_VERSION_MAX);
    expect(cache.frameOf(message, WIRE_VERSION_MAX)).toBe(frame);
    expect(cache.frameOf(propose(1), WIRE_VERSION_MAX)).not.toBe(frame);
    expect(decodePeerMessage(frame.subarray(4))).toMatchObject({ kind: 'propose' });
    expect(Buffer.from(frame).readInt32BE(0)).toBe(frame.length - 4);
  });

  it('remembers a few messages and nothing after it is cleared', () => {
    const cache = new FrameCache(1000);
    const messages = Array.from({ length: 9 }, (_, index) => propose(index + 1));
    const frames = messages.map((message) => cache.frameOf(message, WIRE_VERSION_MAX));
    const [oldest, second] = messages;
    if (oldest === undefined || second === undefined) throw new Error('no messages');
    expect(cache.frameOf(second, WIRE_VERSION_MAX)).toBe(frames[1]);
    expect(cache.frameOf(oldest, WIRE_VERSION_MAX)).not.toBe(frames[0]);
    cache.clear();
    expect(cache.frameOf(second, WIRE_VERSION_MAX)).not.toBe(frames[1]);
  });

  it('refuses a message that the other side would refuse as too long', () => {
    const cache = new FrameCache(20);
    expect(() => cache.frameOf(propose(1), WIRE_VERSION_MAX)).toThrow(InvariantViolation);
  });
});
