/**
 * Discovery accepts an epoch that is entered with the newest history of those that accepted its
 * leader, and rejects one that is not. Member 1 leads; the steps are made by hand.
 */
import { describe, expect, it } from 'vitest';
import { newDiscovery } from './discovery.js';
import {
  ackEpoch,
  ackNewLeader,
  from,
  history,
  note,
  save,
  send,
  TICK,
  Told,
  vote,
  zxid,
} from './testing/observations.js';

const MEMBER = { ensembleId: 'ensemble', founded: true, acceptedEpoch: 2, currentEpoch: 2 };
const LEADS = vote({ state: 'leading', leader: 1, epoch: 2, zxid: zxid(2, 5) });

/** Member 1 has 2:5 and begins to lead; no other member has accepted it yet. */
function leading(): Told {
  const run = new Told(newDiscovery).started(1, MEMBER).started(2, MEMBER).started(3, MEMBER);
  return run.step(1, TICK, note('role.leading'), send(2, LEADS));
}

const ENTERS = save(1, 3, 3);

describe('the checker of discovery', () => {
  it('accepts equal and older history', () => {
    const run = leading().step(1, from(2, ackEpoch(3, 2, history(2, 1, 5))));
    run.step(1, from(3, ackEpoch(3, 1, history(1, 1, 9))), ENTERS);
  });

  it('rejects entering an epoch after newer history of the same epoch, or of a later one', () => {
    const longer = leading().step(1, from(2, ackEpoch(3, 2, history(2, 1, 6))));
    expect(() => longer.step(1, TICK, ENTERS)).toThrow(/heard epoch 2 0x200000006 of member 2/);
    const later = leading().step(1, from(2, ackEpoch(4, 3, history(1, 1, 1))));
    expect(() => later.step(1, TICK, save(1, 4, 4))).toThrow(/heard epoch 3 0x100000001/);
  });

  it('accepts newer history from another term, and from a member without a vote', () => {
    const newer = from(2, ackEpoch(3, 2, history(2, 1, 6)));
    const again = leading().step(1, newer).step(1, TICK, note('role.looking'));
    again.step(1, TICK, note('role.leading'), send(2, LEADS), ENTERS);
    const wiped = leading().started(2).step(1, newer);
    wiped.step(1, TICK, ENTERS);
  });

  it('accepts what looks newer of another leadership, until that member has synchronized', () => {
    const newer = from(2, ackEpoch(3, 2, history(2, 1, 6)));
    const forged = leading().struck(2, 'forged').started(2, MEMBER).step(1, newer);
    forged.step(1, TICK, ENTERS);
    const synced = leading().struck(2, 'forged').started(2, MEMBER);
    synced.step(2, TICK, send(1, ackNewLeader(2, zxid(2, 5)))).step(1, newer);
    expect(() => synced.step(1, TICK, ENTERS)).toThrow(/heard epoch 2 0x200000006 of member 2/);
  });
});
