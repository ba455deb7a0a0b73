/**
 * CommittedStays accepts that undelivered proposals are removed, and rejects every way in which a
 * delivered one could be lost.
 */
import { describe, expect, it } from 'vitest';
import { newCommittedStays } from './committed-stays.js';
import {
  ackNewLeader,
  append,
  deliver,
  history,
  install,
  persisted,
  proposals,
  role,
  save,
  send,
  stateOf,
  TICK,
  Told,
  truncate,
  zxid,
} from './testing/observations.js';

const FOUND = { ensembleId: 'ensemble', founded: true, acceptedEpoch: 1, currentEpoch: 1 };

/** All members have five in their logs; member 1 has delivered three. */
function delivered(): Told {
  const run = new Told(newCommittedStays);
  for (const id of [1, 2, 3]) {
    run
      .started(id, FOUND)
      .step(id, TICK, append(1, proposals(1, 1, 5, 0)))
      .step(id, persisted(1));
  }
  return run.step(1, TICK, deliver(proposals(1, 1, 3, 0)));
}

function holding(last: number) {
  return { ...FOUND, history: history(1, 1, last), last: zxid(1, last) };
}

describe('the checker of what was delivered', () => {
  it('accepts truncations and snapshots above it, and leaders and followers that have it', () => {
    const run = delivered()
      .step(2, TICK, truncate(2, zxid(1, 3)))
      .step(2, persisted(2));
    run.step(1, TICK, role('leading', 1, 2)).step(2, TICK, deliver(proposals(1, 1, 3, 0)));
    run.step(2, TICK, role('following', 1, 2));
    run.step(3, TICK, install(2, zxid(1, 3))).step(3, persisted(2));
    run.started(3, { ...holding(3), history: { base: zxid(1, 3), ranges: [] } });
    const state = stateOf();
    run.end({ member: 1, state, applied: zxid(1, 3) }, { member: 2, state, applied: zxid(1, 3) });
  });

  it('rejects a truncation of what another member has delivered', () => {
    expect(() => delivered().step(2, TICK, truncate(2, zxid(1, 2)))).toThrow(
      /delivered anywhere stays.*: member 2 .*truncates behind 0x100000002 and loses 0x100000003/,
    );
  });

  it('accepts a truncation of what another leadership proposed, until that member is in sync', () => {
    const forged = () => delivered().struck(2, 'forged').started(2, holding(5));
    forged().step(2, TICK, truncate(1, 0)).step(2, persisted(1));
    const synced = forged().step(2, TICK, send(1, ackNewLeader(1, zxid(1, 5))));
    expect(() => synced.step(2, TICK, truncate(1, 0))).toThrow('and loses 0x100000001');
  });

  it('rejects a truncation below what the member itself has delivered', () => {
    const pattern = /truncates behind 0x100000002, but has delivered 0x100000003/;
    expect(() => delivered().step(1, TICK, truncate(2, zxid(1, 2)))).toThrow(pattern);
  });

  it('rejects a snapshot that removes a delivered proposal from a log', () => {
    const pattern = /snapshot at 0x100000002 and loses 0x100000003/;
    expect(() => delivered().step(2, TICK, install(2, zxid(1, 2)))).toThrow(pattern);
  });

  it('rejects a leader that lacks it', () => {
    const run = delivered()
      .struck(2, 'wiped')
      .started(2)
      .step(2, TICK, save(1, 2, 2));
    expect(() => run.step(2, TICK, role('leading', 2, 2))).toThrow(/is leading in epoch 2/);
  });

  it('rejects a follower that serves without what was delivered when its epoch began', () => {
    const run = delivered().step(1, TICK, role('leading', 1, 2));
    expect(() => run.step(2, TICK, role('following', 1, 2))).toThrow(/is following in epoch 2/);
  });

  it('rejects restarts that leave it with a minority, and counts lost disks as holders', () => {
    const run = () => delivered().started(2, holding(2));
    expect(() => run().started(3, holding(2))).toThrow(
      /leaves 0x100000003, delivered, with 1 alone/,
    );
    run().struck(3, 'wiped').started(3);
    run()
      .struck(3, 'flipped')
      .started(3, { ...FOUND, damaged: 'a record does not check' });
  });

  it('rejects an end at which some member has not applied it', () => {
    const end = { member: 2, state: stateOf(), applied: zxid(1, 2) };
    expect(() => delivered().end(end)).toThrow(/member 2 has applied 0x100000002 of 0x100000003/);
  });
});
