/**
 * Roles accepts messages that belong to a member's role, and rejects those of another role, and an
 * epoch that is promised twice. Member 2 follows 1, then 3; the steps are made by hand.
 */
import { describe, expect, it } from 'vitest';
import { newRoles } from './roles.js';
import {
  ackEpoch,
  from,
  history,
  note,
  role,
  send,
  TICK,
  Told,
  vote,
} from './testing/observations.js';

const PROMISE = ackEpoch(4, 3, history(3, 1, 1));

function following(leader: number): Told {
  const run = new Told(newRoles).started(1).started(2).started(3);
  return run.step(2, TICK, note('role.following', { leader }));
}

function offers(run: Told, leader: number, established = false): Told {
  const follows = run.step(2, TICK, note('role.following', { leader }));
  const offer = from(leader, { kind: 'newEpoch', epoch: 4, established });
  return follows.step(2, offer, send(leader, PROMISE));
}

describe('the checker of roles', () => {
  it('accepts messages of a learner to its leader, and votes to all members', () => {
    const run = following(1).step(2, TICK, send(1, { kind: 'ack', zxid: 1 }), send(3, vote({})));
    run.step(2, TICK, role('looking', 0, 1), note('role.looking'));
    run.step(2, TICK, note('role.leading'), send(3, { kind: 'commit', zxid: 1 }));
  });

  it('rejects messages that were held back for a role that has ended', () => {
    const ack = send(1, { kind: 'ack', zxid: 1 });
    expect(() => following(3).step(2, TICK, ack)).toThrow('says ack to 1, being following 3');
    const looking = following(1).step(2, TICK, note('role.looking'));
    expect(() => looking.step(2, TICK, ack)).toThrow('says ack to 1, being looking');
    const commit = send(1, { kind: 'commit', zxid: 1 });
    expect(() => following(1).step(2, TICK, commit)).toThrow('says commit to 1');
  });

  it('rejects an epoch that is promised to one member and then to another, restarted or not', () => {
    const promised = () => offers(following(1), 1);
    expect(() => offers(promised(), 3)).toThrow('promises epoch 4 to 3, having promised it to 1');
    expect(() => offers(promised().started(2), 3)).toThrow('having promised it to 1');
  });

  it('accepts the same epoch from the same leader, or from one that is established', () => {
    offers(offers(following(1), 1), 1);
    offers(offers(following(1), 1), 3, true);
  });
});
