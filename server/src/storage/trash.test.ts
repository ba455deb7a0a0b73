/** What is thrown away goes, little by little, and at once when there is no time left. */
import { mkdir, mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Trash } from './trash.js';

vi.mock('node:fs/promises', { spy: true });

const MB = 1 << 20;

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
  await vi.waitFor(async () => expect(await readdir(path)).toEqual([]), 30_000);
  expect(cuts).toEqual([2.5 * MB, 1.5 * MB, 0.5 * MB]);
  await trash.empty();
});

it('what is left is removed at once when it is to be empty', async () => {
  const trash = new Trash();
  let emptied: Promise<void> | null = null;
  beforeCut = () => {
    emptied ??= trash.empty();
  };
  const directories = [await database('one', 3.5 * MB), await database('two', 3.5 * MB)];
  for (const directory of directories) trash.add(directory);
  await vi.waitFor(() => expect(emptied).not.toBe(null), 30_000);
  await emptied;
  expect(await readdir(path)).toEqual([]);
  expect(cuts).toEqual([2.5 * MB]);
});

it('a failure is thrown by what comes next', async () => {
  const trash = new Trash();
  beforeCut = () => {
    throw new Error('EIO');
  };
  const broken = await database('one', 2 * MB);
  const next = join(path, 'next');
  trash.add(broken);
  await vi.waitFor(() => expect(() => trash.add(next)).toThrow('EIO'), 30_000);
  await expect(trash.empty()).rejects.toThrow('EIO');
});
