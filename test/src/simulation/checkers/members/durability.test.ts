/**
 * Durability accepts messages whose content is durable, and rejects each message that precedes the
 * disk, each commit that is not on a quorum, and each currentEpoch that precedes its history.
 */
import { describe, expect, it } from 'vitest';
import { newDurability } from './durability.js';
import {
  ackEpoch,
  ackNewLeader,
  append,
  deliver,
  from,
  history,
  install,
  newLeader,
  persisted,
  proposals,
  role,
  save,
  send,
  TICK,
  Told,
  vote,
  zxid,
} from './testing/observations.js';

const FOUND = {
  ensembleId: 'ensemble',
  founded: true,
  acceptedEpoch: 1,
  currentEpoch: 1,
  history: history(1, 1, 3),
  suffix: [proposals(1, 1, 3, 0)],
  last: zxid(1, 3),
};

const told = () => new Told(newDurability).started(1, FOUND).started(2, FOUND).started(3, FOUND);

/** Member 2 joins the leader of epoch 2, which has one proposal that it lacks. */
function joining(): Told {
  const run = told()
    .step(2, TICK, save(1, 2, 1))
    .step(2, persisted(1));
  run.step(2, TICK, send(1, ackEpoch(2, 1, FOUND.history)));
  return run.step(2, TICK, append(2, proposals(2, 1, 1, zxid(1, 3))));
}

const LAST = zxid(2, 1);

describe('the checker of durability', () => {
  it('accepts a term in which everything waits for the disk', () => {
    const run = joining().step(2, from(1, newLeader(2, LAST)), save(3, 2, 2));
    run.step(2, persisted(3), send(1, ackNewLeader(2, LAST)));
    run.step(1, TICK, save(1, 2, 1)).step(1, persisted(1), save(2, 2, 2));
    run.step(1, persisted(2), append(3, proposals(2, 1, 1, zxid(1, 3)))).step(1, persisted(3));
    run.step(1, TICK, role('leading', 1, 2), deliver(proposals(1, 1, 3, 0)));
    run.step(1, TICK, send(2, { kind: 'upToDate', committed: LAST }));
    run.step(2, TICK, deliver(proposals(1, 1, 3, 0)), deliver(proposals(2, 1, 1, zxid(1, 3))));
    run.step(2, TICK, append(4, proposals(2, 2, 2))).step(2, persisted(4));
    run.step(2, TICK, send(1, { kind: 'ack', zxid: zxid(2, 2) }));
  });

  it('rejects an ack before the append is durable', () => {
    const ack = { kind: 'ack', zxid: LAST } as const;
    expect(() => joining().step(2, TICK, send(1, ack))).toThrow(
      /durable before, and.*: member 2 .*acknowledges 0x200000001/,
    );
  });

  it('rejects ACK(NEWLEADER) before the history, and before currentEpoch, are durable', () => {
    const run = () => joining().step(2, from(1, newLeader(2, LAST)), save(3, 2, 2));
    const ack = send(1, ackNewLeader(2, LAST));
    expect(() => run().step(2, TICK, ack)).toThrow(/acknowledges NEWLEADER with 0x200000001/);
    expect(() => run().step(2, persisted(2), ack)).toThrow(/entered epoch 2; durable are 2 .*1/);
  });

  it('rejects ACKEPOCH and an offer of an epoch before acceptedEpoch is durable', () => {
    const run = () => told().step(2, TICK, save(1, 2, 1));
    const promise = ackEpoch(2, 1, FOUND.history);
    expect(() => run().step(2, TICK, send(1, promise))).toThrow(/promises epoch 2/);
    const offer = { kind: 'newEpoch', epoch: 2, established: false } as const;
    expect(() => run().step(2, TICK, send(1, offer))).toThrow(/offers epoch 2/);
    const cepoch = { kind: 'followerInfo', acceptedEpoch: 2 } as const;
    expect(() => run().step(2, TICK, send(1, cepoch))).toThrow(/has promised epoch 2/);
  });

  it('rejects an ACKEPOCH with a history other than the durable one', () => {
    const run = told()
      .step(2, TICK, save(1, 2, 1))
      .step(2, persisted(1));
    const more = ackEpoch(2, 1, history(1, 1, 4));
    expect(() => run.step(2, TICK, send(1, more))).toThrow(/tells of the history/);
  });

  it('rejects currentEpoch before NEWLEADER, and before its history', () => {
    expect(() => joining().step(2, TICK, save(3, 2, 2))).toThrow(/before NEWLEADER/);
    const offer = from(1, { kind: 'newEpoch', epoch: 2, established: false });
    expect(() => told().step(2, offer, save(1, 2, 1), save(2, 2, 2))).toThrow(/before NEWLEADER/);
    const late = from(1, newLeader(2, zxid(2, 2)));
    expect(() => joining().step(2, late, save(3, 2, 2))).toThrow(/its log ends at 0x200000001/);
  });

  it('rejects a vote of a candidate with history that is not durable', () => {
    const run = () => told().step(2, TICK, append(1, proposals(1, 4, 4)));
    const stands = (counter: number) =>
      send(1, vote({ leader: 2, epoch: 1, zxid: zxid(1, counter) }));
    expect(() => run().step(2, TICK, stands(4))).toThrow(/stands with epoch 1 and 0x100000004/);
    expect(() => run().step(2, TICK, stands(3))).toThrow(/stands/);
    expect(() => run().step(2, persisted(1), stands(3))).toThrow(/stands/);
    expect(() => run().step(2, persisted(1), stands(4))).not.toThrow();
  });

  it('rejects a commit, an upToDate and a delivery of what no quorum has', () => {
    const more = proposals(1, 4, 4);
    const run = () => told().step(1, TICK, append(1, more)).step(1, persisted(1));
    const commit = send(2, { kind: 'commit', zxid: zxid(1, 4) });
    expect(() => run().step(1, TICK, commit)).toThrow(/commit of 0x100000004, which 1 disks hold/);
    const upToDate = send(2, { kind: 'upToDate', committed: zxid(1, 4) });
    expect(() => run().step(1, TICK, upToDate)).toThrow(/which 1 disks hold/);
    expect(() => run().step(1, TICK, deliver(more))).toThrow(/which 1 disks hold/);
    const two = () => run().step(3, TICK, append(1, more)).step(3, persisted(1));
    expect(() => two().step(1, TICK, commit)).not.toThrow();
  });

  it('accepts that a leader delivers in its next epoch what was committed in the last one', () => {
    const more = proposals(1, 4, 4);
    const run = () => told().step(1, TICK, append(1, more)).step(1, persisted(1));
    const enter = (one: Told) => one.step(1, TICK, save(2, 2, 2)).step(1, persisted(2));
    const committed = run().step(3, TICK, append(1, more)).step(3, persisted(1));
    expect(() => enter(committed).step(1, TICK, deliver(more))).not.toThrow();
    expect(() => enter(run()).step(1, TICK, deliver(more))).toThrow(/which 1 disks hold/);
  });

  it('rejects a delivery of what is not durable at this member', () => {
    const run = told().step(1, TICK, append(1, proposals(1, 4, 4)));
    expect(() => run.step(1, TICK, deliver(proposals(1, 4, 4)))).toThrow(/delivers 0x100000004/);
  });

  it('rejects a leader whose epoch is not on a quorum of disks', () => {
    const run = told()
      .step(1, TICK, save(1, 2, 1))
      .step(1, TICK, save(2, 2, 2));
    run.step(1, persisted(2));
    expect(() => run.step(1, TICK, role('leading', 1, 2))).toThrow(/entered on 1 disks/);
  });

  it('counts a wiped member for what it had, and for nothing since, until it has synchronized', () => {
    const more = proposals(1, 4, 4);
    const commit = (counter: number) => send(3, { kind: 'commit', zxid: zxid(1, counter) });
    const run = () =>
      told().step(1, TICK, append(1, more)).step(1, persisted(1)).struck(2, 'wiped').started(2);
    expect(() => run().step(1, TICK, commit(3))).not.toThrow();
    const back = () => run().step(2, TICK, save(1, 1, 0, ''), install(2, zxid(1, 3)));
    const appended = () => back().step(2, TICK, append(3, more)).step(2, persisted(3));
    expect(() => appended().step(1, TICK, commit(4))).toThrow(/which 1 disks hold/);
    const entered = appended().step(2, from(1, newLeader(1, zxid(1, 4))), save(4, 1, 1));
    entered.step(2, persisted(4), send(1, ackNewLeader(1, zxid(1, 4))));
    expect(() => entered.step(1, TICK, commit(4))).not.toThrow();
  });

  it('lets a member go on whose disk decays, and counts what it had when it starts damaged', () => {
    const more = proposals(1, 4, 4);
    const commit = (counter: number) => send(3, { kind: 'commit', zxid: zxid(1, counter) });
    const run = () => told().step(1, TICK, append(1, more)).step(1, persisted(1));
    const decayed = () => run().step(2, TICK, append(1, more)).struck(2, 'decayed');
    const durable = () => decayed().step(2, persisted(1));
    durable()
      .step(2, TICK, send(1, { kind: 'ack', zxid: zxid(1, 4) }))
      .step(1, TICK, commit(4));
    const lost = { damaged: 'a record has a wrong checksum' };
    expect(() => durable().started(2, lost).step(1, TICK, commit(4))).not.toThrow();
    expect(() => decayed().started(2, lost).step(1, TICK, commit(4))).toThrow('which 1 disks hold');
  });
});
