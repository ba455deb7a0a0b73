/** For tests: ensembles in memory that hold a checkpoint, and damage of the disk of one member. */
import type { MemoryEnsemble } from './memory-ensemble.js';
import { connected, names, serving, write } from './scenario.js';

const TUNING = { checkpointLogBytes: 1_000, checkpointBlockBytes: 500 };

/** Every member serves, and has written a checkpoint of 200 znodes. */
export async function ensembleWithCheckpoints(tuning: object = {}): Promise<MemoryEnsemble> {
  const ensemble = await serving({ tuning: { ...TUNING, ...tuning } });
  await write(ensemble, await connected(ensemble, ensemble.leader), names('a', 200));
  await ensemble.timers.advance(2_000);
  return ensemble;
}

/** Returns the name of the database of the newest generation. */
export function liveTree(ensemble: MemoryEnsemble, id: number): string {
  const databases = ensemble.treeOf(id).names();
  return databases.findLast((name) => name.startsWith('tree-')) ?? '';
}

/** Flips a bit of a block of records of the newest generation. */
export function damageRecords(ensemble: MemoryEnsemble, id: number): void {
  ensemble.treeOf(id).tamper(liveTree(ensemble, id), (entries) => {
    const key = [...entries.keys()].find((one) => one.startsWith('p')) ?? '';
    const value = Uint8Array.from(entries.get(key) ?? []);
    value[value.length - 1] = (value.at(-1) ?? 0) ^ 1;
    entries.set(key, value);
  });
}
