/**
 * Goal: a member whose tree is not what a quorum has is found by its digest, gives up, and heals.
 * Method: whole members; the tree of one is changed behind everybody's back, as a bug or a bad
 * memory would, and nothing else is wrong with it.
 */
import { describe, expect, it } from 'vitest';
import type { MemoryEnsemble } from './memory-ensemble.js';
import {
  connected,
  everyoneServes,
  expectEqual,
  names,
  notes,
  serving,
  write,
} from './scenario.js';

/** It holds the data of another write than all others. */
function spoil(ensemble: MemoryEnsemble, id: number, path: string): void {
  const { tree, lastZxid, lastTime } = ensemble.member(id).state;
  const op = { kind: 'setData', path, data: Buffer.from('spoilt'), version: 1 } as const;
  tree.setData(tree.find(path), op, { zxid: lastZxid, time: lastTime, session: 0 });
}

/** The lines of each tree that the member kept for the operator, parsed. */
function keptTrees(ensemble: MemoryEnsemble, id: number) {
  const kept = [...ensemble.kept].filter(([name]) => name.startsWith(`${id}/tree-`));
  return kept.map(([, chunks]) =>
    chunks
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly path?: string }),
  );
}

function mismatches(ensemble: MemoryEnsemble, id: number): number {
  const { extraMetrics } = ensemble.member(id).status;
  return extraMetrics.find(({ name }) => name === 'digest_mismatches_count')?.value ?? -1;
}

describe('a tree that differs', () => {
  it.each(['follower', 'leader'])('at a %s is found, given up and replaced', async (where) => {
    const ensemble = await serving();
    const leader = ensemble.leader;
    const id = where === 'leader' ? leader : leader === 1 ? 2 : 1;
    await write(ensemble, await connected(ensemble, leader), names('a', 10));
    await ensemble.timers.advance(500);
    expect(mismatches(ensemble, leader)).toBe(0);
    spoil(ensemble, id, '/a-3');
    await write(ensemble, await connected(ensemble, leader), names('b', 200));
    await ensemble.until(() => notes(ensemble, 'digest.mismatch') > 0, 'was it found');
    expect(mismatches(ensemble, leader)).toBeGreaterThan(0);
    await ensemble.timers.advance(3_000);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
    expect(ensemble.member(id).state.tree.find('/a-3')).not.toBe(0);
    const [kept = []] = keptTrees(ensemble, id);
    const [head, ...znodes] = kept;
    expect(head).toMatchObject({ member: id, digest: expect.any(String) });
    expect(znodes.length).toBeGreaterThanOrEqual(11);
    const data = Buffer.from('spoilt').toString('base64');
    expect(znodes.find(({ path }) => path === '/a-3')).toMatchObject({ data });
    expect(notes(ensemble, 'tree.discarded')).toBe(1);
  });

  it('is found as soon as the member is synchronized, before anything more is written', async () => {
    const ensemble = await serving();
    const { leader } = ensemble;
    const [id = 0] = [1, 2, 3].filter((other) => other !== leader);
    const client = await connected(ensemble, leader);
    await write(ensemble, client, names('a', 10));
    await ensemble.timers.advance(500);
    ensemble.cutOff(id);
    await ensemble.until(() => !ensemble.serves(id), 'did it lose its leader');
    spoil(ensemble, id, '/a-3');
    ensemble.heal(id);
    // Nobody is quiet, and the sample that is due every 128 transactions is far away.
    for (let round = 0; notes(ensemble, 'digest.mismatch') === 0; round++) {
      expect(round, 'writes until it was found').toBeLessThan(80);
      await write(ensemble, client, names(`b${round}`, 1));
      await ensemble.timers.advance(10);
    }
    await write(ensemble, client, names('c', 200));
    await ensemble.timers.advance(5_000);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
  });

  it('where no quorum agrees is logged, and nobody gives up before a third member is back', async () => {
    const ensemble = await serving();
    const leader = ensemble.leader;
    const [other = 0, away = 0] = [1, 2, 3].filter((id) => id !== leader);
    await write(ensemble, await connected(ensemble, leader), names('a', 10));
    await ensemble.stop(away);
    spoil(ensemble, other, '/a-3');
    await write(ensemble, await connected(ensemble, leader), names('b', 5));
    await ensemble.until(() => notes(ensemble, 'digest.mismatch') > 0, 'was it found');
    await ensemble.timers.advance(1_000);
    expect(ensemble.serves(leader) && ensemble.serves(other)).toBe(true);
    await ensemble.start(away);
    await write(ensemble, await connected(ensemble, ensemble.leader), names('c', 5));
    await ensemble.timers.advance(5_000);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
  });
});
