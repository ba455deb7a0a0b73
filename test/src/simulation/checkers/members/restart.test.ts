/**
 * Restart accepts every prefix of what was in flight when a member died, and rejects a log or
 * epochs that no such prefix explains, and damage that no fault caused.
 */
import { describe, expect, it } from 'vitest';
import { newRestart } from './restart.js';
import {
  append,
  history,
  install,
  persisted,
  proposals,
  save,
  TICK,
  Told,
  truncate,
  zxid,
} from './testing/observations.js';

/**
 * Durable are three proposals and epochs 1/1. In flight are two more proposals, epochs 2/1, a
 * truncation and another proposal.
 */
function dying(): Told {
  const run = new Told(newRestart).started(1).step(1, TICK, save(1, 1, 1, 'e', true));
  run.step(1, TICK, append(2, proposals(1, 1, 3, 0))).step(1, persisted(2));
  run.step(1, TICK, append(3, proposals(1, 4, 5)), save(4, 2, 1, 'e', true));
  return run.step(1, TICK, truncate(5, zxid(1, 4)), append(6, proposals(2, 1, 1, zxid(1, 4))));
}

function found(accepted: number, last: number, more: object = {}) {
  const epochs = { ensembleId: 'e', founded: true, acceptedEpoch: accepted, currentEpoch: 1 };
  return { ...epochs, history: history(1, 1, last), last: zxid(1, last), ...more };
}

describe('the checker of restarts', () => {
  it('accepts each prefix of what was in flight, with the next write partly done', () => {
    for (const [accepted, last] of [
      ...([[1, 3] as const, [1, 4] as const, [1, 5] as const, [2, 5] as const] as const),
      [2, 4] as const,
    ]) {
      dying().started(1, found(accepted, last));
    }
    const ranges = [
      { epoch: 1, first: 1, last: 4 },
      { epoch: 2, first: 1, last: 1 },
    ];
    dying().started(1, found(2, 4, { history: { base: 0, ranges }, last: zxid(2, 1) }));
  });

  it('accepts a log that was purged, whether or not a snapshot has replaced it', () => {
    const purged = { history: history(1, 3, 3, zxid(1, 2)), checkpointZxid: zxid(1, 2) };
    dying()
      .step(1, { kind: 'purged', base: zxid(1, 2) })
      .started(1, found(1, 3, purged));
    const snapshot = { history: { base: zxid(1, 9), ranges: [] }, last: zxid(1, 9) };
    const installing = () => dying().step(1, TICK, install(7, zxid(1, 9)));
    installing().started(1, found(2, 4, snapshot));
    installing().started(1, found(1, 3));
  });

  it('rejects a log that lost what was durable', () => {
    expect(() => dying().started(1, found(1, 2))).toThrow(
      /restart finds .*: member 1 \(life 2\) finds epochs 1\/1 .*\(0x0\) 0x100000001-0x100000002;/,
    );
  });

  it('rejects a log with more than storage was ever given', () => {
    expect(() => dying().started(1, found(2, 6))).toThrow(/finds epochs 2\/1/);
  });

  it('rejects epochs that overtook the log before them', () => {
    expect(() => dying().started(1, found(2, 3))).toThrow(/finds epochs 2\/1/);
  });

  it('rejects epochs, or an ensemble id, that went back', () => {
    const back = { acceptedEpoch: 0, currentEpoch: 0 };
    expect(() => dying().started(1, found(1, 3, back))).toThrow(/finds epochs 0\/0/);
    expect(() => dying().started(1, found(1, 3, { ensembleId: '' }))).toThrow(/id ""/);
    expect(() => dying().started(1, found(1, 3, { founded: false }))).toThrow(/false/);
  });

  it('rejects damage that no fault caused, and accepts that of a flipped bit', () => {
    const damaged = { damaged: 'a record does not check' };
    expect(() => dying().started(1, damaged)).toThrow(/finds its disk damaged/);
    dying().struck(1, 'flipped').started(1, damaged).started(1, damaged);
  });

  it('rejects a flipped bit that loses data unnoticed, and any log of a wiped disk', () => {
    const flipped = () => dying().struck(1, 'flipped');
    flipped().started(1, found(1, 3));
    expect(() => flipped().started(1, found(1, 2))).toThrow(/finds epochs/);
    expect(() => dying().struck(1, 'wiped').started(1, found(1, 3))).toThrow(/finds epochs/);
    dying().struck(1, 'wiped').started(1);
  });

  it('accepts that a flipped bit ends the log there, and rejects that it costs more', () => {
    const flipped = () => dying().struck(1, 'lastFlipped', zxid(1, 2));
    flipped().started(1, found(1, 2));
    flipped().started(1, found(2, 3));
    flipped().started(1, { damaged: 'the log ends before its mark' });
    expect(() => flipped().started(1, found(1, 1))).toThrow(/finds epochs/);
    const recorded = () => dying().struck(1, 'lastFlipped').started(1, found(1, 2));
    expect(recorded).toThrow(/finds epochs/);
    const back = { acceptedEpoch: 0, currentEpoch: 0 };
    expect(() => flipped().started(1, found(1, 2, back))).toThrow(/finds epochs 0\/0/);
    const again = () => flipped().started(1, found(1, 2)).started(1, found(1, 1));
    expect(again).toThrow(/finds epochs/);
  });

  it('rejects damage of a disk that a snapshot has repaired', () => {
    const run = dying().struck(1, 'flipped').started(1, { damaged: 'a record does not check' });
    run.step(1, TICK, install(1, zxid(1, 3))).step(1, persisted(1));
    expect(() => run.started(1, { damaged: 'again' })).toThrow(/finds its disk damaged: again/);
  });
});
