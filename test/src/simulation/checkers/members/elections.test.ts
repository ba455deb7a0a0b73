/**
 * An election by stale or second-hand votes is rejected, and a correct one is not. The steps of
 * member 1 of three are made by hand.
 */
import { makeZxid, type VoteMessage, WIRE_VERSION_MAX } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { ZabInput, ZabOutput } from '../../../simulated.js';
import { newElections } from './elections.js';

const ZXID = makeZxid(3, 7);
const FACTS = {
  members: 3,
  peerTimeoutMs: 1000,
  heartbeatMs: 100,
  clockDrift: 0,
  clockToleranceMs: 10_000,
  reapEveryMs: 60_000,
  latencyMaxMs: 1,
};

const STANDS_ITSELF = voteOf({ leader: 2 });

function voteOf(change: Partial<VoteMessage>): VoteMessage {
  return {
    kind: 'vote',
    state: 'looking',
    round: 5,
    leader: 2,
    epoch: 3,
    zxid: ZXID,
    ensembleId: 'x',
    founded: true,
    sound: true,
    ...change,
  };
}

/** Member 1 receives these votes of 2 and 3, and elects 2 in round 5. */
function elects(votes: { readonly of2?: VoteMessage; readonly of3?: VoteMessage }): () => void {
  return () => {
    const checker = newElections(FACTS);
    const step = (input: ZabInput, outputs: readonly ZabOutput[] = []) =>
      checker.onStep?.({ order: 1, atMs: 1, member: 1, incarnation: 1, ownMs: 1, input, outputs });
    for (const [peer, message] of [[2, votes.of2] as const, [3, votes.of3] as const]) {
      step({ kind: 'connected', peer, link: peer, version: WIRE_VERSION_MAX });
      if (message !== undefined) step({ kind: 'message', peer, link: peer, message });
    }
    const facts = { leader: 2, epoch: 3, zxid: '0x300000007', round: 5 };
    step({ kind: 'tick', nowMs: 1 }, [{ kind: 'note', event: 'election.decided', facts }]);
  };
}

describe('an election', () => {
  it('by a quorum, of a member that votes for itself, is accepted', () => {
    expect(elects({ of2: STANDS_ITSELF })).not.toThrow();
    expect(elects({ of2: STANDS_ITSELF, of3: voteOf({ leader: 3 }) })).not.toThrow();
  });

  it('must not count votes of another round, or for another member', () => {
    expect(elects({ of2: voteOf({ round: 4 }) })).toThrow('by the votes of 1 alone');
    expect(elects({ of2: voteOf({ leader: 3 }) })).toThrow('by the votes of 1 alone');
    const offer = voteOf({ state: 'following', leader: 1 });
    expect(elects({ of3: offer })).toThrow('by the votes of 1 alone');
  });

  it('must not accept second-hand votes for a candidate', () => {
    const hearsay = voteOf({ leader: 2 });
    expect(elects({ of3: hearsay })).toThrow('which was not heard');
    expect(elects({ of2: voteOf({ leader: 3 }), of3: hearsay })).toThrow('said looking 3');
    expect(elects({ of2: voteOf({ zxid: makeZxid(3, 6) }) })).toThrow('0x300000006 last');
  });
});
