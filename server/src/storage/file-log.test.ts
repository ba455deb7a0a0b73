/** Files of the log on the real file system, but for the changes that a test lets fail. */
import { spawnSync } from 'node:child_process';
import { link, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DiskChange, WatchedDisk } from '../simulated/storage/watched-disk.js';
import { DamagedError, StorageFault, StoreLockedError } from './errors.js';
import { FileLogDirectory } from './file-log.js';
import { CLEARED_BYTES, type LogFile } from './key-value.js';
import { type LogDisk, SYSTEM_DISK } from './log-disk.js';
import { OwnedDirectory } from './owned-directory.js';

const MB = 1 << 20;
/** Only the superuser may, and not in every container. */
const MOUNT = ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs'];

let path = '';
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'rookery-files-'));
});
afterEach(async () => {
  await rm(path, { recursive: true });
});

async function opened(disk: LogDisk = SYSTEM_DISK): Promise<FileLogDirectory> {
  return await FileLogDirectory.open(await OwnedDirectory.open(path, 1, disk));
}

/** All changes of a disk, and a failure in place of those that `failing` says. */
function watched(failing: (change: DiskChange) => string | null = () => null) {
  const changes: DiskChange[] = [];
  const disk = new WatchedDisk(SYSTEM_DISK, async (change, action) => {
    changes.push(change);
    const code = failing(change);
    if (code !== null) throw Object.assign(new Error(`${code}: ${change.kind}`), { code });
    return await action();
  });
  return { disk, changes };
}

function bytesOf(length: number, seed = 1): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => 1 + ((index * 31 + seed) % 251));
}

async function all(file: LogFile): Promise<Uint8Array> {
  return await file.read(0, file.size);
}

async function namesLike(pattern: RegExp): Promise<readonly string[]> {
  return (await readdir(path)).filter((name) => pattern.test(name)).sort();
}

/** A file of that name that was written and removed. */
async function removed(directory: FileLogDirectory, name: string): Promise<void> {
  const file = await directory.create(name);
  await file.write(0, [bytesOf(CLEARED_BYTES + 5000, name.length)]);
  await file.close();
  await directory.remove(name);
}

describe('a file of the log', () => {
  it('holds what was written, for the next process, too', async () => {
    const directory = await opened();
    const file = await directory.create('0-0.log');
    expect([file.size, await directory.list()]).toEqual([0, ['0-0.log']]);
    await file.write(0, [bytesOf(10), bytesOf(0), bytesOf(7, 2)]);
    await file.write(5, [bytesOf(3, 3)]);
    await file.write(100, [bytesOf(1)]);
    const expected = Buffer.alloc(101);
    expected.set(bytesOf(10));
    expected.set(bytesOf(7, 2), 10);
    expected.set(bytesOf(3, 3), 5);
    expected.set(bytesOf(1), 100);
    expect(Buffer.from(await all(file))).toEqual(expected);
    expect((await file.read(90, 100)).length).toBe(11);
    expect((await file.read(200, 100)).length).toBe(0);
    await directory.close();
    const again = await opened();
    const found = await again.open('0-0.log');
    expect(Buffer.from(await all(found))).toEqual(expected);
    await again.close();
  });

  it('is damaged where a sector of it cannot be read, and nowhere else', async () => {
    const bad = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
    const disk: LogDisk = {
      ...SYSTEM_DISK,
      create: async (name) => {
        const file = await SYSTEM_DISK.create(name);
        const read = file.read.bind(file);
        return Object.assign(file, {
          read: async (offset: number, length: number) => {
            if (offset + length > 50) throw bad;
            return await read(offset, length);
          },
        });
      },
    };
    const directory = await opened(disk);
    const file = await directory.create('0-0.log');
    await file.write(0, [bytesOf(100)]);
    const reading = file.read(0, 100);
    await expect(reading).rejects.toThrow(DamagedError);
    await expect(reading).rejects.toThrow(join(path, '0-0.log'));
    expect((await file.read(0, 50)).length).toBe(50);
    await directory.close();
  });

  it('takes no change during another one, nor after one that failed', async () => {
    const { disk } = watched((change) => {
      return change.kind === 'write' && change.bytes.length === 13 ? 'EIO' : null;
    });
    const directory = await opened(disk);
    const file = await directory.create('0-0.log');
    const first = file.write(0, [bytesOf(10)]);
    await expect(file.write(10, [bytesOf(10)])).rejects.toThrow('one change');
    await first;
    const failed = file.write(0, [bytesOf(13)]);
    await expect(failed).rejects.toThrow(StorageFault);
    await expect(failed).rejects.toThrow(join(path, '0-0.log'));
    await expect(failed).rejects.toMatchObject({ reason: 'input/output' });
    await expect(file.write(0, [bytesOf(10)])).rejects.toThrow('none after a failure');
    expect((await file.read(0, 10)).length).toBe(10);
    await directory.close();
  });

  it('is closed once what is under way has ended', async () => {
    let goOn = (): void => undefined;
    const order: string[] = [];
    const disk = new WatchedDisk(SYSTEM_DISK, async (change, action) => {
      if (change.kind === 'write') await new Promise<void>((resolve) => (goOn = resolve));
      return await action();
    });
    const directory = await opened(disk);
    const file = await directory.create('0-0.log');
    const written = file.write(0, [bytesOf(10)]).then(() => order.push('written'));
    const closed = directory.close().then(() => order.push('closed'));
    goOn();
    await Promise.all([written, closed]);
    expect(order).toEqual(['written', 'closed']);
    await expect(file.read(0, 1)).rejects.toThrow('is open');
  });
});

describe('a directory of the log', () => {
  it('lists what was made in it, and nothing of its own', async () => {
    const directory = await opened();
    for (const name of ['0-0.log', '0-1.log', '0-2.log', '0-3.log']) {
      await (await directory.create(name)).close();
    }
    await directory.remove('0-1.log');
    expect([...(await directory.list())].sort()).toEqual(['0-0.log', '0-2.log', '0-3.log']);
    await directory.close();
    const names = await readdir(path);
    expect(names).toContain('member.json');
    expect(names).toContain('spare-1');
  });

  it('belongs to one process, and is free after it', async () => {
    const directory = await opened();
    await expect(opened()).rejects.toThrow(StoreLockedError);
    await directory.close();
    await directory.close();
    await (await opened()).close();
  });

  it('opens a file once at a time, makes none twice, and removes none that is open', async () => {
    const directory = await opened();
    const file = await directory.create('0-0.log');
    await expect(directory.open('0-0.log')).rejects.toThrow('opened once');
    await expect(directory.remove('0-0.log')).rejects.toThrow('closed before');
    await file.close();
    await removed(directory, '0-1.log');
    await expect(directory.create('0-0.log')).rejects.toThrow('not there before');
    await (await directory.open('0-0.log')).close();
    await expect(directory.open('0-7.log')).rejects.toThrow(StorageFault);
    await directory.close();
  });

  it('touches no file once it is closed, because another process may have it', async () => {
    const directory = await opened();
    await (await directory.create('0-0.log')).close();
    const closed = directory.close();
    await expect(directory.open('0-0.log')).rejects.toThrow(`${path} is open`);
    await expect(directory.create('0-1.log')).rejects.toThrow(`${path} is open`);
    await expect(directory.remove('0-0.log')).rejects.toThrow(`${path} is open`);
    await closed;
    expect(await namesLike(/log$/)).toEqual(['0-0.log']);
  });
});

describe('a removed file', () => {
  it('is the next one that is made, cleared in front and as it was behind', async () => {
    const { disk, changes } = watched();
    const directory = await opened(disk);
    await removed(directory, '0-0.log');
    expect(await directory.list()).toEqual([]);
    changes.length = 0;
    const file = await directory.create('0-1.log');
    expect(changes.map(({ kind }) => kind)).toEqual(['write', 'rename', 'sync directory']);
    const expected = bytesOf(CLEARED_BYTES + 5000, '0-0.log'.length).fill(0, 0, CLEARED_BYTES);
    expect(Buffer.compare(await all(file), expected)).toBe(0);
    expect(await namesLike(/^spare|^\d/)).toEqual(['0-1.log']);
    await directory.close();
  });

  it('is kept if there are fewer than two, else its bytes are given back', async () => {
    const directory = await opened();
    for (const name of ['0-0.log', '0-1.log', '0-2.log']) {
      await (await directory.create(name)).close();
    }
    for (const name of ['0-0.log', '0-1.log', '0-2.log']) await directory.remove(name);
    expect(await namesLike(/^spare/)).toEqual(['spare-1', 'spare-2']);
    expect(await directory.list()).toEqual([]);
    await directory.close();
    expect(await namesLike(/^trash|^\d/)).toEqual([]);
  });

  it('is found again by the next process, with what that one removes', async () => {
    const directory = await opened();
    await removed(directory, '0-0.log');
    await directory.close();
    await writeFile(join(path, 'spare-7'), bytesOf(100));
    await writeFile(join(path, 'spare-9'), bytesOf(100));
    const { disk, changes } = watched();
    const again = await opened(disk);
    expect((await namesLike(/^spare/)).length).toBe(2);
    expect(await again.list()).toEqual([]);
    for (const name of ['0-1.log', '0-2.log', '0-3.log']) await (await again.create(name)).close();
    expect(changes.filter(({ kind }) => kind === 'create').length).toBe(1);
    await again.remove('0-1.log');
    expect(await namesLike(/^spare/)).toEqual(['spare-10']);
    await again.close();
    expect(await namesLike(/^trash/)).toEqual([]);
  });

  it('that was cut short by a crash on its way into use is a spare, or the new file', async () => {
    for (const failing of ['write', 'rename', 'sync directory'] as const) {
      const first = await opened();
      await removed(first, '0-0.log');
      await first.close();
      const { disk } = watched(({ kind }) => (kind === failing ? 'EIO' : null));
      const broken = await opened(disk);
      await expect(broken.create('0-1.log')).rejects.toThrow(StorageFault);
      await broken.close();
      const again = await opened();
      const names = await again.list();
      expect(names).toEqual(failing === 'sync directory' ? ['0-1.log'] : []);
      const file = await (names.length > 0 ? again.open('0-1.log') : again.create('0-1.log'));
      const head = await file.read(0, CLEARED_BYTES);
      expect(Buffer.compare(head, new Uint8Array(CLEARED_BYTES))).toBe(0);
      await file.close();
      await again.remove('0-1.log');
      await again.close();
    }
  });

  it('of which somebody has a copy is not written over', async () => {
    const directory = await opened();
    const file = await directory.create('0-0.log');
    const bytes = bytesOf(CLEARED_BYTES + 10);
    await file.write(0, [bytes]);
    await file.close();
    await link(join(path, '0-0.log'), join(path, 'copy'));
    await directory.remove('0-0.log');
    const next = await directory.create('0-1.log');
    expect(next.size).toBe(0);
    await directory.close();
    expect(Buffer.compare(await readFile(join(path, 'copy')), bytes)).toBe(0);
    expect(await namesLike(/^spare|^trash/)).toEqual([]);
  });
});

describe('room for records', () => {
  it('is zeros, written a piece at a time, and none where the file is as long', async () => {
    const { disk, changes } = watched();
    const directory = await opened(disk);
    const file = await directory.create('0-0.log');
    await file.write(0, [bytesOf(100)]);
    changes.length = 0;
    await file.preallocate(MB + 300);
    const pieces = changes.flatMap((change) => {
      return change.kind === 'write' ? [[change.offset, change.bytes.length]] : [];
    });
    expect(pieces).toEqual([
      [100, MB / 2],
      [100 + MB / 2, MB / 2],
      [100 + MB, 200],
    ]);
    const expected = new Uint8Array(MB + 300);
    expected.set(bytesOf(100));
    expect(Buffer.compare(await all(file), expected)).toBe(0);
    await file.preallocate(MB);
    expect(changes.length).toBe(3);
    await directory.close();
  });

  it('is not taken from a disk with little to spare, and no file is kept there', async () => {
    const { disk, changes } = watched();
    const directory = await opened(disk);
    const file = await directory.create('0-0.log');
    disk.free = 17 * MB - 1;
    await file.preallocate(MB);
    expect(file.size).toBe(0);
    disk.free = 17 * MB;
    await file.preallocate(MB);
    expect(file.size).toBe(MB);
    disk.free = 16 * MB - 1;
    await file.close();
    await directory.remove('0-0.log');
    expect(changes.at(-2)).toMatchObject({ kind: 'rename', to: expect.stringMatching(/trash-/) });
    await directory.close();
    expect(await namesLike(/^spare/)).toEqual([]);
  });

  it('is given back when the disk is full before it is there', async () => {
    const { disk } = watched((change) => {
      return change.kind === 'write' && change.offset > MB ? 'ENOSPC' : null;
    });
    const directory = await opened(disk);
    const file = await directory.create('0-0.log');
    await file.write(0, [bytesOf(100)]);
    await file.preallocate(2 * MB);
    expect([file.size, (await stat(join(path, '0-0.log'))).size]).toEqual([100, 100]);
    await file.write(100, [bytesOf(50)]);
    expect(file.size).toBe(150);
    await directory.close();
  });

  it('fails for every other reason', async () => {
    const { disk } = watched(({ kind }) => (kind === 'write' ? 'EIO' : null));
    const directory = await opened(disk);
    const file = await directory.create('0-0.log');
    await expect(file.preallocate(MB)).rejects.toMatchObject({ reason: 'input/output' });
    await directory.close();
  });
});

describe('a write that finds the disk full', () => {
  it('says so', async () => {
    const { disk } = watched(({ kind }) => (kind === 'write' ? 'ENOSPC' : null));
    const directory = await opened(disk);
    const file = await directory.create('0-0.log');
    await expect(file.write(0, [bytesOf(10)])).rejects.toMatchObject({ reason: 'disk full' });
    await directory.close();
  });

  it('has lost nothing before it, on a file system that is full', async ({ skip }) => {
    if (spawnSync('mount', [...MOUNT, path]).status !== 0) skip('needs to mount a file system');
    try {
      const directory = await opened();
      const file = await directory.create('0-0.log');
      await file.preallocate(MB);
      expect(file.size).toBe(MB);
      await file.preallocate(8 * MB);
      expect(file.size).toBe(MB);
      const piece = bytesOf(300_000);
      let written = 0;
      const fill = async () => {
        for (;;) {
          await file.write(written, [piece]);
          written += piece.length;
        }
      };
      await expect(fill()).rejects.toMatchObject({ reason: 'disk full' });
      expect(written).toBeGreaterThan(16 * MB);
      await directory.close();
      const found = await readFile(join(path, '0-0.log'));
      for (let at = 0; at < written; at += piece.length) {
        expect(Buffer.compare(found.subarray(at, at + piece.length), piece)).toBe(0);
      }
      // Not even the lock can be had; as soon as there is room, all is as before.
      await expect(opened()).rejects.toMatchObject({ reason: 'disk full' });
      await rm(join(path, '0-0.log'));
      await (await opened()).close();
    } finally {
      expect(spawnSync('umount', [path]).status).toBe(0);
    }
  });
});
