/**
 * What counts as an empty directory: the mark of a complete founding against what is beside it.
 *
 * Damage here is a record whose bytes do not check. test/src/answers/members/first-start.test.ts
 * has the files that a loss of power really leaves.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../simulated/seeded-random.js';
import { Disk, failAt } from '../simulated/storage/life.js';
import { openToy, proposalsAfter } from '../simulated/storage/toy-state.js';
import type { Founding } from './data-directory.js';

let disk = new Disk();
beforeEach(() => {
  disk = new Disk();
});

function crash(): void {
  disk = disk.crash(seededRandom(1));
}

function damage(name: string): void {
  disk.treeStore.tamper(name, (entries) => {
    for (const value of entries.values()) value.fill(0xff);
  });
}

/** A first start, and what the member does then. */
async function started(what: 'nothing' | 'an epoch' | 'a proposal'): Promise<void> {
  const { storage } = await openToy(disk);
  if (what !== 'nothing') {
    await storage.saveEpochs({ accepted: 1, current: 0, ensembleId: '', founded: false });
  }
  if (what === 'a proposal') {
    await storage.append([proposalsAfter(0, { epoch: 1, counter: 1, count: 1 })]);
  }
  crash();
}

const FOUNDINGS: readonly Founding[] = ['incomplete', 'unknown', 'complete'];

describe('a founding', () => {
  it('is complete once a start has ended, and not before', async () => {
    expect(await disk.treeStore.founding()).toBe('incomplete');
    const { recovered } = await openToy(disk);
    expect(recovered.unfinished).toBe(undefined);
    expect(await disk.treeStore.founding()).toBe('complete');
  });

  it.each(['before', 'after'] as const)(
    'is marked behind all of its changes: one that fails %s it leaves no damage',
    async (when) => {
      let unfinished = 0;
      for (let at = 1, failed = true; failed; at++) {
        const title = `change ${at}`;
        disk = new Disk();
        failAt(disk, { which: 'tree', at, when });
        failed = await openToy(disk).then(
          () => false,
          () => true,
        );
        crash();
        const isComplete = (await disk.treeStore.founding()) === 'complete';
        // Whatever a loss of power makes of a database before the mark, nobody needs it.
        for (const name of isComplete ? [] : disk.treeStore.names()) damage(name);
        const { recovered } = await openToy(disk);
        expect(recovered.damaged, title).toBe(null);
        expect(recovered.acceptedEpoch, title).toBe(0);
        if (recovered.unfinished !== undefined) unfinished += 1;
      }
      expect(unfinished).toBeGreaterThan(3);
    },
  );
});

describe('a meta record that cannot be read', () => {
  it.each([
    ['incomplete', null],
    ['unknown', 'checksum'],
    ['complete', 'checksum'],
  ] as const)('beside nothing, founding %s: damage %j', async (founding, expected) => {
    await started('nothing');
    disk.treeStore.setFounding(founding);
    damage('meta');
    const { recovered, storage } = await openToy(disk);
    if (expected !== null) expect(recovered.damaged).toContain(expected);
    else expect(recovered.damaged).toBe(null);
    if (expected !== null) return;
    expect(recovered.unfinished).toEqual(['meta', 'tree-0', '0-0.log']);
    await storage.append([proposalsAfter(0, { epoch: 1, counter: 1, count: 1 })]);
  });

  it.each(FOUNDINGS)('beside a record of the log is damage, founding %s', async (founding) => {
    await started('a proposal');
    disk.treeStore.setFounding(founding);
    damage('meta');
    expect((await openToy(disk)).recovered.damaged).toContain('checksum');
    expect(disk.logFiles.names()).toContain('0-1.log');
  });
});

describe('a meta record that is missing', () => {
  it.each(['incomplete', 'unknown'] as const)(
    'beside nothing is no damage, founding %s',
    async (founding) => {
      await started('an epoch');
      disk.treeStore.setFounding(founding);
      disk.treeStore.tamper('meta', (entries) => entries.clear());
      expect((await openToy(disk)).recovered.damaged).toBe(null);
    },
  );

  it('is damage where a founding was complete, though nothing is beside it', async () => {
    await started('an epoch');
    disk.treeStore.tamper('meta', (entries) => entries.clear());
    const message = 'the meta record is missing, but a member was founded here';
    expect((await openToy(disk)).recovered.damaged).toBe(message);
  });

  it.each(FOUNDINGS)('beside a record of the log is damage, founding %s', async (founding) => {
    await started('a proposal');
    disk.treeStore.setFounding(founding);
    disk.treeStore.tamper('meta', (entries) => entries.clear());
    expect((await openToy(disk)).recovered.damaged).toContain('missing');
  });
});

describe('a tree that cannot be read', () => {
  it.each([
    ['incomplete', 'nothing', null],
    ['incomplete', 'an epoch', 'checksum'],
    ['unknown', 'nothing', 'checksum'],
    ['complete', 'nothing', 'checksum'],
  ] as const)('founding %s, promised %s: damage %j', async (founding, what, expected) => {
    await started(what);
    disk.treeStore.setFounding(founding);
    damage('tree-0');
    const { damaged } = (await openToy(disk)).recovered;
    if (expected === null) expect(damaged).toBe(null);
    else expect(damaged).toContain(expected);
  });
});

describe('a directory whose mark is missing or does not say that the founding is complete', () => {
  it.each(['incomplete', 'unknown'] as const)(
    'keeps what it holds and is marked, founding %s',
    async (founding) => {
      for (const what of ['an epoch', 'a proposal'] as const) {
        disk = new Disk();
        await started(what);
        disk.treeStore.setFounding(founding);
        const { recovered } = await openToy(disk);
        expect(recovered.damaged).toBe(null);
        expect(recovered.unfinished).toBe(undefined);
        expect(recovered.acceptedEpoch).toBe(1);
        expect(recovered.suffix.length).toBe(what === 'an epoch' ? 0 : 1);
        expect(await disk.treeStore.founding()).toBe('complete');
      }
    },
  );
});
