/** Headers and segments of a log that are lost, also after a crash between two of its changes. */
import { describe, expect, it } from 'vitest';
import { CLEARED_BYTES } from './log-files.js';
import { Disk } from './testing/life.js';
import { openToy, proposalsAfter, seededRandom } from './testing.js';

const RANDOM = () => seededRandom(1);

/** A log of so many segments that hold something. */
async function written(segments: number): Promise<Disk> {
  const disk = new Disk();
  const { storage } = await openToy(disk);
  await storage.saveEpochs({ accepted: 1, current: 1, ensembleId: 'e', founded: true });
  for (let counter = 1; (await begun(disk)).length <= segments; counter++) {
    await storage.append(proposalsAfter(storage.last, { epoch: 1, counter, count: 1 }));
    await storage.idle();
  }
  return disk.crash(RANDOM());
}

/** Those whose header was written: the next one may be there already. */
async function begun({ logFiles }: Disk): Promise<readonly string[]> {
  return logFiles
    .names()
    .filter((name) => logFiles.bytesOf(name)[0] !== undefined && !isEmpty(logFiles.bytesOf(name)));
}

function isEmpty(bytes: Uint8Array): boolean {
  return bytes.subarray(0, CLEARED_BYTES).every((byte) => byte === 0);
}

function withoutHeader(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes).fill(0, 0, CLEARED_BYTES);
}

describe('a log is damaged', () => {
  it.each([1, 2])('without all its segments from number %d on', async (index) => {
    const disk = await written(2);
    for (const name of disk.logFiles.names().slice(index)) await disk.logFiles.remove(name);
    expect((await openToy(disk.crash(RANDOM()))).recovered.damaged).toMatch(/is missing/);
  });

  it.each([0, 1, 2])('without the header of segment %d', async (index) => {
    const disk = await written(2);
    const name = disk.logFiles.names()[index] ?? '';
    disk.logFiles.tamper(name, withoutHeader);
    expect((await openToy(disk)).recovered.damaged).toMatch(/has lost its header/);
  });

  it('without a segment that was begun after a crash', async () => {
    const first = await written(1);
    const { storage } = await openToy(first);
    const before = await begun(first);
    const next = proposalsAfter(storage.last, { epoch: 1, counter: 1000, count: 1 });
    await storage.append(next.map((proposal) => ({ ...proposal })));
    const disk = first.crash(RANDOM());
    const added = (await begun(disk)).filter((name) => !before.includes(name));
    expect(added).toHaveLength(1);
    await disk.logFiles.remove(added[0] ?? '');
    expect((await openToy(disk)).recovered.damaged).toMatch(/is missing/);
  });
});

describe('a log is sound', () => {
  it('with a file that was made for its next segment and never begun', async () => {
    const disk = await written(1);
    const file = await disk.logFiles.create('0-77.log');
    await file.close();
    const { recovered, storage } = await openToy(disk);
    expect(recovered.damaged).toBe(null);
    await storage.append(proposalsAfter(storage.last, { epoch: 2, counter: 1, count: 1 }));
    expect(disk.logFiles.names()).not.toContain('0-77.log');
  });
});
