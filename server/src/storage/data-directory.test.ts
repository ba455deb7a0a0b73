/**
 * Directories that several members make on one machine.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeDirectory } from './data-directory.js';

it('members that make their directories below one missing parent at the same time all succeed', async () => {
  const root = await mkdtemp(join(tmpdir(), 'rookery-directory-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const data = join(root, 'rookery', 'data');
  const ids = ['1', '2', '3', '4', '5'];
  await Promise.all(ids.map((id) => makeDirectory(join(data, id, 'log'))));
  expect((await readdir(data)).sort()).toEqual(ids);
});

it('two processes may make the same directory at the same time', async () => {
  const root = await mkdtemp(join(tmpdir(), 'rookery-directory-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const path = join(root, 'backups', 'daily');
  await Promise.all([makeDirectory(path), makeDirectory(path), makeDirectory(path)]);
  expect(await readdir(path)).toEqual([]);
});
