/**
 * A follower's lease: how long it serves without an answer of its leader, and how long it waits for
 * one before it serves.
 *
 * Method: the core of member 1 alone, which is told what a leader 3 says, and whose disk is done at
 * once. Expected times follow from H of the leader and of the member, whichever is less.
 */
import { describe, expect, it } from 'vitest';
import { LEADER, OWN_LEASE_MS, TestFollower } from '../simulated/zab/follower.js';

/** Serves at 1,000 ms; its leader has answered a ping of that time, and never will again. */
function following(leaseMs: number): TestFollower {
  const follower = new TestFollower();
  follower.synchronize(leaseMs);
  follower.hear({ kind: 'upToDate', committed: 0 });
  follower.hear({ kind: 'ping', sent: 7, echo: 1_000 });
  expect(follower.role).toBe('following');
  expect(follower.outputs).toContainEqual(
    expect.objectContaining({ kind: 'role', role: 'following', leader: 3 }),
  );
  return follower;
}

/** Heard from all the time, but what is heard answers nothing. */
function endOfLease(follower: TestFollower): number {
  for (let nowMs = 1_000; nowMs < 60_000; nowMs += 50) {
    follower.hear({ kind: 'ping', sent: nowMs, echo: 1_000 });
    follower.tick(nowMs);
    if (follower.role !== 'following') return nowMs;
  }
  throw new Error('it never ended');
}

describe('the lease of a follower', () => {
  it.each([
    [1_000, 2_050],
    [OWN_LEASE_MS, 1_000 + OWN_LEASE_MS + 50],
    [60_000, 1_000 + OWN_LEASE_MS + 50],
  ])('that is led with H = %i ms ends at %i ms', (leaseMs, endMs) => {
    expect(endOfLease(following(leaseMs))).toBe(endMs);
  });

  it('says in whole milliseconds how long the leader was silent', () => {
    const follower = following(1_000);
    follower.tick(2_050.123_456);
    const reason = 'leader 3 has not answered for 1050 ms';
    expect(follower.outputs).toContainEqual(
      expect.objectContaining({
        event: 'role.looking',
        facts: expect.objectContaining({ reason }),
      }),
    );
  });

  it('that is led by a member that does not say its H is its own', () => {
    expect(endOfLease(following(0))).toBe(1_000 + OWN_LEASE_MS + 50);
  });
});

describe('a follower that does not serve yet', () => {
  function receiving(): TestFollower {
    const follower = new TestFollower();
    follower.tick(1_000);
    follower.beginSync(2, 0, 'snap');
    return follower;
  }

  it('follows while a snapshot comes in, though no ping gets past it', () => {
    const follower = receiving();
    for (let nowMs = 1_000; nowMs < 60_000; nowMs += 500) {
      follower.step({ kind: 'heard', peer: LEADER, link: 1 });
      follower.tick(nowMs);
    }
    expect(follower.role).toBe('following');
  });

  it('leaves a leader from which no more of the snapshot comes', () => {
    const follower = receiving();
    follower.tick(1_000 + OWN_LEASE_MS);
    expect(follower.role).toBe('following');
    follower.tick(1_001 + OWN_LEASE_MS);
    expect(follower.role).toBe('looking');
  });

  it('never serves if its leader last answered before the lease began', () => {
    const follower = new TestFollower();
    follower.synchronize(1_000);
    for (let nowMs = 1_000; nowMs < 3_000; nowMs += 50) {
      follower.hear({ kind: 'ping', sent: nowMs, echo: 1_000 });
      follower.tick(nowMs);
    }
    expect(follower.role).toBe('following');
    follower.hear({ kind: 'upToDate', committed: 0 });
    expect(follower.role).toBe('looking');
    const served = expect.objectContaining({ kind: 'role', role: 'following' });
    expect(follower.outputs).not.toContainEqual(served);
  });
});
