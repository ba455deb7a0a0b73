/**
 * Goal: whichever byte of a table of an open database is another, reading the database finds it, or
 * the next opening loses nothing by it.
 */
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { appendFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bufferOf } from '@rookery/protocol';
import { Level } from 'level';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../simulated/seeded-random.js';
import { DamagedError, StorageFault } from './errors.js';
import type { KeyValueDatabase } from './key-value.js';
import {
  BLOCK_BYTES,
  checkFile,
  checkFiles,
  crc32c,
  filesToCheck,
  maskedCrc32c,
  type WriteAheadDamage,
  WriteAheadScan,
} from './level-files.js';
import { LevelStore } from './level-store.js';
import { OwnedDirectory } from './owned-directory.js';

const COUNT = 12;

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rookery-tables-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function open(name: string): Promise<{ store: LevelStore; database: KeyValueDatabase }> {
  const store = new LevelStore(await OwnedDirectory.open(join(directory, name), 1));
  return { store, database: await store.open('db') };
}

async function contentOf(database: KeyValueDatabase): Promise<string> {
  const snapshot = database.snapshot();
  try {
    const entries: string[] = [];
    for await (const some of snapshot.iterate({})) {
      for (const [key, value] of some) {
        entries.push(`${bufferOf(key).toString('hex')}=${bufferOf(value).toString('hex')}`);
      }
    }
    return entries.join(' ');
  } finally {
    await snapshot.close();
  }
}

/** What reading says, as the scrub does it: the content, or that there is damage. */
async function read(database: KeyValueDatabase, path: string): Promise<string> {
  try {
    await checkFiles(path);
    for (const file of await filesToCheck(path)) await checkFile(path, file);
    return await contentOf(database);
  } catch (error) {
    if (error instanceof DamagedError || error instanceof StorageFault) return 'damaged';
    throw error;
  }
}

it('is found while the database is open, or harms no start', async () => {
  const first = await open('a');
  for (let index = 0; index < COUNT; index++) {
    const value = Buffer.from(`${index * 7_919}`.repeat(8));
    const put = { type: 'put', key: Buffer.from(`key-${index}`), value } as const;
    await first.database.batch([put], { sync: true });
  }
  await first.store.close();
  // What was in the write-ahead file becomes a table.
  const { store, database } = await open('a');
  const content = await contentOf(database);
  await database.get(Buffer.from('key-1'));
  const path = join(directory, 'a', 'db');
  const table = join(path, readdirSync(path).find((name) => name.endsWith('.ldb')) ?? 'missing');
  const bytes = readFileSync(table);
  let found = 0;
  for (let at = 0; at < bytes.length; at++) {
    const struck = Buffer.from(bytes);
    struck[at] = (struck[at] ?? 0) ^ 1;
    // In place, because the database has it mapped.
    writeFileSync(table, struck, { flag: 'r+' });
    if ((await read(database, path)) !== content) {
      found += 1;
      continue;
    }
    const copy = `copy-${at}`;
    cpSync(path, join(directory, copy, 'db'), { recursive: true });
    const again = await open(copy);
    expect(await contentOf(again.database), `byte ${at} of ${bytes.length}`).toBe(content);
    await again.store.close();
  }
  expect(found).toBeGreaterThan(bytes.length / 2);
  writeFileSync(table, bytes, { flag: 'r+' });
  expect(await read(database, path)).toBe(content);
  await store.close();
}, 60_000);

it('is looked for in one file after the other', async () => {
  const starts = 3;
  for (let start = 0; start < starts; start++) {
    const { store, database } = await open('b');
    for (let index = 0; index < COUNT; index++) {
      const key = Buffer.from(`key-${start}-${index}`);
      await database.batch([{ type: 'put', key, value: Buffer.alloc(4_000, index) }], {
        sync: true,
      });
    }
    await store.close();
  }
  const { store, database } = await open('b');
  const path = join(directory, 'b', 'db');
  const sizes = (await filesToCheck(path)).map((file) => statSync(join(path, file)).size);
  const parts: number[] = [];
  for await (const bytes of database.checkFiles()) parts.push(bytes);
  expect(parts.length).toBe(sizes.length);
  expect(parts.length).toBeGreaterThan(starts);
  for (const [index, bytes] of parts.entries())
    expect(bytes).toBeLessThanOrEqual(sizes[index] ?? 0);
  await store.close();
});

const FULL = 1;
const FIRST = 2;
const MIDDLE = 3;
const LAST = 4;

/** Value sizes: the fourth batch is in two blocks, the last one whole in the second. */
const SIZES = [10, 300, 0, 33_000, 50, 1, 200];

let log = Buffer.alloc(0);
/** Where each batch ends. */
const ends: number[] = [];

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rookery-scan-'));
  const level = new Level<string, Uint8Array>(directory, { valueEncoding: 'view' });
  await level.open();
  const file = (await readdir(directory)).find((name) => name.endsWith('.log')) ?? '';
  const random = seededRandom(1);
  for (const [index, size] of SIZES.entries()) {
    const value = Buffer.from(Array.from({ length: size }, () => Math.floor(random() * 256)));
    await level.batch([{ type: 'put', key: `k${index}`, value }], { sync: true });
    ends.push((await stat(join(directory, file))).size);
  }
  await level.close();
  log = await readFile(join(directory, file));
  await rm(directory, { recursive: true });
});

function piece(type: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.alloc(7 + payload.length);
  bytes.writeUInt16LE(payload.length, 4);
  bytes[6] = type;
  bytes.set(payload, 7);
  bytes.writeUInt32LE(maskedCrc32c(bytes, 6, bytes.length), 0);
  return bytes;
}

/** Scans a whole file in memory. */
function scanWriteAhead(bytes: Uint8Array): WriteAheadDamage | null {
  const scan = new WriteAheadScan();
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    const damage = scan.block(bytes.subarray(at, at + BLOCK_BYTES));
    if (damage !== null) return damage;
  }
  return null;
}

/** Every byte counts, but in the middle of the long value where all are alike. */
function stepAt(at: number): number {
  return at > 500 && at < BLOCK_BYTES - 50 ? 41 : 1;
}

describe('crc32c', () => {
  it('is the Castagnoli one, wherever the bytes begin', () => {
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
    expect(crc32c(Buffer.from('..123456789.'), 2, 11)).toBe(0xe3069283);
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
    expect(crc32c(new Uint8Array(0))).toBe(0);
  });
});

describe('the log that LevelDB wrote', () => {
  it('is whole as it is', () => {
    expect(log.length).toBeGreaterThan(BLOCK_BYTES);
    expect(ends.at(-1)).toBe(log.length);
    expect(scanWriteAhead(log)).toBe(null);
  });

  it('is damaged by a flip of any byte in front of the last batch', () => {
    const lastBatch = ends.at(-2) ?? 0;
    for (let at = 0; at < log.length; at += stepAt(at)) {
      const spoilt = Buffer.from(log);
      spoilt[at] = (spoilt[at] ?? 0) ^ (1 << (at & 7));
      const damage = scanWriteAhead(spoilt);
      if (at >= lastBatch) expect(damage, `byte ${at}`).toBe(null);
      else if (damage === null || damage.offset > at) expect.fail(`byte ${at} passes`);
    }
  });

  it('is a torn one, not a damaged one, wherever it is cut or zeros take the place of its end', () => {
    for (let length = 0; length <= log.length; length += stepAt(length)) {
      if (scanWriteAhead(log.subarray(0, length)) !== null) expect.fail(`cut at ${length}`);
    }
    const zeroed = Buffer.from(log);
    for (let length = log.length; length >= 0; length -= stepAt(length)) {
      zeroed.fill(0, length);
      if (scanWriteAhead(zeroed) !== null) expect.fail(`zeros from ${length}`);
    }
  });

  it('is torn when a power cut kept the second half of the last batch and lost the first', () => {
    const start = ends[2] ?? 0;
    const torn = Buffer.from(log.subarray(0, ends[3]));
    expect(torn.length).toBeGreaterThan(BLOCK_BYTES);
    torn.fill(0, start, start + 4096);
    expect(scanWriteAhead(torn)).toBe(null);
    torn.fill(0, start, BLOCK_BYTES);
    expect(scanWriteAhead(torn)).toBe(null);
    // But not when another batch came after it.
    const later = Buffer.concat([torn, piece(FULL, Buffer.from('later'))]);
    expect(scanWriteAhead(later)?.offset).toBe(start);
  });

  it('is damaged when blocks are missing or zeroed in front of a batch', () => {
    expect(scanWriteAhead(log.subarray(BLOCK_BYTES))).toEqual({
      offset: 0,
      reason: 'a batch has lost its beginning',
    });
    const zeroed = Buffer.from(log);
    zeroed.fill(0, 0, BLOCK_BYTES);
    expect(scanWriteAhead(zeroed)?.offset).toBe(0);
  });
});

describe('pieces out of place', () => {
  const small = Buffer.from('payload');

  it('are damage: an end without a beginning, a beginning whose end never came', () => {
    const scan = (...pieces: readonly Buffer[]) => scanWriteAhead(Buffer.concat(pieces));
    expect(scan(piece(FULL, small), piece(LAST, small))?.offset).toBe(14);
    expect(scan(piece(MIDDLE, small))?.offset).toBe(0);
    expect(scan(piece(FIRST, small), piece(MIDDLE, small), piece(FULL, small))?.offset).toBe(0);
    expect(scan(piece(FIRST, small), piece(FIRST, small))?.offset).toBe(0);
    expect(scan(piece(FIRST, small), piece(MIDDLE, small), piece(LAST, small))).toBe(null);
    expect(scan(piece(FIRST, small), piece(MIDDLE, small))).toBe(null);
    expect(scan(piece(9, small), piece(FULL, small))?.offset).toBe(0);
    expect(scan(piece(FULL, small), piece(9, small))).toBe(null);
  });

  it('make what was scanned not whole, and so does a header that is cut short', () => {
    const whole = (bytes: Uint8Array) => {
      const scan = new WriteAheadScan();
      expect(scan.block(bytes)).toBe(null);
      return scan.whole;
    };
    expect(whole(piece(FULL, small))).toBe(true);
    expect(whole(piece(FIRST, small))).toBe(false);
    expect(whole(Buffer.concat([piece(FULL, small), Buffer.alloc(3)]))).toBe(false);
    expect(whole(piece(FULL, small).subarray(0, 10))).toBe(false);
  });

  it('are found in later blocks, whatever the rest of a block that is too short holds', () => {
    const block = Buffer.concat([
      piece(FULL, new Uint8Array(BLOCK_BYTES - 7 - 5)),
      Buffer.alloc(5, 0xee),
    ]);
    expect(block.length).toBe(BLOCK_BYTES);
    expect(scanWriteAhead(Buffer.concat([block, block, piece(FULL, small)]))).toBe(null);
    const spoilt = Buffer.from(block);
    spoilt[100] = 1;
    expect(scanWriteAhead(Buffer.concat([block, spoilt, spoilt]))).toBe(null);
    expect(scanWriteAhead(Buffer.concat([block, spoilt, spoilt, block]))?.offset).toBe(BLOCK_BYTES);
  });
});

describe('a file of a database', () => {
  it('is read in pieces to the same end, and named with the place', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rookery-scan-'));
    try {
      const level = new Level<string, Uint8Array>(directory, { valueEncoding: 'view' });
      await level.put('key', new Uint8Array(600_000));
      await level.close();
      const file = (await readdir(directory)).find((name) => name.endsWith('.log')) ?? '';
      await checkFiles(directory);
      await appendFile(join(directory, file), Buffer.alloc(40, 7));
      await checkFiles(directory);
      await appendFile(join(directory, file), piece(FULL, Buffer.from('a later batch')));
      await expect(checkFiles(directory)).rejects.toThrow(DamagedError);
      await expect(checkFiles(directory)).rejects.toThrow(`${file} is damaged at byte 600`);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
