/**
 * Goal: whichever byte of a table of an open database is another, reading the database finds it, or
 * the next opening loses nothing by it.
 */
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bufferOf } from '@rookery/protocol';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DamagedError, StorageFault } from './errors.js';
import type { KeyValueDatabase } from './key-value.js';
import { checkFile, checkFiles, filesToCheck } from './level-files.js';
import { LevelStore } from './level-store.js';
import { OwnedDirectory } from './owned-directory.js';

const COUNT = 12;

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rookery-tables-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function open(name: string): Promise<{ store: LevelStore; database: KeyValueDatabase }> {
  const store = new LevelStore(await OwnedDirectory.open(join(directory, name), 1));
  return { store, database: await store.open('db') };
}

async function contentOf(database: KeyValueDatabase): Promise<string> {
  const snapshot = database.snapshot();
  try {
    const entries: string[] = [];
    for await (const some of snapshot.iterate({})) {
      for (const [key, value] of some) {
        entries.push(`${bufferOf(key).toString('hex')}=${bufferOf(value).toString('hex')}`);
      }
    }
    return entries.join(' ');
  } finally {
    await snapshot.close();
  }
}

/** What reading says, as the scrub does it: the content, or that there is damage. */
async function read(database: KeyValueDatabase, path: string): Promise<string> {
  try {
    await checkFiles(path);
    for (const file of await filesToCheck(path)) await checkFile(path, file);
    return await contentOf(database);
  } catch (error) {
    if (error instanceof DamagedError || error instanceof StorageFault) return 'damaged';
    throw error;
  }
}

it('is found while the database is open, or harms no start', async () => {
  const first = await open('a');
  for (let index = 0; index < COUNT; index++) {
    const value = Buffer.from(`${index * 7_919}`.repeat(8));
    const put = { type: 'put', key: Buffer.from(`key-${index}`), value } as const;
    await first.database.batch([put], { sync: true });
  }
  await first.store.close();
  // What was in the write-ahead file becomes a table.
  const { store, database } = await open('a');
  const content = await contentOf(database);
  await database.get(Buffer.from('key-1'));
  const path = join(directory, 'a', 'db');
  const table = join(path, readdirSync(path).find((name) => name.endsWith('.ldb')) ?? 'missing');
  const bytes = readFileSync(table);
  let found = 0;
  for (let at = 0; at < bytes.length; at++) {
    const struck = Buffer.from(bytes);
    struck[at] = (struck[at] ?? 0) ^ 1;
    // In place, because the database has it mapped.
    writeFileSync(table, struck, { flag: 'r+' });
    if ((await read(database, path)) !== content) {
      found += 1;
      continue;
    }
    const copy = `copy-${at}`;
    cpSync(path, join(directory, copy, 'db'), { recursive: true });
    const again = await open(copy);
    expect(await contentOf(again.database), `byte ${at} of ${bytes.length}`).toBe(content);
    await again.store.close();
  }
  expect(found).toBeGreaterThan(bytes.length / 2);
  writeFileSync(table, bytes, { flag: 'r+' });
  expect(await read(database, path)).toBe(content);
  await store.close();
}, 60_000);

it('is looked for in one file after the other', async () => {
  const starts = 3;
  for (let start = 0; start < starts; start++) {
    const { store, database } = await open('b');
    for (let index = 0; index < COUNT; index++) {
      const key = Buffer.from(`key-${start}-${index}`);
      await database.batch([{ type: 'put', key, value: Buffer.alloc(4_000, index) }], {
        sync: true,
      });
    }
    await store.close();
  }
  const { store, database } = await open('b');
  const path = join(directory, 'b', 'db');
  const sizes = (await filesToCheck(path)).map((file) => statSync(join(path, file)).size);
  const parts: number[] = [];
  for await (const bytes of database.checkFiles()) parts.push(bytes);
  expect(parts.length).toBe(sizes.length);
  expect(parts.length).toBeGreaterThan(starts);
  for (const [index, bytes] of parts.entries())
    expect(bytes).toBeLessThanOrEqual(sizes[index] ?? 0);
  await store.close();
});
