/** Who may open a member's directories, and what is in them. */
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openToy, proposalsAfter, proposalsIn } from '../simulated/storage/toy-state.js';
import { DirectoryError, FormatError, IdentityError, StoreLockedError } from './errors.js';
import { openStores } from './stores.js';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rookery-stores-'));
});
afterEach(() => rm(directory, { recursive: true }));

function setup(memberId = 1) {
  return { dataDir: directory, dataLogDir: join(directory, 'logs'), memberId };
}

async function filled(): Promise<void> {
  const { storage } = await openToy(await openStores(setup()));
  await storage.saveEpochs({ accepted: 1, current: 0, ensembleId: '', founded: false });
  await storage.append([proposalsAfter(storage.last, { epoch: 1, counter: 1, count: 9 })]);
  await storage.close();
}

describe('a data directory', () => {
  it('of another member is refused, and nothing is written', async () => {
    await filled();
    await rename(join(directory, '1'), join(directory, '2'));
    const before = await readdir(directory, { recursive: true });
    await expect(openStores(setup(2))).rejects.toThrow(IdentityError);
    expect(await readdir(directory, { recursive: true })).toEqual(before);
  });

  it('that cannot be made is refused with its name', async () => {
    await writeFile(join(directory, 'file'), '');
    const dataDir = join(directory, 'file');
    const open = openStores({ ...setup(), dataDir });
    await expect(open).rejects.toThrow(DirectoryError);
    await expect(openStores({ ...setup(), dataDir })).rejects.toThrow(dataDir);
  });

  it('is not locked after a failure: the same process opens it once the cause is gone', async () => {
    const obstacle = join(directory, 'logs', '1', 'log', 'member.json.new');
    await mkdir(obstacle, { recursive: true });
    await expect(openStores(setup())).rejects.toThrow(DirectoryError);
    await rm(obstacle, { recursive: true });
    const stores = await openStores(setup());
    await stores.treeStore.close();
    await stores.logFiles.close();
  });

  it('of a later format is refused', async () => {
    await filled();
    const path = join(directory, '1', 'tree', 'member.json');
    await writeFile(path, '{"rookery":99,"member":1}\n');
    await expect(openStores(setup())).rejects.toThrow(FormatError);
  });
});

describe('the file that says whose a directory is', () => {
  it.each(['', '\n', 'garbage'])('tells what to do when it holds %j', async (text) => {
    await filled();
    const path = join(directory, '1', 'tree', 'member.json');
    const line = await readFile(path, 'utf8');
    await writeFile(path, text);
    const open = openStores(setup());
    await expect(open).rejects.toThrow(FormatError);
    await expect(open).rejects.toThrow(`start again: ${line.trim()}`);
    await writeFile(path, line);
    const stores = await openStores(setup());
    await stores.treeStore.close();
    await stores.logFiles.close();
  });
});

describe('both directories', () => {
  it.each(['1/tree', 'logs/1/log'])('are refused while another process has %s', async (name) => {
    await filled();
    const stores = await openStores(setup());
    const other = name === '1/tree' ? stores.logFiles : stores.treeStore;
    await other.close();
    await expect(openStores(setup())).rejects.toThrow(StoreLockedError);
    await (name === '1/tree' ? stores.treeStore : stores.logFiles).close();
    const { storage, recovered } = await openToy(await openStores(setup()));
    expect(proposalsIn(recovered.suffix).length).toBe(9);
    await storage.close();
  });
});

describe('the first start of a member', () => {
  const path = () => join(directory, '1', 'tree', 'member.json');

  it('marks the tree last, once and for all', async () => {
    const stores = await openStores(setup());
    expect(await readdir(join(directory, '1', 'tree'))).not.toContain('member.json');
    const { storage } = await openToy(stores);
    const text = await readFile(path(), 'utf8');
    expect(text).toBe('{"rookery":10,"member":1,"complete":true}\n');
    await storage.close();
    const before = await stat(path());
    await (await openToy(await openStores(setup()))).storage.close();
    expect((await stat(path())).ino).toBe(before.ino);
  });

  it('replaces a mark that does not say whether the founding is complete', async () => {
    await filled();
    await writeFile(path(), '{"rookery":10,"member":1}\n');
    const { storage, recovered } = await openToy(await openStores(setup()));
    expect(proposalsIn(recovered.suffix).length).toBe(9);
    await storage.close();
    expect(await readFile(path(), 'utf8')).toContain('"complete":true');
  });
});

describe('a meta that LevelDB cannot open, as its manifest is empty', () => {
  it.each([
    ['is damage where the founding is complete', { isMarked: true, isFilled: false }],
    ['is damage beside a record of the log', { isMarked: false, isFilled: true }],
    ['is what an unfinished founding leaves', { isMarked: false, isFilled: false }],
  ])('%s', async (_, { isMarked, isFilled }) => {
    if (isFilled) await filled();
    else await (await openToy(await openStores(setup()))).storage.close();
    const tree = join(directory, '1', 'tree');
    for (const name of await readdir(join(tree, 'meta'))) {
      if (name.startsWith('MANIFEST')) await truncate(join(tree, 'meta', name));
    }
    if (!isMarked) await rm(join(tree, 'member.json'));
    const { storage, recovered } = await openToy(await openStores(setup()));
    if (isMarked || isFilled) {
      expect(recovered.damaged).toMatch(/meta/);
    } else {
      expect(recovered.damaged).toBe(null);
      expect(recovered.unfinished).toEqual(['meta', 'tree-0', '0-0.log']);
    }
    await storage.close();
  });
});
