/**
 * Which clients of a member without a quorum may go on reading: those whose tree is still the one
 * that their member would serve.
 */
import { ErrorCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import type { MemoryEnsemble } from './memory-ensemble.js';
import {
  connected,
  expectEqual,
  failedAttempt,
  names,
  notes,
  notesOf,
  oldCopyOf,
  serving,
  TINY_LOG,
  write,
} from './scenario.js';

async function readerAt(ensemble: MemoryEnsemble, id: number) {
  const reader = await ensemble.client(id);
  reader.connect(undefined, 40_000, true);
  await ensemble.until(() => reader.connected !== null, 'was a read-only session given');
  return reader;
}

it('keeps those who read without a quorum through an attempt that failed', async () => {
  const ensemble = await serving({ settings: { readOnlyMode: true } });
  const [alone = 0, other = 0] = [1, 2, 3].filter((id) => id !== ensemble.leader);
  await write(ensemble, await connected(ensemble, alone), names('kept', 1));
  await expectEqual(ensemble);
  for (const id of [ensemble.leader, other]) ensemble.kill(id);
  await ensemble.until(() => notes(ensemble, 'role.read_only') > 0, 'were reads served');
  const reader = await readerAt(ensemble, alone);
  await failedAttempt(ensemble, { alone, other });
  const read = reader.exists('/');
  await ensemble.until(() => reader.errorOf(read) !== undefined, 'was a read answered');
  expect(reader.errorOf(read)).toBe(ErrorCode.ok);
  ensemble.heal(alone);
  await ensemble.until(() => ensemble.serves(alone), 'did it serve again');
  await ensemble.until(() => reader.closed, 'did the read-only session end');
});

it('ends the reads of a member that learns that its disk is an old copy', async () => {
  const ensemble = await serving({ settings: { readOnlyMode: true } });
  const knows = ensemble.leader;
  const [wentBack = 0, lags = 0] = [1, 2, 3].filter((id) => id !== knows);
  await write(ensemble, await connected(ensemble, knows), names('kept', 1));
  await expectEqual(ensemble);
  const copy = await oldCopyOf(ensemble, wentBack);
  await ensemble.timers.advance(3_000);
  await ensemble.stop(lags);
  await write(ensemble, await connected(ensemble, knows), names('later', 5));
  await ensemble.stop(knows);
  await ensemble.stop(wentBack);
  ensemble.restore(wentBack, copy);
  await ensemble.start(wentBack);
  await ensemble.until(() => notes(ensemble, 'role.read_only') > 0, 'were reads served');
  const reader = await readerAt(ensemble, wentBack);
  await ensemble.start(lags);
  await ensemble.until(() => notes(ensemble, 'directory.went_back') > 0, 'was it told');
  await ensemble.until(() => reader.closed, 'did the read-only session end');
  const late = await ensemble.client(wentBack);
  late.connect(undefined, 40_000, true);
  await ensemble.timers.advance(3_000);
  expect(late.connected).toBeNull();
});

it('begins no reads while a snapshot is being installed', async () => {
  const ensemble = await serving({ settings: { readOnlyMode: true }, tuning: TINY_LOG });
  const alone = [1, 2, 3].find((id) => id !== ensemble.leader) ?? 0;
  await write(ensemble, await connected(ensemble, alone), names('kept', 1));
  const writer = await connected(ensemble, ensemble.leader);
  ensemble.cutOff(alone);
  const began = () => notesOf(ensemble, alone, 'role.read_only');
  await ensemble.until(() => began() === 1, 'were reads served');
  for (let wave = 0; wave < 6; wave++) await write(ensemble, writer, names(`later-${wave}`, 20));
  let isHung = false;
  ensemble.beforeChange(alone, () => {
    // The installation's own first change of the disk: the reads end right before it.
    if (isHung || notesOf(ensemble, alone, 'role.read_only_ended') === 0) return;
    isHung = true;
    ensemble.hang(alone);
    ensemble.cutOff(alone);
  });
  ensemble.heal(alone);
  await ensemble.until(() => isHung, 'was a snapshot about to be installed');
  await ensemble.timers.advance(10_000);
  expect(notesOf(ensemble, alone, 'snapshot.installed')).toBe(0);
  expect(began()).toBe(1);
  ensemble.unhang(alone);
  await ensemble.until(() => began() === 2, 'were reads served of the new state');
  expect(notesOf(ensemble, alone, 'snapshot.installed')).toBe(1);
  const reader = await readerAt(ensemble, alone);
  const read = reader.exists('/later-0-0');
  await ensemble.until(() => reader.errorOf(read) !== undefined, 'was a read answered');
  expect(reader.errorOf(read)).toBe(ErrorCode.ok);
  ensemble.heal(alone);
  await ensemble.until(() => ensemble.serves(alone), 'did it serve again');
  await expectEqual(ensemble);
});
