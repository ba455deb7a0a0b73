/**
 * Contiguity accepts chains, and rejects gaps wherever proposals go: to disk, to the log, and to
 * the tree.
 */
import { describe, expect, it } from 'vitest';
import { newContiguity } from './contiguity.js';
import {
  append,
  deliver,
  history,
  install,
  proposals,
  TICK,
  Told,
  truncate,
  zxid,
} from './testing/observations.js';

const told = () => new Told(newContiguity).started(1);

describe('the checker of chains', () => {
  it('accepts a log through a new epoch, a truncation, a snapshot and a restart', () => {
    const run = told().step(1, TICK, append(1, proposals(1, 1, 5, 0)));
    run.step(1, TICK, deliver(proposals(1, 1, 2, 0)), truncate(2, zxid(1, 3)));
    run.step(1, TICK, append(3, proposals(3, 1, 2, zxid(1, 3))));
    run.step(1, TICK, deliver(proposals(1, 3, 3)));
    run.step(1, TICK, install(4, zxid(4, 9)), append(5, proposals(4, 10, 10)));
    const suffix = [proposals(4, 10, 12)];
    const found = { checkpointZxid: zxid(4, 9), suffix, last: zxid(4, 12) };
    run.started(1, { ...found, history: history(4, 8, 12, zxid(4, 7)) });
    run.step(1, TICK, append(1, proposals(4, 13, 13)), deliver(proposals(4, 10, 13)));
  });

  it('rejects a gap in the log, and a repetition of its last proposal', () => {
    const run = () => told().step(1, TICK, append(1, proposals(1, 1, 2, 0)));
    expect(() => run().step(1, TICK, append(2, proposals(1, 4, 4)))).toThrow(
      /chain without gaps: member 1 .*appends 0x100000004, .* 0x100000003, behind 0x100000002/,
    );
    expect(() => run().step(1, TICK, append(2, proposals(1, 2, 2)))).toThrow(/behind 0x100000002/);
  });

  it('rejects a zxid that skips one of its epoch, whatever predecessor it names', () => {
    const run = told().step(1, TICK, append(1, proposals(1, 1, 2, 0)));
    const skipped = proposals(1, 5, 5, zxid(1, 2));
    expect(() => run.step(1, TICK, append(2, skipped))).toThrow(/appends 0x100000005/);
  });

  it('rejects a delivery that skips one', () => {
    const run = told().step(1, TICK, append(1, proposals(1, 1, 3, 0)));
    expect(() => run.step(1, TICK, deliver(proposals(1, 2, 3)))).toThrow(/delivers 0x100000002/);
  });

  it('rejects a log on disk that does not continue the checkpoint', () => {
    const found = { checkpointZxid: zxid(1, 1), last: zxid(1, 4), history: history(1, 1, 4) };
    expect(() => told().started(1, { ...found, suffix: [proposals(1, 3, 4)] })).toThrow(/finds/);
    expect(() => told().started(1, { ...found, suffix: [proposals(1, 2, 3)] })).toThrow(
      /finds a log/,
    );
  });
});
