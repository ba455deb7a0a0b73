/** Large values in files beside the database: when they are durable, and when they may go. */
import type { NamedMutant } from './named-mutant.js';

const FILE = 'server/src/storage/value-database.test.ts';
const POWER = 'are there after a power failure at any moment, seed 1';
const READERS = 'stay while somebody reads them, and go then';

export const valueFileMutants: readonly NamedMutant[] = [
  {
    name: 'value-file-name-not-synced',
    area: 'named',
    file: 'storage/value-files.ts',
    find: '      await disk.syncDirectory(path);\n',
    replace: '',
    breaks: 'a file of values is durable before the database refers to it',
    scenario: { file: FILE, name: POWER },
  },
  {
    name: 'value-file-emptied-over-changes',
    area: 'named',
    file: 'storage/value-database.ts',
    find: '[...written, ...changes]',
    replace: '[...changes, ...written]',
    breaks: 'a value that is moved does not replace one that is written in the same batch',
    scenario: { file: FILE, name: POWER },
  },
  {
    name: 'value-file-ends-under-readers',
    area: 'named',
    file: 'storage/value-files.ts',
    find: 'file.deadSince > oldest',
    replace: 'file.deadSince > oldest + 9',
    breaks: 'what a snapshot refers to is there until it is closed',
    scenario: { file: FILE, name: READERS },
  },
  {
    name: 'value-files-before-their-level',
    area: 'named',
    file: 'storage/checkpoint.ts',
    find: 'largeApart: level >= LEVEL.valuesApart',
    replace: 'largeApart: level >= LEVEL.first',
    breaks: 'before ensemble level 5 a release that does not know files of values reads everything',
    scenario: {
      file: FILE,
      name: 'has them in LevelDB before, where an older release finds them',
    },
  },
];
