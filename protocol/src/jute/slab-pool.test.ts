import { expect, it } from 'vitest';
import { JuteWriter, SLAB_BYTES, SlabPool } from './writer.js';

function written(writer: JuteWriter, text: string): Uint8Array {
  writer.string(text);
  return writer.take();
}

it('lends one slab to writers that come one after another, and none touches what another wrote', () => {
  const pool = new SlabPool();
  const taken = Array.from({ length: 30 }, (_, index) => {
    const writer = new JuteWriter(pool);
    const bytes = written(writer, `reply ${index}`);
    writer.release();
    return bytes;
  });
  expect(new Set(taken.map((bytes) => bytes.buffer)).size).toBe(1);
  taken.forEach((bytes, index) => {
    expect(Buffer.from(bytes).toString('utf8', 4)).toBe(`reply ${index}`);
  });
});

it('writes again what is recycled, but nothing that came into the slab before', () => {
  const pool = new SlabPool();
  const before = new JuteWriter(pool);
  const kept = written(before, 'kept');
  before.release();
  const places = ['sent', 'sent too'].map((text) => {
    const writer = new JuteWriter(pool);
    const { byteOffset } = written(writer, text);
    writer.recycle();
    return byteOffset;
  });
  expect(places[0]).toBe(kept.byteOffset + kept.length);
  expect(places[1]).toBe(places[0]);
  expect(Buffer.from(kept).toString('utf8', 4)).toBe('kept');
});

it('is written again from the same place once it is recycled, and behind what was released', () => {
  const pool = new SlabPool();
  const take = (text: string, end: (writer: JuteWriter) => void): Uint8Array => {
    const writer = new JuteWriter(pool);
    const bytes = written(writer, text);
    end(writer);
    return bytes;
  };
  const first = take('first', (writer) => writer.recycle());
  const again = take('again', (writer) => writer.recycle());
  expect([again.buffer, again.byteOffset]).toEqual([first.buffer, first.byteOffset]);
  expect(Buffer.from(again).toString('utf8', 4)).toBe('again');
  const longer = take('longer', (writer) => writer.release());
  expect(longer.length).toBe(first.length + 1);
  const behind = take('after', (writer) => writer.recycle());
  expect(behind.byteOffset).toBe(longer.byteOffset + longer.length);
  expect(Buffer.from(longer).toString('utf8', 4)).toBe('longer');
});

it('never lends a slab that somebody has', () => {
  const pool = new SlabPool();
  const first = new JuteWriter(pool);
  const second = new JuteWriter(pool);
  const bytes = [written(first, 'a'), written(second, 'b'), written(first, 'c')];
  expect(bytes.map((one) => Buffer.from(one).toString('utf8', 4))).toEqual(['a', 'b', 'c']);
  first.release();
  second.release();
  expect(pool.idle).toBe(2);
});

it('gives a writer that outgrows what is left of a slab a new one, with all it wrote', () => {
  const pool = new SlabPool();
  const first = new JuteWriter(pool);
  const kept = written(first, 'x'.repeat(SLAB_BYTES - 4_000));
  first.release();
  const second = new JuteWriter(pool);
  const text = 'y'.repeat(900);
  for (let count = 0; count < 10; count += 1) second.string(text);
  const bytes = Buffer.from(second.take());
  expect(bytes.length).toBe(10 * 904);
  for (let at = 0; at < bytes.length; at += 904) {
    expect(bytes.toString('utf8', at + 4, at + 904)).toBe(text);
  }
  expect(Buffer.from(kept).toString('utf8', 4)).toBe('x'.repeat(SLAB_BYTES - 4_000));
});

it('keeps no slab of another size, no full one, and few of those that a crowd needed', () => {
  const pool = new SlabPool();
  const large = new JuteWriter(pool);
  written(large, 'x'.repeat(SLAB_BYTES));
  const full = new JuteWriter(pool);
  full.raw(new Uint8Array(SLAB_BYTES));
  full.take();
  full.release();
  expect(pool.idle).toBe(0);
  const crowd = Array.from({ length: 1_000 }, () => new JuteWriter(pool));
  for (const writer of crowd) written(writer, 'x'.repeat(SLAB_BYTES / 4));
  for (const writer of crowd) writer.release();
  expect(pool.idle).toBe(64);
});

/** One event for each of so many writers at once; the memory that it took. */
function toCrowd(pool: SlabPool, size: number): ReadonlySet<ArrayBufferLike> {
  const crowd = Array.from({ length: size }, () => new JuteWriter(pool));
  const taken = crowd.map((writer, index) => written(writer, `event ${index}`));
  taken.forEach((bytes, index) => {
    expect(Buffer.from(bytes).toString('utf8', 4)).toBe(`event ${index}`);
  });
  for (const writer of crowd) writer.recycle();
  return new Set(taken.map((bytes) => bytes.buffer));
}

it('serves a crowd that writes little from little memory, and the next one from the same', () => {
  const pool = new SlabPool();
  const memory = toCrowd(pool, 1_000);
  const sizes = [...memory].map((bytes) => bytes.byteLength);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1_000 * 512);
  const again = toCrowd(pool, 1_000);
  expect([...again].filter((bytes) => !memory.has(bytes))).toEqual([]);
  toCrowd(pool, 5_000);
  expect(pool.idle).toBe(2_048);
});

it('gives whoever writes more than a small slab takes a whole one, that the next ones get', () => {
  const pool = new SlabPool();
  const writer = new JuteWriter(pool);
  const text = 'x'.repeat(100);
  for (let count = 0; count < 10; count++) writer.string(text);
  const bytes = Buffer.from(writer.take());
  for (let at = 0; at < 1040; at += 104)
    expect(bytes.toString('utf8', at + 4, at + 104)).toBe(text);
  writer.recycle();
  const next = new JuteWriter(pool);
  expect(written(next, 'y').buffer.byteLength).toBe(SLAB_BYTES);
  // The small one that was outgrown.
  expect(pool.idle).toBe(1);
});

it('takes no slab back while something waits in it', () => {
  const writer = new JuteWriter(new SlabPool());
  writer.int(1);
  expect(() => writer.release()).toThrowError('waits');
  writer.reset();
  writer.release();
  writer.int(2);
  expect(Buffer.from(writer.take()).toString('hex')).toBe('00000002');
});
