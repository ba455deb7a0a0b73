/**
 * SameOrder accepts the same transactions in the same order, by whatever way a member received
 * them, and rejects every kind of difference.
 */
import { ProposalBatch } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { newSameOrder } from './same-order.js';
import {
  ackNewLeader,
  append,
  deliver,
  history,
  install,
  proposals,
  propose,
  send,
  TICK,
  Told,
  zxid,
} from './testing/observations.js';

/** Member 1 proposes five, delivers and applies three. */
function told(): Told {
  const those = proposals(1, 1, 5, 0);
  const run = new Told(newSameOrder).step(1, propose(those), append(1, those));
  run.step(1, TICK, deliver(proposals(1, 1, 3, 0)));
  for (const counter of [1, 2, 3]) run.applied(1, zxid(1, counter), {});
  return run;
}

describe('the checker of the order', () => {
  it('accepts others that append, deliver and apply the same, and a fourth after them', () => {
    const run = told().step(2, TICK, append(1, proposals(1, 1, 4, 0)));
    run.step(2, TICK, deliver(proposals(1, 1, 4, 0)));
    for (const counter of [1, 2, 3, 4]) run.applied(2, zxid(1, counter), {});
    run.step(1, TICK, deliver(proposals(1, 4, 4))).applied(1, zxid(1, 4), {});
  });

  it('accepts a start at a checkpoint and a snapshot, and what follows them', () => {
    const run = told().started(2, { checkpointZxid: zxid(1, 2), suffix: [proposals(1, 3, 5)] });
    run.step(2, TICK, deliver(proposals(1, 3, 3))).applied(2, zxid(1, 3), {});
    run.step(3, TICK, install(1, zxid(1, 2)));
    run.step(3, TICK, deliver(proposals(1, 3, 3))).applied(3, zxid(1, 3), {});
  });

  it('rejects another transaction at the same position', () => {
    const other = proposals(2, 1, 1, zxid(1, 1));
    const run = told().step(3, propose(other), append(1, other));
    expect(() => run.step(2, TICK, deliver(proposals(1, 1, 1, 0)), deliver(other))).toThrow(
      /same order: member 2 .*delivers 0x200000001 as number 1, where 0x100000002/,
    );
  });

  it('rejects another body at the same zxid: appended, delivered, found after a restart', () => {
    const one = { zxid: zxid(1, 1), previous: 0, body: Buffer.from('other') };
    const wrong = ProposalBatch.of([one]);
    const pattern = /0x100000001, with another body/;
    expect(() => told().step(2, TICK, append(1, wrong))).toThrow(pattern);
    expect(() => told().step(2, TICK, deliver(wrong))).toThrow(pattern);
    const found = { suffix: [wrong], history: history(1, 1, 1), last: zxid(1, 1) };
    expect(() => told().started(2, found)).toThrow(pattern);
  });

  it('accepts another body that is found in a log of another leadership, not that it spreads', () => {
    const one = { zxid: zxid(1, 1), previous: 0, body: Buffer.from('other') };
    const wrong = ProposalBatch.of([one]);
    const found = { suffix: [wrong], history: history(1, 1, 1), last: zxid(1, 1) };
    const forged = () => told().struck(2, 'forged').started(2, found).started(2, found);
    expect(() => forged()).not.toThrow();
    const pattern = /0x100000001, with another body/;
    expect(() => forged().step(2, TICK, deliver(wrong))).toThrow(pattern);
    expect(() => forged().step(3, TICK, append(1, wrong))).toThrow(pattern);
    const synced = forged().step(2, TICK, send(1, ackNewLeader(1, zxid(1, 1))));
    expect(() => synced.started(2, found)).toThrow(pattern);
  });

  it('rejects what nobody proposed, and a zxid that is proposed twice', () => {
    expect(() => told().step(2, TICK, append(1, proposals(1, 6, 6)))).toThrow(/nobody proposed/);
    expect(() => told().step(2, propose(proposals(1, 5, 5)))).toThrow(/was used/);
  });

  it('rejects a checkpoint or a snapshot at a zxid that nobody delivered', () => {
    const pattern = /0x100000004, which nobody delivered/;
    expect(() => told().started(2, { checkpointZxid: zxid(1, 4) })).toThrow(pattern);
    expect(() => told().step(2, TICK, install(1, zxid(1, 4)))).toThrow(pattern);
  });

  it('rejects what is applied twice, out of order, or without having been delivered', () => {
    expect(() => told().applied(1, zxid(1, 3), {})).toThrow(/applied 0x100000003, but/);
    const run = told().step(2, TICK, deliver(proposals(1, 1, 2, 0)));
    expect(() => run.applied(2, zxid(1, 2), {})).toThrow(/applied 0x100000002, but/);
    expect(() => told().applied(2, zxid(1, 1), {})).toThrow(/applied 0x100000001, but/);
  });
});
