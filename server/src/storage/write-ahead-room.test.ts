/** Room in LevelDB's own files: what it costs to write there, and that LevelDB reads past it. */
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Level } from 'level';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeRoom } from './write-ahead-room.js';
import { scanWriteAhead } from './write-ahead-scan.js';

const ROOM = 600_000;

let path = '';
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'rookery-room-'));
});
afterEach(() => rm(path, { recursive: true }));

async function logFile(): Promise<string> {
  const name = (await readdir(path)).find((file) => file.endsWith('.log'));
  return join(path, name ?? '');
}

async function inRoom(count: number): Promise<void> {
  const level = new Level(path, { writeBufferSize: 64 << 20 });
  await level.open();
  await level.put('first', 'put before there is room', { sync: true });
  await makeRoom(path, ROOM);
  for (let i = 0; i < count; i++) await level.put(`key ${i}`, 'v'.repeat(100), { sync: true });
  await level.close();
}

describe('room for batches', () => {
  it('is filled without the file growing, which is what makes a sync cheap', async () => {
    await inRoom(0);
    const before = await stat(await logFile());
    await rm(path, { recursive: true });
    await inRoom(1000);
    const after = await stat(await logFile());
    expect(before.size).toBeGreaterThan(ROOM);
    expect(after.size).toBe(before.size);
  });

  it('may be given in pieces, with batches in between', async () => {
    const level = new Level(path, { writeBufferSize: 64 << 20 });
    await level.open();
    await level.put('first', 'put before there is room', { sync: true });
    await makeRoom(path, ROOM / 3);
    await makeRoom(path, ROOM / 3);
    await level.put('second', 'put where there is room', { sync: true });
    await makeRoom(path, ROOM / 3);
    for (let i = 0; i < 100; i++) await level.put(`key ${i}`, 'v'.repeat(100), { sync: true });
    await level.close();
    const { size } = await stat(await logFile());
    expect(size).toBeGreaterThan(ROOM);
    expect(size).toBeLessThan(ROOM + 1000);
    expect(scanWriteAhead(await readFile(await logFile()))).toBe(null);
    const again = new Level(path);
    await again.open();
    expect(await again.get('second')).toBe('put where there is room');
    expect((await again.keys().all()).length).toBe(102);
    await again.close();
  });

  it('takes nothing from what was there, and nothing is lost when it is used up', async () => {
    const count = 6000;
    await inRoom(count);
    expect((await stat(await logFile())).size).toBeGreaterThan(ROOM + 1000);
    expect(scanWriteAhead(await readFile(await logFile()))).toBe(null);
    const level = new Level(path);
    await level.open();
    expect(await level.get('first')).toBe('put before there is room');
    expect((await level.keys().all()).length).toBe(count + 1);
    await level.close();
  });

  it('that is left over is the end of the file, for LevelDB and for the scan', async () => {
    await inRoom(5);
    expect(scanWriteAhead(await readFile(await logFile()))).toBe(null);
    const level = new Level(path);
    await level.open();
    expect((await level.keys().all()).length).toBe(6);
    await level.close();
  });
});
