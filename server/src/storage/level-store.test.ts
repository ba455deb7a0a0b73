/** The real LevelDB: who may open a directory, and what damage on disk looks like. */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Recovered } from './contract.js';
import { DirectoryError, FormatError, IdentityError } from './errors.js';
import { openLevelStores } from './level-store.js';
import { openToy, proposalsAfter, TINY } from './testing.js';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rookery-level-'));
});
afterEach(() => rm(directory, { recursive: true }));

function setup(memberId = 1) {
  const { segmentBytesMax } = TINY;
  return { dataDir: directory, dataLogDir: join(directory, 'logs'), memberId, segmentBytesMax };
}

async function filled(): Promise<void> {
  const { storage } = await openToy(await openLevelStores(setup()));
  await storage.saveEpochs({ accepted: 1, current: 0, ensembleId: '', founded: false });
  for (let i = 0; i < 20; i++) {
    await storage.append(proposalsAfter(storage.last, { epoch: 1, counter: i * 2 + 1, count: 2 }));
  }
  await storage.close();
}

describe('a data directory', () => {
  it('of another member is refused, and nothing is written', async () => {
    await filled();
    const { rename } = await import('node:fs/promises');
    await rename(join(directory, '1'), join(directory, '2'));
    const before = await readdir(directory, { recursive: true });
    await expect(openLevelStores(setup(2))).rejects.toThrow(IdentityError);
    expect(await readdir(directory, { recursive: true })).toEqual(before);
  });

  it('that cannot be made is refused with its name', async () => {
    await writeFile(join(directory, 'file'), '');
    const dataDir = join(directory, 'file');
    const open = openLevelStores({ ...setup(), dataDir });
    await expect(open).rejects.toThrow(DirectoryError);
    await expect(openLevelStores({ ...setup(), dataDir })).rejects.toThrow(dataDir);
  });

  it('of a later format is refused', async () => {
    await filled();
    const path = join(directory, '1', 'tree', 'member.json');
    await writeFile(path, '{"rookery":99,"member":1}\n');
    await expect(openLevelStores(setup())).rejects.toThrow(FormatError);
  });
});

describe('a meta database that LevelDB cannot open', () => {
  it('makes the member a damaged one, not a new one', async () => {
    await filled();
    const meta = join(directory, '1', 'tree', 'meta');
    for (const file of await readdir(meta)) {
      if (file.startsWith('MANIFEST')) await writeFile(join(meta, file), 'garbage');
    }
    for (let start = 0; start < 2; start++) {
      const { storage, recovered } = await openToy(await openLevelStores(setup()));
      expect(recovered.damaged).toMatch(/damaged/);
      await storage.close();
    }
  });
});

describe('a log file of LevelDB', () => {
  it('that is cut short or overwritten anywhere never brings up a wrong log', async () => {
    await filled();
    const pristine = `${directory}-pristine`;
    await cp(directory, pristine, { recursive: true });
    const all = await suffixOf();
    expect(all.suffix.length).toBe(40);
    let damaged = 0;
    const files = await readdir(join(pristine, 'logs', '1', 'log'), { recursive: true });
    for (const file of files.filter((name) => /^log-.*\d\.(log|ldb)$/.test(name))) {
      const bytes = await readFile(join(pristine, 'logs', '1', 'log', file));
      if (bytes.length < 20) continue;
      for (const spoilt of [
        bytes.subarray(0, bytes.length >> 1),
        Buffer.concat([bytes.subarray(0, 10), Buffer.alloc(8, 0xee), bytes.subarray(18)]),
      ]) {
        await rm(directory, { recursive: true });
        await cp(pristine, directory, { recursive: true });
        await writeFile(join(directory, 'logs', '1', 'log', file), spoilt);
        const found = await suffixOf();
        if (found.damaged !== null) damaged += 1;
        else expect(found.suffix).toEqual(all.suffix.slice(0, found.suffix.length));
      }
    }
    await rm(pristine, { recursive: true });
    expect(damaged).toBeGreaterThan(0);
  }, 60_000);
});

async function suffixOf(): Promise<Recovered> {
  const { storage, recovered } = await openToy(await openLevelStores(setup()));
  await storage.close();
  return recovered;
}
