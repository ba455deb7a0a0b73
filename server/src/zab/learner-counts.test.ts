/**
 * Goal: a learner commits what is durable at itself and at its leader where these two are a quorum,
 * and nothing else. Method: one follower's core, which hears its leader; its disk is done at once
 * or when the test says so.
 */
import { makeZxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { proposalsAfter } from '../simulated/storage/toy-state.js';
import { LEADER, TestFollower } from '../simulated/zab/follower.js';

const FIRST = makeZxid(2, 1);
const batch = proposalsAfter(0, { epoch: 2, counter: 1, count: 1 });
const leaderDurable = { kind: 'leaderDurable', zxid: FIRST } as const;

function synchronized(members?: readonly number[]): TestFollower {
  const follower = new TestFollower(members);
  follower.synchronize();
  follower.hear({ kind: 'upToDate', committed: 0 });
  return follower;
}

function hearProposal(follower: TestFollower): void {
  follower.hear({ kind: 'propose', batch });
}

describe('a learner that is a quorum together with its leader', () => {
  it('applies what is durable at both without a COMMIT', () => {
    const follower = synchronized();
    hearProposal(follower);
    expect(follower.delivered).toBe(0);
    follower.hear(leaderDurable);
    expect(follower.delivered).toBe(FIRST);
  });

  it('waits for its own disk', () => {
    const follower = synchronized();
    follower.isDiskSlow = true;
    hearProposal(follower);
    follower.hear(leaderDurable);
    expect(follower.delivered).toBe(0);
    follower.finishWriting();
    expect(follower.delivered).toBe(FIRST);
  });

  it('acknowledges it to the leader all the same', () => {
    const follower = synchronized();
    hearProposal(follower);
    follower.hear(leaderDurable);
    const message = { kind: 'ack', zxid: FIRST };
    const ack = { kind: 'send', peer: LEADER, link: 1, message };
    expect(follower.outputs).toContainEqual(ack);
  });

  it('before UPTODATE it commits nothing and leaves such a leader', () => {
    const follower = new TestFollower();
    follower.synchronize();
    hearProposal(follower);
    follower.hear(leaderDurable);
    expect(follower.delivered).toBe(0);
    expect(follower.role).toBe('looking');
  });

  it('has no vote and commits nothing while it is wiped and being synchronized', () => {
    const follower = new TestFollower([1, 2, 3], { isWiped: true });
    follower.tick(1_000);
    follower.beginSync(2);
    expect(follower.role).toBe('following');
    hearProposal(follower);
    follower.hear(leaderDurable);
    expect(follower.delivered).toBe(0);
    expect(follower.role).toBe('looking');
  });

  it('forgets with the term what was durable at the leader of that term', () => {
    const follower = synchronized();
    follower.isDiskSlow = true;
    hearProposal(follower);
    follower.hear(leaderDurable);
    follower.leaveLeader();
    follower.finishWriting();
    follower.isDiskSlow = false;
    follower.followInEpoch(3, FIRST);
    expect(follower.delivered).toBe(0);
    follower.hear({ kind: 'upToDate', committed: FIRST });
    expect(follower.delivered).toBe(FIRST);
  });

  it('leaves a leader that names what it never sent', () => {
    const follower = synchronized();
    follower.hear(leaderDurable);
    expect(follower.role).toBe('looking');
  });
});

describe('one of five members', () => {
  it('waits for the COMMIT of its leader', () => {
    const follower = synchronized([1, 2, 3, 4, 5]);
    hearProposal(follower);
    follower.hear(leaderDurable);
    expect(follower.delivered).toBe(0);
    follower.hear({ kind: 'commit', zxid: FIRST });
    expect(follower.delivered).toBe(FIRST);
  });
});
