/** Streams of Snappy made here: whole, cut anywhere, with any byte changed, and too large. */
import { compress } from 'snappyjs';
import { expect, it } from 'vitest';
import { FileError } from './byte-cursor.js';
import { decompressSnappy } from './snappy.js';

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

it('is read block by block', () => {
  const stream = streamOf(TEXT.subarray(0, 1000), TEXT.subarray(1000));
  expect(decompressSnappy(stream, 1 << 20).equals(TEXT)).toBe(true);
  expect(decompressSnappy(HEADER, 0)).toHaveLength(0);
});

it('is refused when it is cut within a block, has another header, or is too large', () => {
  const stream = streamOf(TEXT);
  for (let length = 0; length < stream.length; length++) {
    if (length === HEADER.length) continue;
    const cut = stream.subarray(0, length);
    expect(() => decompressSnappy(cut, 1 << 20), `${length}`).toThrow(FileError);
  }
  expect(() => decompressSnappy(stream, TEXT.length - 1)).toThrow('more than');
  const newer = Buffer.from(stream);
  newer[15] = 2;
  expect(() => decompressSnappy(newer, 1 << 20)).toThrow("version 2 of Snappy's");
});
