/**
 * Goal: a member whose data directory was restored from an old copy has no vote once it meets
 * anybody who saw a later start of it: what it acknowledged in between is not lost in silence.
 * Method: whole members; the copy is taken before a start that another member sees.
 */
import { ErrorCode } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { MemoryEnsemble } from './memory-ensemble.js';
import {
  connected,
  everyoneServes,
  expectEqual,
  names,
  notes,
  notesOf,
  oldCopyOf,
  serving,
  write,
} from './scenario.js';

async function serve(ensemble: MemoryEnsemble, ...ids: readonly number[]): Promise<void> {
  await ensemble.until(() => ids.every((id) => ensemble.serves(id)), `did ${ids.join()} serve`);
}

async function countOf(ensemble: MemoryEnsemble, paths: readonly string[]): Promise<number> {
  const reader = await connected(ensemble, ensemble.leader);
  const xids = paths.map((path) => reader.exists(path));
  await ensemble.until(() => xids.every((xid) => reader.errorOf(xid) !== undefined), 'answered');
  return xids.filter((xid) => reader.errorOf(xid) === ErrorCode.ok).length;
}

describe('a directory that went back in time', () => {
  // After four starts its count of them is the higher one.
  it.each([0, 4])(
    'that was started %i times since has no vote where somebody saw its later start',
    async (alone) => {
      const ensemble = await serving();
      const knows = ensemble.leader;
      const [wentBack = 0, lags = 0] = [1, 2, 3].filter((id) => id !== knows);
      const copy = await oldCopyOf(ensemble, wentBack);
      // It has seen the start of the other one, and lags from now on.
      await ensemble.stop(lags);
      await write(ensemble, await connected(ensemble, knows), names('kept', 20));
      await ensemble.stop(knows);
      await ensemble.stop(wentBack);
      ensemble.restore(wentBack, copy);
      for (let time = 0; time < alone; time++) {
        await ensemble.start(wentBack);
        await ensemble.timers.advance(1_000);
        await ensemble.stop(wentBack);
      }
      await ensemble.start(wentBack, lags);
      await ensemble.timers.advance(6_000);
      expect(ensemble.serves(wentBack) || ensemble.serves(lags), 'one vote is no quorum').toBe(
        false,
      );
      expect(notes(ensemble, 'directory.went_back')).toBeGreaterThan(0);
      expect(notes(ensemble, 'peer.went_back')).toBeGreaterThan(0);
      await ensemble.start(knows);
      await everyoneServes(ensemble);
      expect(await countOf(ensemble, names('kept', 20))).toBe(20);
      await expectEqual(ensemble);
    },
  );

  it('gives its vote up for good: a restart before its snapshot does not bring it back', async () => {
    const ensemble = await serving();
    const knows = ensemble.leader;
    const [wentBack = 0, lags = 0] = [1, 2, 3].filter((id) => id !== knows);
    const copy = await oldCopyOf(ensemble, wentBack);
    await ensemble.stop(lags);
    await ensemble.stop(knows);
    await ensemble.stop(wentBack);
    ensemble.restore(wentBack, copy);
    await ensemble.start(wentBack, lags);
    await ensemble.timers.advance(3_000);
    for (const id of [wentBack, lags]) {
      await ensemble.stop(id);
      await ensemble.start(id);
    }
    await ensemble.timers.advance(3_000);
    expect(ensemble.serves(wentBack) || ensemble.serves(lags)).toBe(false);
    await ensemble.start(knows);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
  });

  it('that nobody who is up can know of is told by the first who does, and all end equal', async () => {
    const ensemble = await serving();
    const knows = ensemble.leader;
    const [wentBack = 0, lags = 0] = [1, 2, 3].filter((id) => id !== knows);
    await ensemble.stop(lags);
    await ensemble.stop(wentBack);
    const copy = ensemble.copyOf(wentBack);
    await ensemble.start(wentBack);
    await serve(ensemble, knows, wentBack);
    await write(ensemble, await connected(ensemble, ensemble.leader), names('lost', 20));
    await ensemble.stop(knows);
    await ensemble.stop(wentBack);
    ensemble.restore(wentBack, copy);
    await ensemble.start(wentBack, lags);
    await serve(ensemble, wentBack, lags);
    await ensemble.start(knows);
    await ensemble.until(() => notes(ensemble, 'directory.went_back') > 0, 'was it told');
    await ensemble.until(() => notes(ensemble, 'peer.went_back') > 0, 'did the other one say so');
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
  });

  it('has no vote once somebody tells it, though it leads or follows and does not serve yet', async () => {
    const ensemble = await serving();
    const knows = ensemble.leader;
    const [wentBack = 0, lags = 0] = [1, 2, 3].filter((id) => id !== knows);
    await ensemble.stop(lags);
    await ensemble.stop(wentBack);
    const copy = ensemble.copyOf(wentBack);
    await ensemble.start(wentBack);
    await serve(ensemble, knows, wentBack);
    await write(ensemble, await connected(ensemble, ensemble.leader), names('kept', 20));
    await ensemble.stop(knows);
    await ensemble.stop(wentBack);
    ensemble.restore(wentBack, copy);
    const attempts = () => notesOf(ensemble, wentBack, 'role.following', 'role.leading');
    const before = attempts();
    await ensemble.start(wentBack, lags);
    await ensemble.until(() => attempts() > before, 'did it attempt to serve');
    ensemble.hang(wentBack);
    await ensemble.start(knows);
    await ensemble.until(() => notes(ensemble, 'directory.went_back') > 0, 'was it told');
    expect(ensemble.serves(wentBack)).toBe(false);
    ensemble.unhang(wentBack);
    await everyoneServes(ensemble);
    expect(await countOf(ensemble, names('kept', 20))).toBe(20);
    await expectEqual(ensemble);
  });
});
