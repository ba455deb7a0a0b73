/**
 * Planted links: every way to make a file replaces or refuses a link, and leaves the file to which
 * it leads as it is.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { keepAside } from '../member/keep-aside.js';
import { writeChecksum } from '../offline/snapshot-output.js';
import { OWNER_FILE, writeOwner } from '../storage/data-directory.js';
import {
  ForeignFileError,
  openContinuedFile,
  openContinuedFileSync,
  openDirectoryProblem,
  openNewFile,
  replaceOwnFile,
} from './own-file.js';

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-own-file-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A file of the victim, open to all, as a planted link would have it. */
function newVictim(directory: string): string {
  const victim = join(directory, 'victim');
  writeFileSync(victim, 'before');
  chmodSync(victim, 0o666);
  return victim;
}

async function* lines(): AsyncGenerator<string> {
  yield 'secret';
}

const MAKERS: readonly (readonly [string, string, (path: string) => Promise<void>])[] = [
  [
    'openNewFile',
    'a',
    async (path) => {
      const file = await openNewFile(path);
      await file.write('secret');
      await file.close();
    },
  ],
  ['replaceOwnFile, by the name', 'a', async (path) => replaceOwnFile(path, 'secret')],
  [
    'replaceOwnFile, by the temporary name',
    'a.new',
    async (path) => replaceOwnFile(path.replace(/\.new$/, ''), 'secret'),
  ],
  ['a checksum', 'a.sha256', (path) => writeChecksum(path, 'secret', 'a')],
  [
    'discarded transactions',
    'discarded/a-1.part',
    async (path) => {
      await keepAside(join(path, '../..'), 'a-1', lines(), 3);
    },
  ],
];

for (const link of [symlinkSync, linkSync]) {
  it.each(MAKERS)(
    `${link.name}: %s leaves the file behind a link as it is`,
    async (_, name, make) => {
      const directory = newDirectory();
      const victim = newVictim(directory);
      mkdirSync(join(directory, 'discarded'));
      const path = join(directory, name);
      link(victim, path);
      await make(path);
      expect(readFileSync(victim, 'utf8')).toBe('before');
      const made = path.replace(/\.(?:part|new)$/, '');
      expect(lstatSync(made).isFile()).toBe(true);
      expect(readFileSync(made, 'utf8')).toContain('secret');
      expect(statSync(made).mode & 0o777).toBe(0o600);
    },
  );
}

it('marks a directory past a planted link', async () => {
  const directory = newDirectory();
  const victim = newVictim(directory);
  const own = join(directory, 'own');
  mkdirSync(own);
  symlinkSync(victim, join(own, `${OWNER_FILE}.new`));
  await writeOwner(own, 'mine');
  expect(readFileSync(victim, 'utf8')).toBe('before');
});

it('a link that leads nowhere makes no file there', async () => {
  const directory = newDirectory();
  const path = join(directory, 'a');
  symlinkSync(join(directory, 'elsewhere'), path);
  await (await openNewFile(path)).close();
  expect(existsSync(join(directory, 'elsewhere'))).toBe(false);
});

it.each([
  ['a symbolic link', symlinkSync, 'is a symbolic link'],
  ['a hard link', linkSync, 'has a second name'],
])('a file that is continued may not be %s', async (_, link, reason) => {
  const directory = newDirectory();
  const victim = newVictim(directory);
  const path = join(directory, 'audit.jsonl');
  link(victim, path);
  expect(() => openContinuedFileSync(path)).toThrow(ForeignFileError);
  expect(() => openContinuedFileSync(path)).toThrow(reason);
  await expect(openContinuedFile(path)).rejects.toThrow(reason);
  rmSync(path);
  closeSync(openContinuedFileSync(path));
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('reports a directory that others can write, and none of our own', async () => {
  const directory = newDirectory();
  const path = join(directory, 'a');
  expect(await openDirectoryProblem(path)).toBeNull();
  chmodSync(directory, 0o777);
  expect(await openDirectoryProblem(path)).toContain('can be written by other users');
  chmodSync(directory, 0o1777);
  expect(await openDirectoryProblem(path)).toContain(`chmod go-w ${directory}`);
  expect(await openDirectoryProblem(join(directory, 'missing/a'))).toBeNull();
});
