/**
 * Opens the stores of a member on this machine: tree and meta in LevelDB, the log in plain files.
 *
 * Opens both directories or neither, and writes nothing if either belongs to another member.
 */
import { join } from 'node:path';
import type { Stores } from './contract.js';
import { readOwner } from './data-directory.js';
import { FileLogDirectory } from './file-log.js';
import type { LogDirectory } from './key-value.js';
import { LevelStore } from './level-store.js';
import { OwnedDirectory } from './owned-directory.js';

/** Throws the same errors as OwnedDirectory.open. */
export async function openStores(setup: {
  readonly dataDir: string;
  readonly dataLogDir: string;
  readonly memberId: number;
}): Promise<Stores> {
  const { memberId } = setup;
  const treeDirectory = join(setup.dataDir, String(memberId), 'tree');
  const logDirectory = join(setup.dataLogDir, String(memberId), 'log');
  await readOwner(treeDirectory, memberId);
  await readOwner(logDirectory, memberId);
  const ofTree = await OwnedDirectory.openUnmarked(treeDirectory, memberId);
  const treeStore = new LevelStore(ofTree);
  try {
    const ofLog = await OwnedDirectory.open(logDirectory, memberId);
    return { treeStore, logFiles: await openLog(ofLog), marks: [ofTree.mark, ofLog.mark] };
  } catch (error) {
    await treeStore.close();
    throw error;
  }
}

async function openLog(directory: OwnedDirectory): Promise<LogDirectory> {
  try {
    return await FileLogDirectory.open(directory);
  } catch (error) {
    await directory.close();
    throw error;
  }
}
