/** What is thrown away goes, little by little, and at once when there is no time left. */
import { link, mkdir, mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { TRASH_PACE, Trash } from './owned-directory.js';

vi.mock('node:fs/promises', { spy: true });

const MB = 1 << 20;
const DEADLINE = { timeout: 30_000 };
/** A pause that no test sees the end of. */
const FOREVER_MS = 1 << 30;

let path = '';
/** The lengths that files were cut to, in order. */
const cuts: number[] = [];
/** Called before each cut. */
let beforeCut = (): void => undefined;

beforeEach(async () => {
  const real = await vi.importActual<typeof import('node:fs/promises')>('node:fs/promises');
  path = await mkdtemp(join(tmpdir(), 'rookery-trash-'));
  cuts.length = 0;
  beforeCut = () => undefined;
  vi.mocked(open).mockImplementation(async (...given) => {
    const file = await real.open(...given);
    const truncate = file.truncate.bind(file);
    vi.spyOn(file, 'truncate').mockImplementation(async (length = 0) => {
      beforeCut();
      cuts.push(length);
      await truncate(length);
    });
    return file;
  });
});
afterEach(async () => {
  vi.mocked(open).mockReset();
  vi.mocked(rm).mockReset();
  await rm(path, { recursive: true });
});

/** A directory as LevelDB leaves it: one large file, some small ones. */
async function database(name: string, bytes: number): Promise<string> {
  const directory = join(path, name);
  await mkdir(directory);
  await writeFile(join(directory, '000003.log'), new Uint8Array(bytes));
  await writeFile(join(directory, 'CURRENT'), 'MANIFEST-000002\n');
  return directory;
}

it('a large file goes from its end, a small one as it is', async () => {
  const trash = new Trash();
  trash.add(await database('one', 3.5 * MB));
  await vi.waitFor(async () => expect(await readdir(path)).toEqual([]), DEADLINE);
  expect(cuts).toEqual([2.5 * MB, 1.5 * MB, 0.5 * MB]);
  await trash.empty();
});

it('there is a pause after each cut, which ends when all is to be removed at once', async () => {
  const trash = new Trash({ ...TRASH_PACE, pauseMs: FOREVER_MS });
  trash.add(await database('one', 3.5 * MB));
  trash.add(await database('two', 3.5 * MB));
  await vi.waitFor(() => expect(cuts).toEqual([2.5 * MB]), DEADLINE);
  await trash.empty();
  expect(await readdir(path)).toEqual([]);
  expect(cuts).toEqual([2.5 * MB]);
});

it('there is no pause while some wait', async () => {
  const trash = new Trash({ ...TRASH_PACE, pauseMs: FOREVER_MS, unhurriedMax: 1 });
  const directories = [await database('one', 2.5 * MB), await database('two', 2.5 * MB)];
  for (const directory of directories) trash.add(directory);
  // The second one waits alone, and has its pause.
  await vi.waitFor(() => expect(cuts).toEqual([1.5 * MB, 0.5 * MB, 1.5 * MB]), DEADLINE);
  expect(await readdir(path)).toEqual(['two']);
  await trash.empty();
});

it('none is cut while many wait', async () => {
  const trash = new Trash({ ...TRASH_PACE, cutMax: 1 });
  const directories = [await database('one', 2.5 * MB), await database('two', 2.5 * MB)];
  for (const directory of directories) trash.add(directory);
  await vi.waitFor(async () => expect(await readdir(path)).toEqual([]), DEADLINE);
  expect(cuts).toEqual([1.5 * MB, 0.5 * MB]);
});

it('what cannot be cut is removed as it is, and what is gone already is no failure', async () => {
  const trash = new Trash();
  beforeCut = () => {
    throw new Error('ENOSPC');
  };
  trash.add(await database('one', 2 * MB));
  trash.add(join(path, 'gone'));
  await trash.empty();
  expect(await readdir(path)).toEqual([]);
});

it("somebody's copy keeps its bytes", async () => {
  const trash = new Trash();
  const directory = await database('one', 2 * MB);
  const copy = join(path, 'copy');
  await link(join(directory, '000003.log'), copy);
  trash.add(directory);
  await trash.empty();
  expect((await stat(copy)).size).toBe(2 * MB);
});

it('a directory that cannot be removed is told of by what comes next', async () => {
  const trash = new Trash();
  vi.mocked(rm).mockRejectedValueOnce(new Error('EIO'));
  trash.add(await database('one', MB));
  await vi.waitFor(() => expect(() => trash.add(path)).toThrow('EIO'), DEADLINE);
  await expect(trash.empty()).rejects.toThrow('EIO');
});

it('a file of its own goes as one in a directory does', async () => {
  const trash = new Trash();
  await writeFile(join(path, 'large'), new Uint8Array(2.5 * MB));
  trash.add(join(path, 'large'));
  await vi.waitFor(async () => expect(await readdir(path)).toEqual([]), DEADLINE);
  expect(cuts).toEqual([1.5 * MB, 0.5 * MB]);
  await trash.empty();
});
