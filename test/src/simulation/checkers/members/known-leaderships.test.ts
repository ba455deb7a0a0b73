/** KnownLeaderships accepts a lineage given before its proposals, and rejects one given later. */
import { describe, expect, it } from 'vitest';
import type { ZabOutput } from '../../../simulated.js';
import { newKnownLeaderships } from './known-leaderships.js';
import { append, install, proposals, save, TICK, Told, zxid } from './testing/observations.js';

const OF_TWO = [{ epoch: 2, identity: 7 }];
const append2 = append(2, proposals(2, 1, 3));

function withLineage(output: ZabOutput): ZabOutput {
  if (output.kind !== 'saveEpochs' && output.kind !== 'installSnapshot') return output;
  return { ...output, lineage: OF_TWO };
}

describe('the checker of known leaderships', () => {
  it.each([
    ['saved', save(1, 2, 2)],
    ['in a snapshot', install(1, zxid(1, 5))],
  ])('accepts proposals of a leadership that was %s before', (_, output) => {
    const told = new Told(newKnownLeaderships).started(1);
    expect(() => told.step(1, TICK, withLineage(output), append2)).not.toThrow();
    const untold = new Told(newKnownLeaderships).started(1);
    expect(() => untold.step(1, TICK, output, append2)).toThrow(/epoch 2 before it says whose/);
  });

  it('accepts proposals of a leadership that a start has found', () => {
    const told = new Told(newKnownLeaderships).started(1, { lineage: OF_TWO });
    expect(() => told.step(1, TICK, append2)).not.toThrow();
  });

  it('rejects a lineage that comes after its proposals', () => {
    const told = new Told(newKnownLeaderships).started(1);
    expect(() => told.step(1, TICK, append2, withLineage(save(3, 2, 2)))).toThrow(/member 1/);
  });
});
