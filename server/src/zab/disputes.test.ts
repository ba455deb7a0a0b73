/**
 * Goal: which agreement among its learners makes a would-be leader give up its history, while the
 * list of members is being changed, too. Method: a member that has its epoch from one leadership,
 * and learners that have it from others; no messages.
 */
import { type AckEpoch, makeZxid, WIRE_VERSION_MAX } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { onDisputed } from './disputes.js';
import { Learner, Learners } from './learner.js';
import { type Link, Replica } from './replica.js';

const LAST = makeZxid(2, 3);
const HISTORY = { base: makeZxid(1, 9), ranges: [{ epoch: 2, first: 1, last: 3 }] };
const OWN = 31;

/** Member `id`, about to lead; it served with `former` before. */
function leader(id: number, members: readonly number[], ...former: number[][]): Replica {
  const times = { heartbeatMs: 100, peerTimeoutMs: 1000, settleMs: 200 };
  const patience = { initTimeoutMs: 5000, syncTimeoutMs: 5000 };
  const sizes = { windowBytesMax: 1, deliveryBytesMax: 1, learnerWindowBytesMax: 1 };
  const one = { newEnsembleId: 'E', newIdentity: 7, foundWithQuorum: false, chunkBytesMax: 1 };
  const lists = { id, members, formerMembers: former };
  return new Replica(
    { ...lists, ...times, ...patience, ...sizes, ...one },
    {
      acceptedEpoch: 2,
      currentEpoch: 2,
      ensembleId: 'E',
      founded: true,
      sound: true,
      applied: LAST,
      history: HISTORY,
      suffix: [],
      lineage: [{ epoch: 2, identity: OWN }],
    },
  );
}

/** Whether `member` gives up when the last of these learners has said who led epoch 2 there. */
function givesUp(member: Replica, told: Readonly<Record<number, number>>, voteless?: number) {
  const learners = new Learners(member);
  const gaveUp = Object.entries(told).map(([id, identity]) => {
    const learner = new Learner(linkTo(Number(id)), Number(id) !== voteless, 2);
    learner.ackEpoch = ackEpoch(identity);
    learners.set(learner);
    return onDisputed(member, learners, learner);
  });
  expect(member.sound).toBe(!gaveUp.at(-1));
  expect(gaveUp.slice(0, -1)).not.toContain(true);
  return gaveUp.at(-1);
}

function ackEpoch(identity: number): AckEpoch {
  return {
    kind: 'ackEpoch',
    epoch: 3,
    currentEpoch: 2,
    last: LAST,
    applied: LAST,
    history: HISTORY,
    snapshotOnly: false,
    lineage: [{ epoch: 2, identity }],
  };
}

function linkTo(peer: number): Link {
  const times = { heardAtMs: 0, contactAtMs: 0, echo: 0 };
  const now = { vote: null, roomSinceMs: 0, offeredEpoch: null, streaming: false };
  return { peer, link: peer, version: WIRE_VERSION_MAX, ...times, ...now };
}

describe('a would-be leader whose history others do not have', () => {
  it('gives it up when a majority has one other history', () => {
    expect(givesUp(leader(3, [1, 2, 3]), { 1: 21, 2: 21 })).toBe(true);
    expect(givesUp(leader(5, [1, 2, 3, 4, 5]), { 1: 21, 2: 21, 3: 21 })).toBe(true);
  });

  it('keeps it while too few agree, have a vote, or contradict it', () => {
    const five = [1, 2, 3, 4, 5];
    expect(givesUp(leader(5, five), { 1: 21, 2: 21 })).toBe(false);
    expect(givesUp(leader(5, five), { 1: 21, 2: 21, 3: 22, 4: 22 })).toBe(false);
    expect(givesUp(leader(5, five), { 1: 21, 2: 21, 3: OWN })).toBe(false);
    expect(givesUp(leader(5, five), { 1: 21, 2: 21, 3: 21 }, 3)).toBe(false);
  });
});

describe('while the list of members is being changed', () => {
  it('a majority of a shorter list does not suffice without one of the longer list', () => {
    const former = [1, 2, 3, 4, 5];
    expect(givesUp(leader(3, [1, 2, 3], former), { 1: 21, 2: 21 })).toBe(false);
    expect(givesUp(leader(4, [1, 2, 3, 4], former), { 1: 21, 2: 21, 3: 21 })).toBe(true);
  });

  it('a majority of the shorter former list does not suffice without one of the new list', () => {
    const now = [1, 2, 3, 4, 5];
    expect(givesUp(leader(3, now, [1, 2, 3]), { 1: 21, 2: 21 })).toBe(false);
    expect(givesUp(leader(3, now, [1, 2, 3]), { 1: 21, 2: 21, 4: 21 })).toBe(true);
  });

  it('the list that only another member served with counts, too', () => {
    const member = leader(3, [1, 2, 3]);
    member.quorums.include([[1, 2, 3, 4, 5]]);
    expect(givesUp(member, { 1: 21, 2: 21 })).toBe(false);
  });
});
