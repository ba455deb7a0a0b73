/**
 * The ensemble level from one release to the next: who raises it, who holds it, who is refused.
 *
 * An older release is a member whose tuning knows no higher level. Expected levels follow from the
 * rule that every configured member must be connected and agree.
 */
import { describe, expect, it } from 'vitest';
import { LEVEL, LEVEL_MAX } from '../state/level.js';
import type { MemoryEnsemble } from './memory-ensemble.js';
import {
  connected,
  everyoneServes,
  expectEqual,
  follower,
  notes,
  serving,
  write,
} from './scenario.js';

const IDS = [1, 2, 3];

function levels(ensemble: MemoryEnsemble): readonly number[] {
  return IDS.map((id) => ensemble.member(id).state.level);
}

async function reaches(ensemble: MemoryEnsemble, level: number): Promise<void> {
  await ensemble.until(
    () => levels(ensemble).every((one) => one === level),
    `was level ${level} reached, not ${levels(ensemble).join()}`,
  );
}

async function restart(ensemble: MemoryEnsemble, id: number): Promise<void> {
  await ensemble.stop(id);
  await ensemble.start(id);
  await everyoneServes(ensemble);
}

const AT_FIRST = IDS.map(() => LEVEL.first);

/** All members are of a release that knows only the first level. */
async function olderEnsemble(): Promise<MemoryEnsemble> {
  const ensemble = await serving({ tuning: { levelMax: LEVEL.first } });
  const client = await connected(ensemble, 1);
  await write(ensemble, client, ['/before']);
  return ensemble;
}

describe('the ensemble level', () => {
  it('is raised once in a new ensemble, and all members end with the same state', async () => {
    const ensemble = await serving();
    await reaches(ensemble, LEVEL_MAX);
    await ensemble.timers.advance(1_000);
    expect(notes(ensemble, 'level.raised')).toBe(IDS.length);
    await expectEqual(ensemble);
  });

  it('is raised by a rolling restart with its last member, and not before', async () => {
    const ensemble = await olderEnsemble();
    for (const id of IDS) {
      await ensemble.timers.advance(2_000);
      expect(levels(ensemble)).toEqual(AT_FIRST);
      ensemble.tunings.set(id, { levelMax: LEVEL_MAX });
      await restart(ensemble, id);
      const client = await connected(ensemble, id);
      await write(ensemble, client, [`/rolled-${id}`]);
    }
    await reaches(ensemble, LEVEL_MAX);
    await expectEqual(ensemble);
  });

  it('is not raised while one member is down, and is by the time that it is back', async () => {
    const ensemble = await olderEnsemble();
    const down = follower(ensemble);
    for (const id of IDS) ensemble.tunings.set(id, { levelMax: LEVEL_MAX });
    await ensemble.stop(down);
    for (const id of IDS.filter((one) => one !== down)) {
      await ensemble.stop(id);
      await ensemble.start(id);
    }
    await ensemble.until(() => ensemble.leader > 0, 'was there a leader');
    await ensemble.timers.advance(5_000);
    expect(ensemble.member(ensemble.leader).state.level).toBe(LEVEL.first);
    expect(notes(ensemble, 'level.waiting')).toBe(1);
    await ensemble.start(down);
    await reaches(ensemble, LEVEL_MAX);
  });

  it('is held by one member with holdLevel, and the release before may come back', async () => {
    const ensemble = await olderEnsemble();
    ensemble.settings.set(2, { holdLevel: LEVEL.first });
    for (const id of IDS) {
      ensemble.tunings.set(id, { levelMax: LEVEL_MAX });
      await restart(ensemble, id);
    }
    await ensemble.timers.advance(2_000);
    expect(levels(ensemble)).toEqual(AT_FIRST);
    for (const id of IDS) {
      ensemble.tunings.delete(id);
      await restart(ensemble, id);
    }
    expect(levels(ensemble)).toEqual(AT_FIRST);
  });

  it('survives the restart of all members, from the log and from checkpoints', async () => {
    const ensemble = await serving();
    await reaches(ensemble, LEVEL_MAX);
    for (const id of IDS) ensemble.kill(id);
    await ensemble.start();
    await everyoneServes(ensemble);
    await reaches(ensemble, LEVEL_MAX);
    for (const id of IDS) await restart(ensemble, id);
    await reaches(ensemble, LEVEL_MAX);
    expect(ensemble.lines.filter((line) => line.includes('level.waiting')).length).toBe(0);
  });

  it('once raised refuses the release before, at its start', async () => {
    const ensemble = await serving();
    await reaches(ensemble, LEVEL_MAX);
    const older = follower(ensemble);
    await ensemble.timers.advance(2_000);
    // A clean stop would write a checkpoint, which names the level, too.
    ensemble.kill(older);
    ensemble.tunings.set(older, { levelMax: LEVEL.first });
    await expect(ensemble.start(older)).rejects.toThrow(
      `the ensemble is at level ${LEVEL_MAX}, this release knows levels up to ${LEVEL.first}`,
    );
  });

  it('once raised refuses a wiped member of the release before, on both sides', async () => {
    const ensemble = await serving();
    await reaches(ensemble, LEVEL_MAX);
    const older = follower(ensemble);
    await ensemble.stop(older);
    ensemble.wipe(older);
    ensemble.tunings.set(older, { levelMax: LEVEL.first });
    await ensemble.start(older);
    await ensemble.timers.advance(5_000);
    expect(ensemble.serves(older)).toBe(false);
    const refused = ensemble.lines.filter((line) =>
      line.includes(`knows levels up to ${LEVEL.first}`),
    );
    const members = new Set(refused.map((line) => /"member":(\d)/.exec(line)?.[1]));
    expect([...members].sort()).toEqual(['1', '2', '3']);
  });
});
