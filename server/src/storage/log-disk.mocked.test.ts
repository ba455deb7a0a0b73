/** The calls by which a disk is written, and a system that takes less than it is given. */
import fs from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type DiskFile, SYSTEM_DISK } from './log-disk.js';

vi.mock('node:fs', { spy: true });

let directory = '';
let file: DiskFile;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rookery-disk-'));
  file = await SYSTEM_DISK.create(join(directory, 'file'));
});
afterEach(async () => {
  vi.mocked(fs.writev).mockReset();
  await file.close();
  await rm(directory, { recursive: true });
});

function bytesOf(length: number, seed: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => 1 + ((index * 31 + seed) % 251));
}

/** How often the system was called since the last time. */
function calls(): number {
  const { length } = vi.mocked(fs.writev).mock.calls;
  vi.mocked(fs.writev).mockClear();
  return length;
}

async function expectHolds(parts: readonly Uint8Array[]): Promise<void> {
  const whole = Buffer.concat(parts);
  expect(file.size).toBe(whole.length);
  expect(Buffer.compare(await file.read(0, whole.length + 1), whole)).toBe(0);
}

it('one part and several are each written by one call', async () => {
  calls();
  const one = [bytesOf(100_000, 1)];
  await file.write(0, one);
  expect(calls()).toBe(1);
  const several = [bytesOf(1000, 4), bytesOf(200_000, 5), bytesOf(3, 6)];
  await file.write(100_000, several);
  expect(calls()).toBe(1);
  await expectHolds([...one, ...several]);
});

it('more parts than the system takes at once, 1024 on Linux, are all written', async () => {
  const parts = Array.from({ length: 3000 }, (_, index) => bytesOf(index % 3, index));
  await file.write(0, parts);
  await expectHolds(parts);
});

it('Linux makes each write durable before it says that it is done', async ({ skip }) => {
  if (process.platform !== 'linux') skip('what it says of open files is of Linux');
  await file.write(0, [bytesOf(10, 1)]);
  const fd = vi.mocked(fs.writev).mock.calls[0]?.[0];
  const info = await readFile(`/proc/self/fdinfo/${fd}`, 'utf8');
  const flags = Number.parseInt(/^flags:\s*(\d+)/m.exec(info)?.[1] ?? '', 8);
  expect(flags & fs.constants.O_DSYNC).toBe(fs.constants.O_DSYNC);
});

it('a system that takes a part at a time gets the rest, too', async () => {
  const real = await vi.importActual<typeof import('node:fs')>('node:fs');
  // Within a part, at the end of one, and behind an empty one.
  const lengths = [15_000, 5_000, 70_000, 1];
  vi.mocked(fs.writev).mockImplementation((...given: unknown[]) => {
    const [fd, parts, position, done] = given as [number, Uint8Array[], number, () => void];
    const part = Buffer.concat(parts).subarray(0, lengths.shift());
    Reflect.apply(real.write, fs, [fd, part, 0, part.length, position, done]);
  });
  calls();
  const parts = [bytesOf(20_000, 3), bytesOf(0, 0), bytesOf(70_000, 4), bytesOf(20_000, 5)];
  await file.write(0, parts);
  expect(calls()).toBe(5);
  await expectHolds(parts);
});

it('a write that fails, or takes nothing, rejects', async () => {
  const failing = (error: Error | null) => {
    return (...given: unknown[]) => (given.at(-1) as (...given: unknown[]) => void)(error, 0);
  };
  const full = Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC' });
  for (const error of [full, null]) {
    vi.mocked(fs.writev).mockImplementation(failing(error));
    const code = error?.code ?? 'EIO';
    await expect(file.write(0, [bytesOf(10, 1)])).rejects.toMatchObject({ code });
    const large = [bytesOf(70_000, 1), bytesOf(1, 1)];
    await expect(file.write(0, large)).rejects.toMatchObject({ code });
  }
});
