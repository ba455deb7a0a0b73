/**
 * Kills the process at every change of the disk.
 *
 * A script of operations (seeded) runs in memory; change number n fails, before or after it reached
 * the disk, or half-way. The next process must find a state that the script had or was about to
 * have: nothing that was acknowledged may be missing, nothing that never was may be there.
 */
import { makeZxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../simulated/seeded-random.js';
import {
  Disk,
  type Expected,
  failAt,
  lifeUntil,
  stateAt,
  zxidsOf,
} from '../simulated/storage/life.js';
import {
  type Opened,
  openToy,
  proposalsAfter,
  proposalsIn,
} from '../simulated/storage/toy-state.js';
import { StorageFault } from './errors.js';

const whens = {
  tree: ['before', 'after'],
  log: ['before', 'after', 'torn'],
} as const;

async function checkRecovery(disk: Disk, expected: Expected, title: string): Promise<Opened> {
  const opened = await openToy(disk);
  const { recovered, state } = opened;
  expect(recovered.damaged, title).toBe(null);
  expect([expected.accepted, expected.nextAccepted], title).toContain(recovered.acceptedEpoch);
  const { checkpointZxid } = recovered;
  const before = zxidsOf(expected.proposals.filter(({ zxid }) => zxid > checkpointZxid));
  const after = zxidsOf(expected.next.filter(({ zxid }) => zxid > checkpointZxid));
  const found = zxidsOf(proposalsIn(recovered.suffix));
  const longer = before.length > after.length ? before : after;
  const shortest = Math.min(before.length, after.length);
  // An append of several records may have been torn behind any of them; a truncation is atomic.
  expect(found.length, title).toBeGreaterThanOrEqual(shortest);
  expect(found, title).toEqual(longer.slice(0, found.length));
  if (longer === before) expect([before.length, after.length], title).toContain(found.length);
  const committedZxid = expected.proposals[expected.committed - 1]?.zxid ?? 0;
  expect(checkpointZxid, title).toBeLessThanOrEqual(committedZxid);
  expect(state.digest(), title).toBe(stateAt(expected.proposals, checkpointZxid));
  const kept = zxidsOf(expected.next).filter((zxid) => zxid > recovered.history.base);
  expect(recovered.history.ranges.length, title).toBeLessThanOrEqual(kept.length + 1);
  return opened;
}

describe('a process that is killed at any change of the disk', () => {
  it.each(['log', 'tree'] as const)(
    'finds a legal state again (of the %s)',
    async (which) => {
      let lives = 0;
      for (let seed = 1; seed <= 12; seed++) {
        for (const when of whens[which]) {
          for (let at = 1, failed = true; failed; at++) {
            const title = `seed ${seed}, ${which} change ${at}, ${when}`;
            const life = await lifeUntil(seed, { [which]: at }, when);
            failed = life.failed;
            const opened = await checkRecovery(
              life.disk.crash(seededRandom(at)),
              life.expected,
              title,
            );
            // It goes on: the next epoch can be logged.
            const epoch = opened.recovered.acceptedEpoch + 1;
            await opened.storage.saveEpochs({
              accepted: epoch,
              current: 0,
              ensembleId: '',
              founded: false,
            });
            await opened.storage.append([
              proposalsAfter(opened.storage.last, { epoch, counter: 1, count: 9 }),
            ]);
            expect(opened.storage.last, title).toBe(makeZxid(epoch, 9));
            lives += 1;
          }
        }
      }
      expect(lives).toBeGreaterThan(200);
    },
    60_000,
  );

  it('while an empty disk is made its own founds it at the next start', async () => {
    for (const which of ['tree', 'log'] as const) {
      for (const when of whens[which]) {
        for (let at = 1, failed = true; failed; at++) {
          const disk = new Disk();
          failAt(disk, { which, at, when });
          failed = await openToy(disk).then(
            () => false,
            () => true,
          );
          const { recovered } = await openToy(disk.crash(seededRandom(at)));
          expect(recovered.damaged, `${which} change ${at}, ${when}`).toBe(null);
        }
      }
    }
  });

  it('while a snapshot is installed finds the old state whole or the new one', async () => {
    const source = await lifeUntil(3);
    const leader = await openToy(source.disk.crash(seededRandom(1)));
    const outcomes = new Set<string>();
    for (const which of ['tree', 'log'] as const) {
      for (const when of whens[which]) {
        for (let at = 1, failed = true; failed; at++) {
          const title = `${which} change ${at}, ${when}`;
          const { disk, expected } = await lifeUntil(4);
          const again = disk.crash(seededRandom(2));
          const learner = await openToy(again);
          const { changeCount } = which === 'tree' ? again.treeStore : again.logFiles;
          failAt(again, { which, at: changeCount + at, when });
          failed = false;
          const snapshot = await leader.storage.openSnapshot();
          try {
            const sink = await learner.storage.beginSnapshot();
            for await (const records of snapshot.records()) await sink.write(records);
            await learner.storage.installSnapshot(snapshot.zxid);
            await learner.storage.idle();
          } catch (error) {
            if (!(error instanceof StorageFault)) throw error;
            failed = true;
          }
          await snapshot.close();
          const { recovered, state } = await openToy(again.crash(seededRandom(at)));
          expect(recovered.damaged, title).toBe(null);
          const isNew =
            recovered.history.base === snapshot.zxid && recovered.last === snapshot.zxid;
          outcomes.add(isNew ? 'new' : 'old');
          if (isNew) expect(state.digest(), title).toBe(leader.state.digest());
          else expect(recovered.last, title).toBe(expected.proposals.at(-1)?.zxid);
        }
      }
    }
    expect([...outcomes].sort()).toEqual(['new', 'old']);
  });
});
