/** Large values in files: when they are durable, and when a file may be removed. */
import type { NamedMutant } from './named-mutant.js';

const FILE = 'server/src/storage/value-database.test.ts';
const POWER = 'survive a power failure at any moment, seed 1';
const READERS = 'can be read until a snapshot is closed, and their files are removed then';

export const valueFileMutants: readonly NamedMutant[] = [
  {
    name: 'value-file-name-not-synced',
    area: 'named',
    in: 'FileLogDirectory.create',
    find: 'await orFault(path, () => disk.syncDirectory(this.#home.path));',
    replace: '',
    breaks: 'the name of a value file is durable before the database refers to it',
    scenario: { file: FILE, name: POWER },
  },
  {
    name: 'value-move-overwrites-a-change',
    area: 'named',
    in: 'ValueDatabase.batch',
    find: 'const all = [...references, ...changes];',
    replace: 'const all = [...changes, ...references];',
    breaks: 'a value that is moved does not replace one that is written in the same batch',
    scenario: { file: FILE, name: POWER },
  },
  {
    name: 'value-file-removed-before-readers-end',
    area: 'named',
    in: 'ValueFiles.#removeDead',
    find: 'if (file.deadSince === null || file.deadSince > oldest) continue;',
    replace: 'if (file.deadSince === null || file.deadSince > oldest + 9) continue;',
    breaks: 'whatever a snapshot refers to can be read until it is closed',
    scenario: { file: FILE, name: READERS },
  },
  {
    name: 'reserved-field-below-its-level',
    area: 'named',
    in: 'checkpointRecord',
    find: 'const reserved = (level ?? LEVEL.first) >= LEVEL.reservedField ? { reserved: 0 } : {};',
    replace: 'const reserved = (level ?? LEVEL.first) >= LEVEL.first ? { reserved: 0 } : {};',
    breaks: 'what a level added is not written while members may not know that level',
    scenario: {
      file: 'server/src/storage/storage.test.ts',
      name: 'decides whether the record of a checkpoint has a reserved field',
    },
  },
];
