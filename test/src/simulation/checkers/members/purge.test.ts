/**
 * Purge accepts logs that are purged up to their checkpoint at most, and rejects marks that
 * overtake each other, within an incarnation and over a restart.
 */
import { describe, expect, it } from 'vitest';
import { newPurge } from './purge.js';
import { deliver, history, install, proposals, TICK, Told, zxid } from './testing/observations.js';

const purged = (counter: number) => ({ kind: 'purged', base: zxid(1, counter) }) as const;

/** Five are delivered, and the log is purged up to the third. */
const told = () =>
  new Told(newPurge)
    .started(1)
    .step(1, TICK, deliver(proposals(1, 1, 5, 0)))
    .step(1, purged(3));

function found(base: number, checkpoint: number, last: number) {
  const summary = history(1, base + 1, last, zxid(1, base));
  return { checkpointZxid: zxid(1, checkpoint), history: summary, last: zxid(1, last) };
}

describe('the checker of purging', () => {
  it('accepts checkpoints between what is purged and what is applied', () => {
    told()
      .started(1, found(3, 4, 5))
      .step(1, TICK, install(1, zxid(1, 9)))
      .step(1, purged(9));
  });

  it('rejects a purge beyond what is applied', () => {
    expect(() => told().step(1, purged(6))).toThrow(
      /purged <= checkpoint <= applied.*: member 1 .*purged up to 0x100000006, .* 0x100000005/,
    );
  });

  it('rejects a start with a log that begins after the checkpoint, or ends before it', () => {
    expect(() => told().started(1, found(4, 3, 5))).toThrow(/a log from 0x100000004/);
    expect(() => told().started(1, found(3, 5, 4))).toThrow(/checkpoint at 0x100000005/);
  });

  it('rejects a checkpoint below what was purged, and one above what was applied', () => {
    expect(() => told().started(1, found(2, 2, 5))).toThrow(/up to 0x100000003/);
    expect(() => told().started(1, found(3, 6, 7))).toThrow(/applied up to 0x100000005/);
    told().struck(1, 'wiped').started(1);
  });
});
