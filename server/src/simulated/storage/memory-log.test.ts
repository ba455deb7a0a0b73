/**
 * The disk that storage tests and the simulator trust: what it keeps, loses, tears and brings back.
 */
import { describe, expect, it } from 'vitest';
import { StorageFault } from '../../storage/errors.js';
import { CLEARED_BYTES, type LogFile } from '../../storage/key-value.js';
import { seededRandom } from '../seeded-random.js';
import { MemoryLogDirectory } from './memory-log.js';
import { SECTOR_BYTES } from './memory-sectors.js';

const SECTORS = 6;
const losesNothing = () => 1 - Number.EPSILON;
const losesAll = () => 0;

function filled(length: number, byte: number): Uint8Array {
  return new Uint8Array(length).fill(byte);
}

/** One that holds `name`, all ones, closed. */
async function withFile(name: string, length: number): Promise<MemoryLogDirectory> {
  const directory = new MemoryLogDirectory();
  const file = await directory.create(name);
  await file.write(0, [filled(length, 1)]);
  await file.close();
  return directory;
}

/** What sector by sector is a two where the file was all ones: the sectors that were written. */
function written(directory: MemoryLogDirectory, name: string): string {
  const bytes = directory.bytesOf(name);
  const sectors = Array.from({ length: bytes.length / SECTOR_BYTES }, (_, index) =>
    bytes.subarray(index * SECTOR_BYTES, (index + 1) * SECTOR_BYTES),
  );
  return sectors.map((sector) => [...new Set(sector)].join('')).join(' ');
}

/** Twos over all ones, held at the gate for ever. */
async function writeUnderWay(): Promise<MemoryLogDirectory> {
  const sound = await withFile('a', SECTORS * SECTOR_BYTES);
  const directory = sound.crash(losesNothing, { gate: () => new Promise(() => undefined) });
  const file = await directory.open('a');
  void file.write(0, [filled(SECTORS * SECTOR_BYTES, 2)]);
  return directory;
}

describe('a file of a log in memory', () => {
  it('is read as it was written, in parts, at any offset, and not behind its end', async () => {
    const file = await new MemoryLogDirectory().create('a');
    await file.write(1000, [Uint8Array.of(1, 2), new Uint8Array(0), Uint8Array.of(3)]);
    await file.write(511, [Uint8Array.of(4, 5)]);
    expect(file.size).toBe(1003);
    expect([...(await file.read(510, 4))]).toEqual([0, 4, 5, 0]);
    expect([...(await file.read(999, 99))]).toEqual([0, 1, 2, 3]);
    expect([...(await file.read(1003, 9))]).toEqual([]);
    const part = await file.read(511, 1);
    part[0] = 9;
    expect([...(await file.read(511, 1))]).toEqual([4]);
  });

  it('is lengthened with zeros and never shortened by a preallocation', async () => {
    const file = await new MemoryLogDirectory().create('a');
    await file.write(0, [filled(10, 1)]);
    await file.preallocate(700);
    await file.preallocate(20);
    expect(file.size).toBe(700);
    expect([...(await file.read(8, 4))]).toEqual([1, 1, 0, 0]);
    expect(await file.read(690, 99)).toEqual(new Uint8Array(10));
  });

  it('is opened once at a time, and changed by one operation at a time', async () => {
    const directory = new MemoryLogDirectory();
    const file = await directory.create('a');
    await expect(directory.open('a')).rejects.toThrow('opened once at a time');
    await expect(directory.create('a')).rejects.toThrow('does not exist');
    await expect(directory.remove('a')).rejects.toThrow('is closed before');
    const [first, second, third] = [
      file.write(0, [filled(1, 1)]),
      file.preallocate(9),
      file.close(),
    ];
    await Promise.all([
      first,
      expect(second).rejects.toThrow('one operation at a time'),
      expect(third).rejects.toThrow('nothing is under way'),
    ]);
    await file.close();
    await expect(file.read(0, 1)).rejects.toThrow('is open while it is used');
    await (await directory.open('a')).close();
  });
});

describe('a directory of a log in memory', () => {
  it('brings the content of removed files back in new ones, cleared at the front', async () => {
    const directory = await withFile('a', CLEARED_BYTES + 2);
    for (const name of ['b', 'c']) {
      await (await directory.create(name)).close();
    }
    for (const name of ['a', 'b', 'c']) await directory.remove(name);
    expect(await directory.list()).toEqual([]);
    // The third one was a file too many.
    const next = directory.crash(seededRandom(1));
    for (const name of ['d', 'e', 'f']) await next.create(name);
    expect(next.names().map((name) => next.bytesOf(name).length)).toEqual([
      CLEARED_BYTES + 2,
      0,
      0,
    ]);
    const cleared = [...next.bytesOf('d')];
    expect(cleared).toEqual([...filled(CLEARED_BYTES, 0), ...filled(2, 1)]);
  });

  it('gives the next process all that was done, whatever the crash', async () => {
    const directory = await withFile('a', 100);
    const file = await directory.open('a');
    await file.write(50, [filled(1000, 2)]);
    await file.preallocate(5000);
    const next = directory.crash(losesAll);
    expect(next.bytesOf('a')).toEqual(directory.bytesOf('a'));
    expect(next.bytesOf('a').length).toBe(5000);
    await expect(file.write(0, [filled(1, 9)])).rejects.toThrow(StorageFault);
    await expect(directory.list()).rejects.toThrow(StorageFault);
    // The one is not the other: the next process changes a copy.
    await (await next.open('a')).write(0, [filled(1, 7)]);
    expect([directory.bytesOf('a')[0], next.bytesOf('a')[0]]).toEqual([1, 7]);
  });

  it('keeps any sectors of a write that was under way, and nothing but whole ones', async () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 60; seed++) {
      const directory = await writeUnderWay();
      seen.add(written(directory.crash(seededRandom(seed)), 'a'));
    }
    expect(seen).toContain('1 1 1 1 1 1');
    expect(seen).toContain('2 2 2 2 2 2');
    expect(seen.size).toBeGreaterThan(15);
    for (const sectors of seen) expect(sectors).toMatch(/^[12]( [12])*$/);
  });

  it('keeps all that was under way where that landed', async () => {
    const directory = await writeUnderWay();
    directory.landUnderWay();
    expect(written(directory.crash(losesNothing), 'a')).toBe('2 2 2 2 2 2');
  });

  it('loses at a later crash what a dying process left, unless it was synced', async () => {
    const later = async (meanwhile: (file: LogFile) => Promise<void>) => {
      const directory = await writeUnderWay();
      directory.landUnderWay();
      // The dying process itself loses none of it: it is what the next one reads.
      const next = directory.crash(losesAll, {});
      expect(written(next, 'a')).toBe('2 2 2 2 2 2');
      const file = await next.open('a');
      await meanwhile(file);
      return next;
    };
    const untouched = await later(async () => undefined);
    expect(written(untouched.crash(losesAll), 'a')).toBe('1 1 1 1 1 1');
    const kept = untouched.crash(losesNothing);
    expect(written(kept, 'a')).toBe('2 2 2 2 2 2');
    expect(written(kept.crash(losesAll), 'a'), 'is at risk still').toBe('1 1 1 1 1 1');
    const synced = await later((file) => file.write(0, [filled(6 * 512, 2)]));
    expect(written(synced.crash(losesAll), 'a')).toBe('2 2 2 2 2 2');
    const dying = await later(async () => undefined);
    const again = dying.crash(losesNothing, { gate: () => new Promise(() => undefined) });
    void (await again.open('a')).write(0, [filled(6 * 512, 2)]);
    // Who dies while it writes the same again has made nothing of it durable.
    expect(written(again.crash(losesNothing).crash(losesAll), 'a')).toBe('1 1 1 1 1 1');
    // A write vouches for its own sectors alone.
    const overwritten = await later((file) => file.write(512, [filled(512, 3)]));
    expect(written(overwritten.crash(losesAll), 'a')).toBe('1 3 1 1 1 1');
  });

  it('tears what its gate refused', async () => {
    const sound = await withFile('a', SECTORS * SECTOR_BYTES);
    const fault = new StorageFault('input/output', 'refused', null);
    const directory = sound.crash(losesNothing, { gate: () => Promise.reject(fault) });
    const file = await directory.open('a');
    await expect(file.write(0, [filled(SECTORS * SECTOR_BYTES, 2)])).rejects.toBe(fault);
    expect(written(directory, 'a')).toBe('1 1 1 1 1 1');
    expect(written(directory.crash(losesNothing), 'a')).toBe('2 2 2 2 2 2');
  });

  it('creates and removes a file as a whole or not at all', async () => {
    for (const isDone of [true, false]) {
      const sound = await withFile('a', 10);
      const gate = () => new Promise<void>(() => undefined);
      const directory = sound.crash(losesNothing, { gate });
      void directory.remove('a');
      void directory.create('b');
      const next = directory.crash(isDone ? losesNothing : losesAll);
      expect(next.names()).toEqual([isDone ? 'b' : 'a']);
      // Removed first, then taken for the new file.
      if (isDone) expect(next.bytesOf('b')).toEqual(new Uint8Array(10));
    }
  });

  it.each(['before', 'after', 'torn'] as const)(
    'fails at the change it is told, %s',
    async (when) => {
      const directory = new MemoryLogDirectory();
      const file = await directory.create('a');
      await file.write(0, [filled(SECTORS * SECTOR_BYTES, 1)]);
      expect(directory.changeCount).toBe(2);
      directory.failAt(4, when, seededRandom(2));
      await file.write(0, [filled(1, 1)]);
      const failing = file.write(0, [filled(SECTORS * SECTOR_BYTES, 2)]);
      await expect(failing).rejects.toThrow(StorageFault);
      await expect(file.read(0, 1)).rejects.toThrow(StorageFault);
      const left = written(directory.crash(losesAll), 'a');
      if (when === 'before') expect(left).toBe('1 1 1 1 1 1');
      else if (when === 'after') expect(left).toBe('2 2 2 2 2 2');
      else expect(left).toMatch(/^(?=.*1)(?=.*2)/);
    },
  );

  it('can be damaged behind everyone’s back, and stays so', async () => {
    const directory = await withFile('a', 1000);
    directory.tamper('a', (bytes) => Uint8Array.from(bytes.subarray(0, 600)).fill(7, 300));
    const bytes = directory.crash(losesAll).bytesOf('a');
    expect([bytes.length, bytes[299], bytes[300], bytes[599]]).toEqual([600, 1, 7, 7]);
  });
});
