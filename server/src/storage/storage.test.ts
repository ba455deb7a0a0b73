/**
 * The storage of one member in memory and on a file system, from one life of a process to the next.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  InvariantViolation,
  makeZxid,
  type Proposal,
  ProposalBatch,
  type Zxid,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { type Opened, openToy, proposalsAfter, TINY } from '../simulated/storage/toy-state.js';
import { LEVEL, LEVEL_MAX } from '../state/level.js';
import { checkpointRecord } from './checkpoint.js';
import { HistoryGoneError, SnapshotDamagedError } from './errors.js';
import { META_NAME } from './meta.js';
import { jsonWithChecksum, verifiedJson } from './records.js';
import type { Storage } from './storage.js';
import { openStores } from './stores.js';

const SEEDLESS = () => 0;

class Disk {
  treeStore = new MemoryStore();
  logFiles = new MemoryLogDirectory();
  open(): Promise<Opened> {
    return openToy(this);
  }
  crash(): void {
    this.treeStore = this.treeStore.crash(SEEDLESS);
    this.logFiles = this.logFiles.crash(SEEDLESS);
  }
  async reopen(): Promise<Opened> {
    this.crash();
    return await this.open();
  }
}

async function collect(batches: AsyncIterable<ProposalBatch>): Promise<Zxid[]> {
  const zxids: Zxid[] = [];
  for await (const batch of batches) for (const { zxid } of batch) zxids.push(zxid);
  return zxids;
}

async function fill(storage: Storage, count: number, epoch = 1): Promise<readonly Proposal[]> {
  const all: Proposal[] = [];
  for (let i = 0; i < count; i++) {
    const proposals = proposalsAfter(storage.last, { epoch, counter: i * 2 + 1, count: 2 });
    await storage.append([proposals]);
    all.push(...proposals);
  }
  return all;
}

/** As one batch has them. */
function bytesOf(parts: readonly Iterable<Proposal>[]): Buffer {
  return ProposalBatch.of(parts.flatMap((part) => [...part])).bytes;
}

const EPOCHS = { accepted: 1, current: 0, ensembleId: '', founded: false };

describe('data of another format', () => {
  it('is refused, and the message says what to do', async () => {
    const disk = new Disk();
    const database = await disk.treeStore.open(META_NAME);
    const old = {
      format: 1,
      memberId: 1,
      ensembleId: 'e',
      founded: true,
      acceptedEpoch: 3,
      currentEpoch: 3,
      generation: 0,
      damaged: null,
      change: 7,
    };
    for (const name of ['meta', 'meta-copy']) {
      const key = new TextEncoder().encode(name);
      await database.batch([{ type: 'put', key, value: jsonWithChecksum(key, old) }], {
        sync: true,
      });
    }
    await database.close();
    await expect(disk.open()).rejects.toThrow(
      /the meta record has format 1, this release reads format 10: data of a release before/,
    );
  });
});

describe('the ensemble level of a directory', () => {
  const formatOf = async (disk: Disk) => {
    const database = await disk.treeStore.open(META_NAME);
    const key = new TextEncoder().encode('meta');
    const stored = (await database.get(key)) ?? new Uint8Array(0);
    const schema = z.object({ format: z.number(), level: z.number() });
    const found = verifiedJson('meta', key, stored, schema);
    await database.close();
    return found;
  };

  it('is the first one in a new directory', async () => {
    const disk = new Disk();
    await disk.open();
    disk.crash();
    expect(await formatOf(disk)).toEqual({ format: 10, level: LEVEL.first });
  });

  it('is kept once it is raised, and a release that does not know it touches nothing', async () => {
    const disk = new Disk();
    const { storage } = await disk.open();
    storage.raiseLevel(LEVEL_MAX);
    await storage.idle();
    disk.crash();
    expect(await formatOf(disk)).toEqual({ format: 10, level: LEVEL_MAX });
    const older = openToy(disk, { ...TINY, levelMax: LEVEL.first });
    await expect(older).rejects.toThrow(
      /is at level 11, this release knows levels up to 10: start/,
    );
    disk.crash();
    const again = await disk.open();
    again.storage.raiseLevel(LEVEL.first);
    await again.storage.idle();
    disk.crash();
    expect(await formatOf(disk)).toEqual({ format: 10, level: LEVEL_MAX });
  });

  it('decides whether the record of a checkpoint has a reserved field', () => {
    const at = { zxid: 1, digest: '', lastTime: 1 };
    const written = (level?: number) => {
      const [key, value] = checkpointRecord({ ...at, level });
      return verifiedJson('a checkpoint', key, value, z.looseObject({}));
    };
    expect(written()).toEqual(at);
    expect(written(LEVEL.first)).toEqual({ ...at, level: LEVEL.first });
    expect(written(LEVEL.reservedField)).toEqual({
      ...at,
      level: LEVEL.reservedField,
      reserved: 0,
    });
  });

  it('comes with a snapshot, unless this release does not know it', async () => {
    const donor = await new Disk().open();
    await donor.storage.saveEpochs(EPOCHS);
    const batch = proposalsAfter(0, { epoch: 1, counter: 1, count: 1 });
    await donor.storage.append([batch]);
    donor.storage.beginCheckpoint(batch.last);
    const at = { zxid: batch.last, lastTime: 1, level: LEVEL_MAX };
    await donor.storage.writeCheckpoint([], { ...at, digest: '' });
    for (const levelMax of [LEVEL.first, LEVEL_MAX]) {
      const disk = new Disk();
      const { storage } = await openToy(disk, { ...TINY, levelMax });
      const sink = await storage.beginSnapshot();
      const source = await donor.storage.openSnapshot();
      for await (const records of source.records()) await sink.write(records);
      await source.close();
      const installing = storage.installSnapshot(batch.last);
      if (levelMax === LEVEL.first) await expect(installing).rejects.toThrow(/is at level 11/);
      else await installing;
      disk.crash();
      expect((await formatOf(disk)).level).toBe(levelMax);
    }
  });
});

describe('a member whose log has an epoch that it never accepted', () => {
  it('is damaged, and a snapshot takes the place of all it had', async () => {
    const disk = new Disk();
    const first = await disk.open();
    await first.storage.saveEpochs(EPOCHS);
    await fill(first.storage, 3, 2);
    const { storage, recovered } = await disk.reopen();
    expect(recovered.damaged).toMatch(/the epoch accepted is 1/);
    const donor = await new Disk().open();
    for (const proposal of await fill(donor.storage, 2)) donor.state.apply(proposal);
    const zxid = await transfer(donor.storage, storage);
    await storage.idle();
    expect(storage.last).toBe(zxid);
  });
});

describe('a member on an empty disk', () => {
  it('starts at zxid 0 without an ensemble and without damage', async () => {
    const { recovered } = await new Disk().open();
    expect(recovered).toEqual({
      ensembleId: '',
      founded: false,
      acceptedEpoch: 0,
      currentEpoch: 0,
      checkpointZxid: 0,
      history: { base: 0, ranges: [] },
      suffix: [],
      last: 0,
      lineage: [],
      damaged: null,
      servedWith: null,
    });
  });

  it('finds what it appended and saved after a crash', async () => {
    const disk = new Disk();
    const { storage } = await disk.open();
    await storage.saveEpochs({ accepted: 3, current: 2, ensembleId: 'e', founded: true });
    const proposals = await fill(storage, 20, 3);
    const { recovered } = await disk.reopen();
    expect(recovered.damaged).toBe(null);
    expect(recovered).toMatchObject({ acceptedEpoch: 3, currentEpoch: 2, ensembleId: 'e' });
    expect(recovered.history).toEqual({ base: 0, ranges: [{ epoch: 3, first: 1, last: 40 }] });
    expect(bytesOf(recovered.suffix)).toEqual(bytesOf([proposals]));
  });

  it('does the same on a file system, and keeps a second process out', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rookery-storage-'));
    const setup = { dataDir: directory, dataLogDir: directory, memberId: 1 };
    const first = await openToy(await openStores(setup));
    await expect(openStores(setup)).rejects.toThrow('in use by another process');
    await expect(openStores({ ...setup, memberId: 1 })).rejects.toThrow('in use');
    await first.storage.saveEpochs(EPOCHS);
    const proposals = await fill(first.storage, 20);
    await first.storage.truncate(makeZxid(1, 11));
    await first.storage.close();
    const second = await openToy(await openStores(setup));
    expect(second.recovered.damaged).toBe(null);
    expect(bytesOf(second.recovered.suffix)).toEqual(bytesOf([proposals.slice(0, 11)]));
    const zxids = proposals.slice(3, 9).map((proposal) => proposal.zxid);
    const read = second.storage.readHistory(makeZxid(1, 3), makeZxid(1, 9));
    expect(await collect(read)).toEqual(zxids);
    await second.storage.close();
    await rm(directory, { recursive: true });
  });
});

describe('a reader of a log that a snapshot has replaced', () => {
  it('is told that it is gone', async () => {
    const donor = await new Disk().open();
    await donor.storage.saveEpochs({ ...EPOCHS, accepted: 9 });
    await fill(donor.storage, 1, 2);
    for (const proposal of proposalsAfter(0, { epoch: 2, counter: 1, count: 2 })) {
      donor.state.apply(proposal);
    }
    const { storage } = await new Disk().open();
    await storage.saveEpochs({ ...EPOCHS, accepted: 9 });
    await fill(storage, 12);
    const reader = storage.readHistory(0, storage.last);
    expect((await reader.next()).done).toBe(false);
    await transfer(donor.storage, storage);
    await storage.idle();
    await expect(collect(reader)).rejects.toThrow(HistoryGoneError);
  });
});

describe('the epochs', () => {
  it('never fall', async () => {
    const { storage } = await new Disk().open();
    await storage.saveEpochs({ accepted: 3, current: 2, ensembleId: 'e', founded: false });
    const fallen = { accepted: 2, current: 2, ensembleId: 'e', founded: false };
    await expect(storage.saveEpochs(fallen)).rejects.toThrow(InvariantViolation);
  });
});

describe('the log', () => {
  it('refuses a proposal that does not name the last one as its predecessor', async () => {
    const { storage } = await new Disk().open();
    await fill(storage, 2);
    const stray = proposalsAfter(makeZxid(1, 3), { epoch: 1, counter: 5, count: 1 });
    await expect(storage.append([stray])).rejects.toThrow(InvariantViolation);
  });

  it('ends with the truncation target, inside a packed record too, and goes on from there', async () => {
    for (let target = 0; target <= 40; target++) {
      const disk = new Disk();
      const { storage } = await disk.open();
      await storage.saveEpochs({ ...EPOCHS, accepted: 2 });
      const proposals = await fill(storage, 20);
      await storage.truncate(proposals[target - 1]?.zxid ?? 0);
      const more = proposalsAfter(storage.last, { epoch: 2, counter: 1, count: 25 });
      for (const proposal of more) await storage.append([ProposalBatch.of([proposal])]);
      const { recovered } = await disk.reopen();
      expect(recovered.damaged).toBe(null);
      const left = [...proposals.slice(0, target), ...more];
      expect(bytesOf(recovered.suffix)).toEqual(bytesOf([left]));
    }
  });

  it('gives any part of it in chunks, and says when a part is not there', async () => {
    const { storage } = await new Disk().open();
    const zxids = (await fill(storage, 20)).map((proposal) => proposal.zxid);
    for (const [from, to] of [
      [0, 40],
      [7, 8],
      [39, 40],
      [12, 31],
    ] as const) {
      const read = storage.readHistory(zxids[from - 1] ?? 0, zxids[to - 1] ?? 0);
      expect(await collect(read)).toEqual(zxids.slice(from, to));
    }
    await expect(collect(storage.readHistory(5, makeZxid(1, 9)))).rejects.toThrow(HistoryGoneError);
    const beyond = storage.readHistory(makeZxid(1, 9), makeZxid(1, 99));
    await expect(collect(beyond)).rejects.toThrow(HistoryGoneError);
  });
});

describe('a snapshot', () => {
  it('takes the place of tree and log at once, and the log goes on from its zxid', async () => {
    const leader = await checkpointedAt(40);
    const disk = new Disk();
    const learner = await disk.open();
    await learner.storage.saveEpochs(EPOCHS);
    await fill(learner.storage, 3);
    const zxid = await transfer(leader.storage, learner.storage);
    expect(learner.storage.last).toBe(zxid);
    const next = proposalsAfter(zxid, { epoch: 1, counter: 41, count: 1 });
    await learner.storage.append([next]);
    const { recovered, state } = await disk.reopen();
    expect(recovered.damaged).toBe(null);
    expect(recovered.checkpointZxid).toBe(zxid);
    expect(bytesOf(recovered.suffix)).toEqual(next.bytes);
    expect(recovered.history.base).toBe(zxid);
    expect(state.entries).toEqual(leader.state.entries);
    expect(await disk.treeStore.list()).toEqual(['meta', 'tree-1']);
    expect(await disk.logFiles.list()).toEqual(['1-0.log']);
  });

  it('that is not complete is not installed', async () => {
    const leader = await checkpointedAt(40);
    const learner = await new Disk().open();
    const source = await leader.storage.openSnapshot();
    const sink = await learner.storage.beginSnapshot();
    const chunks = [];
    for await (const records of source.records()) chunks.push(records);
    await sink.write(chunks[0] ?? []);
    const install = learner.storage.installSnapshot(source.zxid);
    await expect(install).rejects.toThrow(SnapshotDamagedError);
  });

  it('that was begun again or never finished leaves nothing behind', async () => {
    const leader = await checkpointedAt(40);
    const disk = new Disk();
    const learner = await disk.open();
    await learner.storage.saveEpochs(EPOCHS);
    const source = await leader.storage.openSnapshot();
    for (let attempt = 0; attempt < 3; attempt++) {
      const sink = await learner.storage.beginSnapshot();
      for await (const records of (await leader.storage.openSnapshot()).records()) {
        await sink.write(records);
        break;
      }
    }
    await source.close();
    expect(await disk.treeStore.list()).toEqual(['meta', 'tree-0', 'tree-3']);
    await disk.reopen();
    expect(await disk.treeStore.list()).toEqual(['meta', 'tree-0']);
  });

  it('is of the checkpoint at which it was opened, while later ones are taken', async () => {
    const leader = await checkpointedAt(40);
    const source = await leader.storage.openSnapshot();
    const more = proposalsAfter(leader.storage.last, { epoch: 1, counter: 41, count: 8 });
    await leader.storage.append([more]);
    for (const proposal of more) leader.state.apply(proposal);
    await checkpoint(leader);
    const learner = await new Disk().open();
    const sink = await learner.storage.beginSnapshot();
    for await (const records of source.records()) await sink.write(records);
    await learner.storage.installSnapshot(source.zxid);
    expect(source.zxid).toBe(makeZxid(1, 40));
    // Throws when the records are not those of the checkpoint's digest.
    await learner.storage.loadTree((await new Disk().open()).state);
  });
});

/** Installs a snapshot of `from` at `to`; returns its zxid. */
async function transfer(from: Storage, to: Storage): Promise<Zxid> {
  const source = await from.openSnapshot();
  const sink = await to.beginSnapshot();
  for await (const records of source.records()) await sink.write(records);
  await source.close();
  await to.installSnapshot(source.zxid);
  return source.zxid;
}

async function checkpoint({ storage, state }: Opened): Promise<void> {
  storage.beginCheckpoint(state.lastZxid);
  const { changeWithChecksum } = await import('./checkpoint.js');
  const frozen = state.freeze();
  await storage.writeCheckpoint(state.captureSome(1000, 1 << 20).map(changeWithChecksum), frozen);
}

async function checkpointedAt(count: number): Promise<Opened> {
  const opened = await new Disk().open();
  for (const proposal of await fill(opened.storage, count / 2)) opened.state.apply(proposal);
  await checkpoint(opened);
  return opened;
}
