/** Streams of Snappy made here: whole, cut anywhere, with any byte changed, and too large. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compress } from 'snappyjs';
import { expect, it, onTestFinished } from 'vitest';
import { FileError } from './byte-cursor.js';
import { snappyBlocks } from './snappy.js';

const HEADER = Buffer.from('82534e41505059000000000100000001', 'hex');
const TEXT = Buffer.from('the quick brown fox jumps over the lazy dog. '.repeat(50));

function streamOf(...blocks: readonly Buffer[]): Buffer {
  const parts = blocks.map((block) => {
    const bytes = Buffer.from(compress(block));
    const length = Buffer.alloc(4);
    length.writeInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  });
  return Buffer.concat([HEADER, ...parts]);
}

async function decompressed(file: Buffer): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'snappy-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'snapshot.1.snappy');
  await writeFile(path, file);
  const blocks: Buffer[] = [];
  for await (const block of snappyBlocks(path)) blocks.push(block);
  return Buffer.concat(blocks);
}

it('is read block by block', async () => {
  const stream = streamOf(TEXT.subarray(0, 1000), TEXT.subarray(1000));
  expect((await decompressed(stream)).equals(TEXT)).toBe(true);
  expect(await decompressed(HEADER)).toHaveLength(0);
});

it('is refused when it is cut within a block, has another header, or is too large', async () => {
  const stream = streamOf(TEXT);
  for (let length = 0; length < stream.length; length++) {
    if (length === HEADER.length) continue;
    const cut = decompressed(stream.subarray(0, length));
    await expect(cut, `${length}`).rejects.toThrow(FileError);
  }
  const huge = Buffer.concat([HEADER, Buffer.from('7fffffff', 'hex')]);
  await expect(decompressed(huge)).rejects.toThrow('at most 67108864 can be read');
  const newer = Buffer.from(stream);
  newer[15] = 2;
  await expect(decompressed(newer)).rejects.toThrow("version 2 of Snappy's");
});
