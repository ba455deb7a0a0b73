/**
 * Goal: whatever is another on the disk of a member, a start notices it, or has lost nothing of it.
 * Method: the disk after a script of operations, with a byte flipped or a file or record missing,
 * one after the other. The log on real files is in log-damage.test.ts.
 */
import type { Proposal, Zxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../simulated/seeded-random.js';
import { type Disk, lifeUntil, zxidsOf } from '../simulated/storage/life.js';
import { type Opened, openToy } from '../simulated/storage/toy-state.js';
import { HistoryGoneError } from './errors.js';
import { RECORDS_START } from './log-segment.js';

/** After a script that ended with a mark. */
async function markedDisk(seed: number) {
  const { disk, expected, opened } = await lifeUntil(seed);
  await opened.storage.markLogEnd();
  return { disk: disk.crash(seededRandom(1)), proposals: expected.proposals };
}

/** The same bytes. */
function copyOf(disk: Disk): Disk {
  return disk.crash(() => 1 - Number.EPSILON);
}

describe('a damaged disk', () => {
  it('is noticed whichever entry of the tree has another byte', async () => {
    const { disk } = await markedDisk(5);
    const count = disk.treeStore.keysOf('tree-0').length;
    expect(count).toBeGreaterThan(3);
    for (let index = 0; index < count; index++) {
      const other = copyOf(disk);
      other.treeStore.tamper('tree-0', (entries) => flipByte(entries, index, index));
      const { recovered, storage } = await openToy(other);
      expect(recovered.damaged, `record ${index}`).toMatch(/wrong checksum/);
      expect(recovered.suffix).toEqual([]);
      const epochs = { accepted: 90, current: 90, ensembleId: '', founded: false };
      await storage.saveEpochs(epochs);
      const again = await openToy(other.crash(seededRandom(1)));
      expect(again.recovered.damaged, 'stays damaged').not.toBe(null);
    }
  });

  it('is noticed, or has lost nothing, whichever byte of the log is another', async () => {
    const { disk, proposals } = await markedDisk(5);
    const sound = await openToy(copyOf(disk));
    let noticed = 0;
    let unread = 0;
    for (const name of disk.logFiles.names()) {
      const bytes = disk.logFiles.bytesOf(name);
      for (let at = 0; at < bytes.length; at += at < RECORDS_START ? 13 : 1) {
        // What is zero is no header and no record, or padding.
        if (bytes[at] === 0) continue;
        const other = copyOf(disk);
        other.logFiles.tamper(name, (file) => file.fill((file[at] ?? 0) ^ 0x10, at, at + 1));
        const title = `byte ${at} of ${name}`;
        const opened = await openToy(other);
        if (opened.recovered.damaged !== null) {
          expect(opened.recovered.suffix, title).toEqual([]);
          noticed += 1;
          continue;
        }
        expect(opened.recovered.suffix, title).toEqual(sound.recovered.suffix);
        expect(opened.recovered.last, title).toBe(sound.recovered.last);
        // It is before the checkpoint: only a learner would have read it.
        unread += (await readOrGiveUp(opened, other, proposals)) ? 1 : 0;
      }
    }
    expect(noticed).toBeGreaterThan(50);
    expect(unread).toBeGreaterThan(0);
  }, 60_000);

  it('has lost nothing with one of the two meta records, and is noticed without both', async () => {
    for (const spoil of [flipByte, loseRecord]) {
      for (const index of [0, 1]) {
        const life = await lifeUntil(5);
        const disk = life.disk.crash(seededRandom(1));
        disk.treeStore.tamper('meta', (entries) => spoil(entries, index, 77));
        const { recovered } = await openToy(disk);
        expect(recovered).toMatchObject({ damaged: null, acceptedEpoch: life.expected.accepted });
        // What it read is on disk twice again: now the other one may go.
        const next = disk.crash(seededRandom(1));
        next.treeStore.tamper('meta', (entries) => spoil(entries, 1 - index, 78));
        const again = await openToy(next);
        expect(again.recovered).toEqual(recovered);
      }
      const disk = (await lifeUntil(5)).disk.crash(seededRandom(1));
      disk.treeStore.tamper('meta', (entries) => {
        spoil(entries, 1, 79);
        spoil(entries, 0, 80);
      });
      expect((await openToy(disk)).recovered.damaged).toMatch(/wrong checksum|is missing/);
    }
  });

  it('is noticed when a whole segment is missing that a start needs', async () => {
    const { disk } = await markedDisk(7);
    const names = disk.logFiles.names();
    expect(names.length).toBeGreaterThan(2);
    const sound = await openToy(copyOf(disk));
    const outcomes = new Set<string>();
    for (const name of names) {
      const other = copyOf(disk);
      await other.logFiles.remove(name);
      const { recovered } = await openToy(other);
      if (recovered.damaged === null) {
        // As if purged, void or never begun: the checkpoint does not need it.
        expect(recovered.suffix).toEqual(sound.recovered.suffix);
        expect(recovered.last).toBe(sound.recovered.last);
        expect(recovered.history.base).toBeLessThanOrEqual(recovered.checkpointZxid);
        outcomes.add('not needed');
      } else {
        expect(recovered.damaged, name).toMatch(/gap|does not hold|missing|lost/);
        outcomes.add('damaged');
      }
    }
    expect([...outcomes].sort()).toEqual(['damaged', 'not needed']);
    const empty = copyOf(disk);
    for (const name of names) await empty.logFiles.remove(name);
    expect((await openToy(empty)).recovered.damaged).toMatch(/the log is missing/);
  });

  it('without its meta record is damaged, not new, and a snapshot mends it', async () => {
    const leader = await openToy((await lifeUntil(3)).disk.crash(seededRandom(1)));
    const disk = (await lifeUntil(7)).disk.crash(seededRandom(1));
    disk.treeStore.tamper('meta', (entries) => entries.clear());
    const { storage, recovered } = await openToy(disk);
    expect(recovered.damaged).toMatch(/meta record is missing/);
    await storage.saveEpochs({ accepted: 99, current: 0, ensembleId: '', founded: false });
    const snapshot = await leader.storage.openSnapshot();
    const sink = await storage.beginSnapshot();
    for await (const records of snapshot.records()) await sink.write(records);
    await storage.installSnapshot(snapshot.zxid);
    await storage.idle();
    const mended = await openToy(disk.crash(seededRandom(1)));
    expect(mended.recovered).toMatchObject({
      damaged: null,
      acceptedEpoch: 99,
      last: snapshot.zxid,
    });
    expect((await disk.treeStore.crash(seededRandom(1)).list()).length).toBe(2);
  });
});

/** True when reading finds the damage: what cannot be read is given up, all else is as it was. */
async function readOrGiveUp(
  { storage }: Opened,
  disk: Disk,
  expected: readonly Proposal[],
): Promise<boolean> {
  const { base } = storage;
  const read = async () => {
    const found: Zxid[] = [];
    for await (const chunk of storage.readHistory(storage.base, storage.last)) {
      found.push(...zxidsOf(chunk));
    }
    return found;
  };
  const found = await read().catch((error: unknown) => {
    expect(error).toBeInstanceOf(HistoryGoneError);
    expect(String(error)).toMatch(/has lost what follows|is not understood/);
    return null;
  });
  const rest = found ?? (await read());
  expect(rest).toEqual(zxidsOf(expected).filter((zxid) => zxid > storage.base));
  expect(storage.base > base).toBe(found === null);
  await storage.idle();
  const again = await openToy(disk.crash(seededRandom(1)));
  expect(again.recovered.damaged).toBe(null);
  expect(again.storage.base).toBe(storage.base);
  return found === null;
}

function loseRecord(entries: Map<string, Uint8Array>, index: number): void {
  const key = [...entries.keys()][index];
  if (key !== undefined) entries.delete(key);
}

function flipByte(entries: Map<string, Uint8Array>, index: number, seed: number): void {
  const [key, value] = [...entries][index] ?? ['', new Uint8Array(0)];
  const changed = Uint8Array.from(value);
  const at = seed % Math.max(1, changed.length);
  changed[at] = (changed[at] ?? 0) ^ 0x10;
  entries.set(key, changed);
}
