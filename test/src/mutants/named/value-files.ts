/** Large values in files: when they are durable, and when a file may be removed. */
import type { NamedMutant } from './named-mutant.js';

const FILE = 'server/src/storage/value-database.test.ts';
const POWER = 'survive a power failure at any moment, seed 1';
const READERS = 'can be read until a snapshot is closed, and their files are removed then';

export const valueFileMutants: readonly NamedMutant[] = [
  {
    name: 'value-file-name-not-synced',
    area: 'named',
    file: 'storage/file-log.ts',
    find: '    await orFault(path, () => disk.syncDirectory(this.#home.path));\n',
    replace: '',
    breaks: 'the name of a value file is durable before the database refers to it',
    scenario: { file: FILE, name: POWER },
  },
  {
    name: 'value-move-overwrites-a-change',
    area: 'named',
    file: 'storage/value-database.ts',
    find: '[...references, ...changes]',
    replace: '[...changes, ...references]',
    breaks: 'a value that is moved does not replace one that is written in the same batch',
    scenario: { file: FILE, name: POWER },
  },
  {
    name: 'value-file-removed-before-readers-end',
    area: 'named',
    file: 'storage/value-files.ts',
    find: 'file.deadSince > oldest',
    replace: 'file.deadSince > oldest + 9',
    breaks: 'whatever a snapshot refers to can be read until it is closed',
    scenario: { file: FILE, name: READERS },
  },
  {
    name: 'value-files-below-level-5',
    area: 'named',
    file: 'storage/checkpoint.ts',
    find: 'largeInFiles: level >= LEVEL.valuesInFiles',
    replace: 'largeInFiles: level >= LEVEL.first',
    breaks: 'below ensemble level 5 a release that does not know value files can read everything',
    scenario: {
      file: FILE,
      name: 'keeps them in LevelDB at lower levels, where older releases find them',
    },
  },
];
