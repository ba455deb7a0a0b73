/** The exact point where what a peer says stops being something that a member can say. */
import {
  type AckEpoch,
  type CoreMessage,
  EPOCH_MAX,
  makeZxid,
  type VoteMessage,
  WIRE_VERSION_MAX,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { Link } from './replica.js';
import { Replica } from './replica.js';
import { EPOCH_JUMP_MAX, implausible, ROUND_JUMP_MAX } from './zab.js';

const VOTE: VoteMessage = {
  kind: 'vote',
  state: 'looking',
  round: 1,
  leader: 2,
  epoch: 5,
  zxid: makeZxid(5, 1),
  ensembleId: 'E',
  founded: true,
  sound: true,
};
const ACK_EPOCH: AckEpoch = {
  kind: 'ackEpoch',
  epoch: 6,
  currentEpoch: 5,
  last: makeZxid(5, 9),
  applied: makeZxid(5, 2),
  history: { base: makeZxid(4, 3), ranges: [{ epoch: 5, first: 1, last: 9 }] },
  snapshotOnly: false,
  lineage: [],
};

/** Member 1 of three, in epoch 5, with links to 2 and 3. */
function memberInEpoch(epoch: number): Replica {
  const options = {
    id: 1,
    members: [1, 2, 3],
    heartbeatMs: 100,
    peerTimeoutMs: 1000,
    settleMs: 200,
    initTimeoutMs: 5000,
    syncTimeoutMs: 5000,
    windowBytesMax: 1,
    deliveryBytesMax: 1,
    learnerWindowBytesMax: 1,
    chunkBytesMax: 1,
    newEnsembleId: 'E',
    newIdentity: 7,
    foundWithQuorum: false,
  };
  const start = { acceptedEpoch: epoch, currentEpoch: epoch, ensembleId: 'E', founded: true };
  const history = { base: 0, ranges: [] };
  const disk = { sound: true, applied: 0, history, suffix: [], lineage: [] };
  const member = new Replica(options, { ...start, ...disk });
  for (const peer of [2, 3]) member.links.set(peer, linkTo(peer));
  return member;
}

function linkTo(peer: number): Link {
  const times = { heardAtMs: 0, contactAtMs: 0, echo: 0 };
  const now = { vote: null, roomSinceMs: 0, offeredEpoch: null, streaming: false };
  return { peer, link: peer, version: WIRE_VERSION_MAX, ...times, ...now };
}

function manyIds(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 10);
}

function problem(message: CoreMessage, member = memberInEpoch(5)): string | null {
  const link = member.linkOf(2);
  if (link === undefined) throw new Error('there is a link to 2');
  return implausible(member, link, message);
}

describe('an epoch that a peer names', () => {
  it('may be so far ahead that elections fail for days, and no further', () => {
    const last = 5 + EPOCH_JUMP_MAX;
    expect(problem({ kind: 'followerInfo', acceptedEpoch: last })).toBe(null);
    expect(problem({ kind: 'followerInfo', acceptedEpoch: last + 1 })).not.toBe(null);
    expect(problem({ kind: 'newEpoch', epoch: last, established: true })).toBe(null);
    expect(problem({ kind: 'newEpoch', epoch: last + 1, established: true })).not.toBe(null);
  });

  it('may be further ahead when another member is there, too, but not by its own word', () => {
    const member = memberInEpoch(0);
    const offer = { kind: 'newEpoch', epoch: 70_000, established: true } as const;
    const following: VoteMessage = { ...VOTE, state: 'following', leader: 2, epoch: 69_999 };
    expect(problem(offer, member)).not.toBe(null);
    member.links.set(2, { ...linkTo(2), vote: { ...following, leader: 3 } });
    expect(problem(offer, member)).not.toBe(null);
    member.links.set(3, { ...linkTo(3), vote: { ...VOTE, leader: 2, epoch: 69_999 } });
    expect(problem(offer, member), 'only repeated by 3').not.toBe(null);
    member.links.set(3, { ...linkTo(3), vote: following });
    expect(problem(offer, member)).toBe(null);
  });

  it('is never the last one: no leader could follow it', () => {
    const member = memberInEpoch(EPOCH_MAX - 3);
    expect(problem({ kind: 'followerInfo', acceptedEpoch: EPOCH_MAX - 1 }, member)).toBe(null);
    expect(problem({ kind: 'followerInfo', acceptedEpoch: EPOCH_MAX }, member)).not.toBe(null);
  });
});

describe('a vote', () => {
  it('can be what members say of themselves and others', () => {
    expect(problem(VOTE)).toBe(null);
    expect(problem({ ...VOTE, leader: 0 })).toBe(null);
    expect(problem({ ...VOTE, state: 'leading' })).toBe(null);
    expect(problem({ ...VOTE, state: 'following', leader: 1 })).toBe(null);
    expect(problem({ ...VOTE, round: ROUND_JUMP_MAX })).toBe(null);
    expect(problem({ ...VOTE, full: true, spares: [] })).toBe(null);
    // The list of members may be longer at the leader.
    expect(problem({ ...VOTE, state: 'leading', full: true, spares: [1, 3, 9] })).toBe(null);
  });

  it.each([
    ['calls another member the leader that it says it is', { state: 'leading', leader: 3 }],
    ['follows itself', { state: 'following', leader: 2 }],
    ['leads for nobody', { state: 'leading', leader: 0 }],
    ['names no member', { leader: 4 }],
    ['is of a round that nobody began', { round: ROUND_JUMP_MAX + 1 }],
    ['belongs to an ensemble without an id', { ensembleId: '' }],
    ['spares members, but looks', { spares: [1] }],
    ['spares members, but follows', { state: 'following', leader: 3, spares: [1] }],
    ['spares itself', { state: 'leading', spares: [1, 2] }],
    ['spares nobody in particular', { state: 'leading', spares: [0] }],
    ['spares a member twice', { state: 'leading', spares: [1, 1] }],
    ['spares more than there can be', { state: 'leading', spares: manyIds(256) }],
  ] as const)('is refused when it %s', (_, change) => {
    expect(problem({ ...VOTE, ...change } as CoreMessage)).not.toBe(null);
  });
});

describe('the history in an ackEpoch', () => {
  it('can be a log', () => {
    expect(problem(ACK_EPOCH)).toBe(null);
  });

  it.each([
    ['ends elsewhere than it says', { last: makeZxid(5, 8) }],
    ['was applied beyond its end', { applied: makeZxid(5, 10) }],
    ['is of an epoch that was not promised', { epoch: 4, currentEpoch: 4 }],
    ['was taken over in an epoch to come', { currentEpoch: 7 }],
    ['begins behind its first zxid', { history: { ...ACK_EPOCH.history, base: makeZxid(5, 1) } }],
  ])('is refused when it %s', (_, change) => {
    expect(problem({ ...ACK_EPOCH, ...change })).not.toBe(null);
  });
});

it('refuses to become a member of an ensemble without an id', () => {
  expect(problem({ kind: 'newLeader', epoch: 6, last: 0, ensembleId: 'E', leaseMs: 9 })).toBe(null);
  expect(problem({ kind: 'newLeader', epoch: 6, last: 0, ensembleId: '', leaseMs: 9 })).not.toBe(
    null,
  );
});
