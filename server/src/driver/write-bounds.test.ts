// The bound of the tree, from what the members' hellos state.
import pino from 'pino';
import { expect, it } from 'vitest';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { HELLO, OFFER } from '../simulated/net/peer-member.js';
import { DiskSpace, TreeBound } from './write-bounds.js';

const OWN_BYTES = 100;

it('is the smallest that any member states, and a member that states none has no part in it', () => {
  const logger = pino({ level: 'silent' });
  const disk = new DiskSpace([], null, undefined, new ManualTimers(), logger);
  const bound = new TreeBound({ configuredBytes: null, ownBytes: OWN_BYTES }, disk, logger);
  const connect = (peer: number, treeBytes: number) => {
    bound.onConnected(peer, { ...HELLO, id: peer, offer: { ...OFFER, treeBytes } });
    return bound.bytesMax;
  };
  expect(connect(2, 50)).toBe(50);
  expect(connect(3, 0)).toBe(50);
  expect(connect(2, 0)).toBe(OWN_BYTES);
});
