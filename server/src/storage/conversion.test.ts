/**
 * Goal: a member whose last release kept its log in LevelDB goes on with it as files, whenever its
 * process dies on the way. Method: such a directory, and a death at each change of each disk.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeZxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { writeFormerMeta, writeFormerSegment } from '../simulated/storage/former-writer.js';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import {
  type Opened,
  openToy,
  proposalsAfter,
  proposalsIn,
  seededRandom,
} from '../simulated/storage/toy-state.js';
import { StorageFault } from './errors.js';
import type { KeyValueStore } from './key-value.js';
import { LevelStore } from './level-store.js';
import { OwnedDirectory } from './owned-directory.js';
import { openStores } from './stores.js';

const FIRST = proposalsAfter(0, { epoch: 1, counter: 1, count: 8 });
const ALL = [...FIRST, ...proposalsAfter(makeZxid(1, 8), { epoch: 2, counter: 1, count: 12 })];
const LAST = makeZxid(2, 12);

/** Segments 0 and 1 with all proposals, and segment 2, which was made ahead. */
async function writeFormerLog(store: KeyValueStore): Promise<void> {
  const groups = ALL.map((proposal) => [proposal]);
  const of = { generation: 0 };
  await writeFormerSegment(store, {
    ...of,
    seq: 0,
    base: 0,
    groups: groups.slice(0, 9),
    hasNext: true,
  });
  await writeFormerSegment(store, {
    ...of,
    seq: 1,
    groups: groups.slice(9),
    hasNext: true,
    end: LAST,
  });
  await writeFormerSegment(store, { ...of, seq: 2, groups: [] });
}

class Disk {
  treeStore = new MemoryStore();
  logFiles = new MemoryLogDirectory();
  formerLog = new MemoryStore();

  static async written(): Promise<Disk> {
    const disk = new Disk();
    const { storage } = await openToy({ ...disk, logFiles: new MemoryLogDirectory() });
    await storage.saveEpochs({ accepted: 2, current: 2, ensembleId: 'e', founded: true });
    disk.treeStore = disk.treeStore.crash(() => 1);
    await writeFormerMeta(disk.treeStore);
    await writeFormerLog(disk.formerLog);
    return disk;
  }

  crash(random: () => number): Disk {
    const next = new Disk();
    next.treeStore = this.treeStore.crash(random);
    next.logFiles = this.logFiles.crash(random);
    next.formerLog = this.formerLog.crash(random);
    return next;
  }
}

async function expectGoesOn({ storage, recovered }: Opened, title: string): Promise<void> {
  expect(recovered.damaged, title).toBe(null);
  const suffix = proposalsIn(recovered.suffix);
  const zxids = ALL.map(({ zxid }) => zxid);
  expect(
    suffix.map(({ zxid }) => zxid),
    title,
  ).toEqual(zxids);
  const { zxid = 0 } = suffix.at(-1) ?? {};
  expect(recovered.history.ranges.at(-1)?.last).toBe(12);
  await storage.append([proposalsAfter(zxid, { epoch: 2, counter: 13, count: 1 })]);
  const read: number[] = [];
  for await (const chunk of storage.readHistory(0, storage.last)) {
    for (const { zxid: one } of chunk) read.push(one);
  }
  expect(read, title).toEqual([...zxids, makeZxid(2, 13)]);
}

describe('a log that is kept in LevelDB', () => {
  it('is one of files from the first start on, and gone', async () => {
    const disk = await Disk.written();
    await expectGoesOn(await openToy(disk), 'the first start');
    expect(await disk.formerLog.list()).toEqual([]);
    const { recovered } = await openToy({ ...disk.crash(() => 1), formerLog: null });
    expect(recovered.damaged).toBe(null);
    expect(proposalsIn(recovered.suffix).length).toBe(ALL.length + 1);
  });

  it.each(['treeStore', 'logFiles', 'formerLog'] as const)(
    'is converted again after a death on the way (%s)',
    async (which) => {
      let deaths = 0;
      for (const when of ['before', 'after'] as const) {
        for (let at = 1, failed = true; failed; at++) {
          const title = `change ${at}, ${when}`;
          const disk = await Disk.written();
          disk[which].failAt(disk[which].changeCount + at, when);
          failed = await openToy(disk).then(
            () => false,
            (error: unknown) => {
              expect(error, title).toBeInstanceOf(StorageFault);
              return true;
            },
          );
          if (failed) deaths += 1;
          await expectGoesOn(await openToy(disk.crash(seededRandom(at))), title);
        }
      }
      expect(deaths).toBeGreaterThan(3);
    },
  );

  it('that nothing was written to is no log: the founding was interrupted', async () => {
    const disk = new Disk();
    await writeFormerSegment(disk.formerLog, { generation: 0, seq: 0, base: 0, groups: [] });
    const { recovered } = await openToy(disk);
    expect([recovered.damaged, recovered.last]).toEqual([null, 0]);
    const again = disk.crash(() => 1);
    expect((await openToy(again)).recovered.damaged).toBe(null);
    expect(await again.formerLog.list()).toEqual([]);
    const written = new Disk();
    await writeFormerLog(written.formerLog);
    expect((await openToy(written)).recovered.damaged).toMatch(/meta record is missing/);
  });

  it('is damaged when its newest part is missing, and kept', async () => {
    const disk = await Disk.written();
    await disk.formerLog.destroy('log-0-1');
    const { recovered } = await openToy(disk);
    expect(recovered.damaged).toMatch(/gap/);
    expect(await disk.formerLog.list()).toEqual(['log-0-0', 'log-0-2']);
  });

  it('is converted on real disks', async () => {
    const home = await mkdtemp(join(tmpdir(), 'rookery-former-'));
    const setup = { dataDir: home, dataLogDir: home, memberId: 1 };
    const log = join(home, '1', 'log');
    const founded = await openToy(await openStores(setup));
    await founded.storage.saveEpochs({ accepted: 2, current: 2, ensembleId: 'e', founded: true });
    await founded.storage.close();
    for (const name of await readdir(log)) if (name.endsWith('.log')) await rm(join(log, name));
    const former = await openStores(setup);
    await writeFormerMeta(former.treeStore);
    await former.treeStore.close();
    await former.logFiles.close();
    const written = new LevelStore(await OwnedDirectory.open(log, 1));
    await writeFormerLog(written);
    await written.close();
    await writeFile(join(log, 'notes'), 'of somebody');
    const opened = await openToy(await openStores(setup));
    await expectGoesOn(opened, 'the first start');
    await opened.storage.close();
    expect((await readdir(log)).filter((name) => /^(log|trash)-/.test(name))).toEqual([]);
    const again = await openStores(setup);
    expect(again.formerLog).toBe(null);
    const { storage, recovered } = await openToy(again);
    expect(proposalsIn(recovered.suffix).length).toBe(ALL.length + 1);
    await storage.close();
    expect(await readFile(join(log, 'notes'), 'utf8')).toBe('of somebody');
    await rm(home, { recursive: true });
  });
});
