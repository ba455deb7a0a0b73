// The bound of the tree, from what the members' hellos state.
import pino from 'pino';
import { expect, it } from 'vitest';
import { HELLO, OFFER } from '../simulated/net/peer-member.js';
import { TreeBound } from './write-bounds.js';

const OWN_BYTES = 100;

it('is the smallest that any member states, and a member that states none has no part in it', () => {
  const disk = { refuses: false, onRefused: () => undefined };
  const options = { configuredBytes: null, ownBytes: OWN_BYTES, disk };
  const bound = new TreeBound(options, pino({ level: 'silent' }));
  const connect = (peer: number, treeBytes: number) => {
    bound.onConnected(peer, { ...HELLO, id: peer, offer: { ...OFFER, treeBytes } });
    return bound.bytesMax;
  };
  expect(connect(2, 50)).toBe(50);
  expect(connect(3, 0)).toBe(50);
  expect(connect(2, 0)).toBe(OWN_BYTES);
});
