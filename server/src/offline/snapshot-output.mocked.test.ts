/**
 * A snapshot is read again before it gets its name: if what comes back from the disk has one byte
 * that is not as it was written, there is no file.
 */
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ReplicatedState } from '../state/replicated-state.js';
import { writeSnapshot } from './snapshot-output.js';

vi.mock('node:fs', async (importActual) => {
  const actual = await importActual<typeof import('node:fs')>();
  return { ...actual, createReadStream: vi.fn(actual.createReadStream) };
});

/** What a file of gzip begins with says nothing of its content: times, the system and so on. */
const GZIP_HEAD_BYTES = 10;
const STEP = 7;

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rookery-output-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

/** What is read from now on has this byte changed; beyond the end, a byte is missing. */
function damage(sound: Buffer, at: number): void {
  const read = Buffer.from(sound.subarray(0, at < sound.length ? sound.length : -1));
  if (at < read.length) read[at] = (read[at] ?? 0) ^ 1;
  vi.mocked(createReadStream).mockReturnValueOnce(Readable.from([read]) as never);
}

it.each([
  ['compressed', 'snapshot.0.gz', GZIP_HEAD_BYTES],
  ['plain', 'snapshot.0', 0],
])('a %s one that was not written as it should be gets no name', async (_, name, from) => {
  const path = join(directory, name);
  const holder = { state: new ReplicatedState() };
  await writeSnapshot(holder, path, { withChecksum: true });
  const sound = await readFile(path);
  await rm(path);
  await rm(`${path}.sha256`);
  for (let at = from; at <= sound.length; at += STEP) {
    damage(sound, at);
    const writing = writeSnapshot(holder, path, { withChecksum: true });
    await expect(writing, `byte ${at}`).rejects.toThrow('is not what was written');
    expect(await readdir(directory)).toEqual([]);
  }
});
