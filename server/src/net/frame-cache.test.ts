/**
 * A message is packed once per turn, however many members it goes to.
 */
import { InvariantViolation, type PeerMessage } from '@rookery/protocol';
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
    const frame = cache.frameOf(message);
    expect(cache.frameOf(message)).toBe(frame);
    expect(cache.frameOf(propose(1))).not.toBe(frame);
    expect(decodePeerMessage(frame.subarray(4))).toMatchObject({ kind: 'propose' });
    expect(Buffer.from(frame).readInt32BE(0)).toBe(frame.length - 4);
  });

  it('remembers a few messages and nothing after it is cleared', () => {
    const cache = new FrameCache(1000);
    const messages = Array.from({ length: 9 }, (_, index) => propose(index + 1));
    const frames = messages.map((message) => cache.frameOf(message));
    const [oldest, second] = messages;
    if (oldest === undefined || second === undefined) throw new Error('no messages');
    expect(cache.frameOf(second)).toBe(frames[1]);
    expect(cache.frameOf(oldest)).not.toBe(frames[0]);
    cache.clear();
    expect(cache.frameOf(second)).not.toBe(frames[1]);
  });

  it('refuses a message that the other side would refuse as too long', () => {
    const cache = new FrameCache(20);
    expect(() => cache.frameOf(propose(1))).toThrow(InvariantViolation);
  });
});
