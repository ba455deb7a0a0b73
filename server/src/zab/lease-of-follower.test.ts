/**
 * A follower's lease: how long it serves without an answer of its leader.
 *
 * Method: the core of member 1 alone, which is told what a leader 3 says, and whose disk is done at
 * once. Expected times follow from H of the leader and of the member, whichever is less.
 */
import { type CoreMessage, makeZxid, WIRE_VERSION_MAX } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { ZabInput, ZabOutput } from './types.js';
import { Zab } from './zab.js';

const OWN_MS = 12_000;

class Follower {
  readonly outputs: ZabOutput[] = [];
  readonly #zab = new Zab(
    {
      ...{ id: 1, voters: [1, 2, 3], heartbeatMs: 100, timeoutMs: OWN_MS, settleMs: 200 },
      ...{ initTimeoutMs: 20_000, syncTimeoutMs: 10_000, windowBytesMax: 1000 },
      learnerWindowBytesMax: 1000,
      ...{ deliveryBytesMax: 1000, chunkBytesMax: 1000, newIdentity: 7, newEnsembleId: 'new' },
      foundWithQuorum: false,
    },
    {
      ...{ acceptedEpoch: 1, currentEpoch: 1, ensembleId: 'E', founded: true, sound: true },
      ...{ applied: 0, history: { base: 0, ranges: [] }, suffix: [], lineage: [] },
    },
  );

  get role(): string {
    return this.#zab.role;
  }

  step(input: ZabInput): void {
    for (const output of this.#zab.step(input)) {
      this.outputs.push(output);
      if ('ticket' in output) this.step({ kind: 'persisted', ticket: output.ticket });
    }
  }

  hear(message: CoreMessage): void {
    this.step({ kind: 'message', peer: 3, link: 1, message });
  }

  tick(nowMs: number): void {
    this.step({ kind: 'tick', nowMs });
  }
}

/** Serves at 1,000 ms; its leader has answered a ping of that time, and never will again. */
function following(leaseMs: number): Follower {
  const follower = new Follower();
  follower.tick(1_000);
  follower.step({ kind: 'connected', peer: 3, link: 1, version: WIRE_VERSION_MAX });
  const vote = { round: 1, leader: 3, epoch: 2, zxid: makeZxid(1, 0), ensembleId: 'E' } as const;
  follower.hear({ kind: 'vote', state: 'leading', ...vote, founded: true, sound: true });
  follower.hear({ kind: 'newEpoch', epoch: 2, established: false });
  follower.hear({ kind: 'syncStart', mode: 'diff', after: 0, lineage: [], diverged: false });
  follower.hear({ kind: 'newLeader', epoch: 2, last: 0, ensembleId: 'E', leaseMs });
  follower.hear({ kind: 'upToDate', committed: 0 });
  follower.hear({ kind: 'ping', sent: 7, echo: 1_000 });
  expect(follower.role).toBe('following');
  expect(follower.outputs).toContainEqual(
    expect.objectContaining({ kind: 'role', role: 'following', leader: 3 }),
  );
  return follower;
}

/** Heard from all the time, but what is heard answers nothing. */
function endOfLease(follower: Follower): number {
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
    [OWN_MS, 1_000 + OWN_MS + 50],
    [60_000, 1_000 + OWN_MS + 50],
  ])('that is led with H = %i ms ends at %i ms', (leaseMs, endMs) => {
    expect(endOfLease(following(leaseMs))).toBe(endMs);
  });

  it('that is led by a member that does not say its H is its own', () => {
    expect(endOfLease(following(0))).toBe(1_000 + OWN_MS + 50);
  });
});
