/**
 * Room on a disk that is fuller than it said: what was written before must be all that is there.
 * The file system is the real one, but for the writes that a test lets fail.
 */
import { mkdtemp, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Level } from 'level';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeRoom } from './write-ahead-room.js';
import { scanWriteAhead } from './write-ahead-scan.js';

vi.mock('node:fs/promises', { spy: true });

const ROOM_BYTES = 2 << 20;

let path = '';
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'rookery-full-'));
});
afterEach(async () => {
  vi.mocked(open).mockReset();
  await rm(path, { recursive: true });
});

async function logFile(): Promise<string> {
  const name = (await readdir(path)).find((file) => file.endsWith('.log'));
  return join(path, name ?? '');
}

/** The next file that is opened takes `writes` writes, and then fails with `code`. */
async function failingAfter(writes: number, code: string): Promise<void> {
  const real = await vi.importActual<typeof import('node:fs/promises')>('node:fs/promises');
  vi.mocked(open).mockImplementationOnce(async (...given) => {
    const file = await real.open(...given);
    const write = file.write.bind(file);
    let left = writes;
    vi.spyOn(file, 'write').mockImplementation(async (...args: unknown[]) => {
      if (left-- === 0) throw Object.assign(new Error(`${code}: write`), { code });
      return await Reflect.apply(write, file, args);
    });
    return file;
  });
}

describe('room on a disk that becomes full', () => {
  it('is given up, and the file is as long as before', async () => {
    const level = new Level(path);
    await level.open();
    await level.put('before', 'what was there', { sync: true });
    const before = await readFile(await logFile());
    await failingAfter(2, 'ENOSPC');
    await makeRoom(path, ROOM_BYTES);
    expect(vi.mocked(open)).toHaveBeenCalledOnce();
    expect(Buffer.compare(await readFile(await logFile()), before)).toBe(0);
    await level.put('after', 'what came then', { sync: true });
    expect(scanWriteAhead(await readFile(await logFile()))).toBe(null);
    await level.close();
    const again = new Level(path);
    await again.open();
    expect(await again.keys().all()).toEqual(['after', 'before']);
    await again.close();
  });

  it('fails for every other reason, for the store to judge', async () => {
    const level = new Level(path);
    await level.open();
    const { size } = await stat(await logFile());
    await failingAfter(0, 'EIO');
    await expect(makeRoom(path, ROOM_BYTES)).rejects.toMatchObject({ code: 'EIO' });
    expect((await stat(await logFile())).size).toBe(size);
    await level.close();
  });
});

describe('room on a disk with little to spare', () => {
  it('is not taken', async () => {
    const level = new Level(path);
    await level.open();
    const { size } = await stat(await logFile());
    // A quarter of what no disk has.
    await makeRoom(path, Number.MAX_SAFE_INTEGER / 4);
    expect(vi.mocked(open)).not.toHaveBeenCalled();
    expect((await stat(await logFile())).size).toBe(size);
    await level.close();
  });
});
