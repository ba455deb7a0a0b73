/** A sector that cannot be read, in each file of a database that the checks read. */
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DamagedError, StorageFault } from './errors.js';
import { LevelStore } from './level-store.js';
import { OwnedDirectory } from './owned-directory.js';

vi.mock('node:fs/promises', { spy: true });

let directory = '';
/** The name of the file that cannot be read, and why. */
let struck = '';
let code = 'EIO';

beforeEach(async () => {
  const real = await vi.importActual<typeof import('node:fs/promises')>('node:fs/promises');
  directory = await mkdtemp(join(tmpdir(), 'rookery-sectors-'));
  struck = '';
  code = 'EIO';
  const fail = async () => {
    throw Object.assign(new Error(`${code}: read`), { code });
  };
  vi.mocked(open).mockImplementation(async (...given) => {
    const file = await real.open(...given);
    if (basename(String(given[0])) === struck) vi.spyOn(file, 'read').mockImplementation(fail);
    return file;
  });
  vi.mocked(readFile).mockImplementation(async (...given) => {
    if (basename(String(given[0])) === struck) await fail();
    return await real.readFile(...given);
  });
});
afterEach(async () => {
  vi.mocked(open).mockReset();
  vi.mocked(readFile).mockReset();
  await rm(directory, { recursive: true });
});

/** A database with a table and a write-ahead file. */
async function openTwice() {
  for (const key of ['a', 'b']) {
    const store = new LevelStore(await OwnedDirectory.open(directory, 1));
    const database = await store.open('db');
    const put = { type: 'put', key: Buffer.from(key), value: Buffer.alloc(1_000) } as const;
    await database.batch([put], { sync: true });
    if (key === 'b') return { store, database };
    await store.close();
  }
  throw new Error('it was opened twice');
}

async function check(database: { checkFiles(): AsyncIterable<number> }): Promise<void> {
  for await (const _ of database.checkFiles());
}

const KINDS = [/^CURRENT$/, /^MANIFEST-/, /^\d+\.ldb$/, /^\d+\.log$/];

it('is damage while the database is open', async () => {
  const { store, database } = await openTwice();
  const files = await readdir(join(directory, 'db'));
  for (const kind of KINDS) {
    struck = files.find((name) => kind.test(name)) ?? 'missing';
    await expect(check(database), struck).rejects.toThrow(DamagedError);
  }
  code = 'EMFILE';
  await expect(check(database)).rejects.toThrow(StorageFault);
  struck = '';
  await check(database);
  await store.close();
});

it('is damage at a start', async () => {
  const { store } = await openTwice();
  await store.close();
  const files = await readdir(join(directory, 'db'));
  for (const kind of KINDS.filter((one) => !one.test('1.ldb'))) {
    struck = files.find((name) => kind.test(name)) ?? 'missing';
    const again = new LevelStore(await OwnedDirectory.open(directory, 1));
    await expect(again.open('db'), struck).rejects.toThrow(DamagedError);
    await again.close();
  }
});
