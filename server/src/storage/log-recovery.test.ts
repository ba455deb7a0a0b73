/** A log that is read back where a crash fell between two of its changes. */
import { expect, it } from 'vitest';
import { MemoryStore } from './memory-store.js';
import { openToy, proposalsAfter, seededRandom } from './testing.js';

const SUCCESSOR_KEY = Uint8Array.of(0xff, 0x6e);

it('notices that a segment is missing which was made just before a crash, and used after it', async () => {
  const random = seededRandom(1);
  let disk = { treeStore: new MemoryStore(), logStore: new MemoryStore() };
  const crash = () => {
    const { treeStore, logStore } = disk;
    disk = { treeStore: treeStore.crash(random), logStore: logStore.crash(random) };
  };
  let counter = 1;
  const appendUntil = async (segments: number) => {
    const { storage } = await openToy(disk);
    await storage.saveEpochs({ accepted: 1, current: 1, ensembleId: 'e', founded: true });
    while ((await disk.logStore.list()).length < segments) {
      await storage.append(proposalsAfter(storage.last, { epoch: 1, counter, count: 1 }));
      counter += 1;
      await storage.idle();
    }
  };
  await appendUntil(2);
  crash();
  // Its creation was durable, its predecessor's mark was not.
  const [first = '', second = ''] = disk.logStore.names();
  const successor = Buffer.from(SUCCESSOR_KEY).toString('latin1');
  disk.logStore.tamper(first, (entries) => {
    expect(entries.delete(successor)).toBe(true);
  });
  await appendUntil(3);
  crash();
  const third = disk.logStore.names().at(-1) ?? '';
  await disk.logStore.destroy(third);
  await disk.logStore.destroy(second);
  expect((await openToy(disk)).recovered.damaged).toMatch(/what follows .* is missing/);
});
