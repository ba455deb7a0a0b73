/** A log that has lost its newest segments, also after a crash between two of its changes. */
import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryStore } from './memory-store.js';
import { openToy, proposalsAfter, seededRandom } from './testing.js';

const SUCCESSOR_KEY = Uint8Array.of(0xff, 0x6e);

describe('a lost segment is noticed', () => {
  let random = seededRandom(1);
  let disk = { treeStore: new MemoryStore(), logStore: new MemoryStore() };
  let counter = 1;
  beforeEach(() => {
    random = seededRandom(1);
    disk = { treeStore: new MemoryStore(), logStore: new MemoryStore() };
    counter = 1;
  });

  function crash(): void {
    const { treeStore, logStore } = disk;
    disk = { treeStore: treeStore.crash(random), logStore: logStore.crash(random) };
  }

  /** The last of them is empty. */
  async function appendUntil(segments: number): Promise<void> {
    const { storage } = await openToy(disk);
    await storage.saveEpochs({ accepted: 1, current: 1, ensembleId: 'e', founded: true });
    while ((await disk.logStore.list()).length < segments) {
      await storage.append(proposalsAfter(storage.last, { epoch: 1, counter, count: 1 }));
      counter += 1;
      await storage.idle();
    }
  }

  async function loseFrom(index: number): Promise<void> {
    crash();
    for (const name of disk.logStore.names().slice(index)) await disk.logStore.destroy(name);
  }

  it.each([1, 2])('with all from number %d on', async (index) => {
    await appendUntil(3);
    await loseFrom(index);
    expect((await openToy(disk)).recovered.damaged).toMatch(/what follows .* is missing/);
  });

  it('that was made just before a crash, and used after it', async () => {
    await appendUntil(2);
    crash();
    // Its creation was durable, its predecessor's mark was not.
    const [first = ''] = disk.logStore.names();
    const successor = Buffer.from(SUCCESSOR_KEY).toString('latin1');
    disk.logStore.tamper(first, (entries) => {
      expect(entries.delete(successor)).toBe(true);
    });
    await appendUntil(3);
    await loseFrom(1);
    expect((await openToy(disk)).recovered.damaged).toMatch(/what follows .* is missing/);
  });
});
