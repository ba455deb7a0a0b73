/** What goes wrong while a repair is written ends the repair, and never what is in use. */
import { describe, expect, it } from 'vitest';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { openToy, proposalsAfter } from '../simulated/storage/toy-state.js';
import { DamagedError, RepairOutdatedError } from './errors.js';
import { RECORDS_START } from './log-segment.js';
import type { Storage } from './storage.js';

async function opened() {
  const disk = { treeStore: new MemoryStore(), logFiles: new MemoryLogDirectory() };
  const { storage } = await openToy(disk);
  await append(storage, 1);
  return { ...disk, storage };
}

async function append(storage: Storage, counter: number): Promise<void> {
  await storage.append([proposalsAfter(storage.last, { epoch: 1, counter, count: 2 })]);
}

describe('a repair', () => {
  it('reports damage of the log that it copies', async () => {
    const { storage, logFiles } = await opened();
    const repair = await storage.beginRepair(0);
    const names = await logFiles.list();
    logFiles.tamper(names.find((name) => name.startsWith('0-')) ?? '', (bytes) => {
      const changed = Uint8Array.from(bytes);
      changed[RECORDS_START + 20] = (changed[RECORDS_START + 20] ?? 0) ^ 1;
      return changed;
    });
    await expect(repair.catchUp()).rejects.toThrow(DamagedError);
    await repair.abandon();
    expect(await logFiles.list()).toEqual(names.filter((name) => name.startsWith('0-')));
    await append(storage, 3);
  });

  it('is outdated once a snapshot begins or the log is cut, and appends go on', async () => {
    const { storage } = await opened();
    const first = await storage.beginRepair(0);
    await storage.beginSnapshot();
    await expect(storage.finishRepair(first)).rejects.toThrow(RepairOutdatedError);
    await first.abandon();
    const second = await storage.beginRepair(0);
    await storage.truncate(0);
    await expect(second.catchUp()).rejects.toThrow(RepairOutdatedError);
    await expect(storage.finishRepair(second)).rejects.toThrow(RepairOutdatedError);
    await second.abandon();
    await append(storage, 3);
  });
});
