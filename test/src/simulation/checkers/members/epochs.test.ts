/**
 * Epochs accepts successive terms, and rejects epochs that decrease and epochs with two leaders.
 */
import { describe, expect, it } from 'vitest';
import { newEpochs } from './epochs.js';
import {
  append,
  persisted,
  proposals,
  propose,
  role,
  save,
  send,
  TICK,
  Told,
  zxid,
} from './testing/observations.js';

/** Member 1 leads epoch 1 and has proposed two; member 2 follows. */
function led(): Told {
  const run = new Told(newEpochs).started(1).started(2).started(3);
  run
    .step(1, TICK, save(1, 1, 0))
    .step(1, TICK, save(2, 1, 1))
    .step(1, persisted(2));
  run
    .step(2, TICK, save(1, 1, 0))
    .step(2, TICK, save(2, 1, 1))
    .step(2, persisted(2));
  run.step(1, TICK, role('leading', 1, 1), send(2, { kind: 'upToDate', committed: 0 }));
  run.step(2, TICK, role('following', 1, 1));
  const those = proposals(1, 1, 2, 0);
  return run.step(1, propose(those), append(3, those)).step(2, TICK, append(3, those));
}

const DURABLE = { acceptedEpoch: 1, currentEpoch: 1 };

describe('the checker of epochs', () => {
  it('accepts a second term, of a higher epoch, after a restart', () => {
    const run = led()
      .started(2, DURABLE)
      .step(2, TICK, save(1, 2, 1), save(2, 2, 2));
    run.step(2, TICK, role('leading', 2, 2)).step(1, TICK, role('looking', 0, 1));
    run.step(2, propose(proposals(2, 1, 1, zxid(1, 2))));
  });

  it('rejects an epoch that decreases in an incarnation, and current above accepted', () => {
    const pattern = /epochs never decrease.*: member 2 .*saves epochs/;
    expect(() => led().step(2, TICK, save(3, 0, 0))).toThrow(pattern);
    expect(() => led().step(2, TICK, save(3, 1, 0))).toThrow(pattern);
    expect(() => led().step(2, TICK, save(3, 1, 2))).toThrow(pattern);
  });

  it('rejects an epoch that decreases over a restart, except on a struck disk', () => {
    const old = { acceptedEpoch: 1, currentEpoch: 0 };
    expect(() => led().started(2, old)).toThrow(/starts with epochs 1\/0, had 1\/1 durably/);
    led().struck(2, 'wiped').started(2);
    expect(() => led().started(2, { acceptedEpoch: 1, currentEpoch: 2 })).toThrow(/above/);
  });

  it('rejects a second leader of an epoch: another member, another term, another incarnation', () => {
    const pattern = /leads epoch 1, which member 1 \(life 1\) has led/;
    expect(() => led().step(2, TICK, role('leading', 2, 1))).toThrow(pattern);
    expect(() => led().step(1, TICK, role('leading', 1, 1))).toThrow(pattern);
    expect(() =>
      led()
        .started(1, DURABLE)
        .step(1, TICK, role('leading', 1, 1)),
    ).toThrow(pattern);
  });

  it('rejects a follower of a member that does not lead the epoch', () => {
    expect(() => led().step(3, TICK, role('following', 2, 1))).toThrow(/which member 1 leads/);
    expect(() => led().step(3, TICK, role('following', 2, 2))).toThrow(/which nobody leads/);
  });

  it('rejects proposals and upToDates of a member that does not lead the epoch', () => {
    expect(() => led().step(2, propose(proposals(1, 3, 3)))).toThrow(/member 1 leads/);
    expect(() => led().step(1, propose(proposals(1, 2, 2)))).toThrow(/proposes 0x100000002/);
    const upToDate = send(3, { kind: 'upToDate', committed: 0 });
    expect(() => led().step(2, TICK, upToDate)).toThrow(/not its own/);
  });

  it('rejects a log entry that the leader of its epoch has not proposed, or of an epoch not accepted', () => {
    expect(() => led().step(2, TICK, append(4, proposals(1, 3, 3)))).toThrow(/logs 0x100000003/);
    expect(() => led().step(3, TICK, append(1, proposals(1, 1, 1, 0)))).toThrow(/epoch 0 accepted/);
  });
});
