/** Damage in the files of a log on a real file system: it is told, or costs nothing that counts. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Proposal } from '@rookery/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openToy, proposalsAfter, proposalsIn, TINY } from '../simulated/storage/toy-state.js';
import type { Recovered } from './contract.js';
import { RECORDS_START } from './log-segment.js';
import { openStores } from './stores.js';

const ONE_SEGMENT = { segmentBytesMax: 1 << 16 };

let directory = '';
let log = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rookery-damage-'));
  log = join(directory, '1', 'log');
});
afterEach(() => rm(directory, { recursive: true }));

async function open(options = {}) {
  const setup = { dataDir: directory, dataLogDir: directory, memberId: 1 };
  return await openToy(await openStores(setup), { ...TINY, ...options });
}

async function recovered(): Promise<Recovered> {
  const opened = await open();
  await opened.storage.close();
  return opened.recovered;
}

/** A log of `appends` appends with `count` proposals each. */
async function filled(at: { appends: number; count: number; isMarked: boolean }, options = {}) {
  const { storage } = await open(options);
  await storage.saveEpochs({ accepted: 1, current: 0, ensembleId: '', founded: false });
  for (let i = 0; i < at.appends; i++) {
    const counter = i * at.count + 1;
    await storage.append([proposalsAfter(storage.last, { epoch: 1, counter, count: at.count })]);
  }
  if (at.isMarked) await storage.markLogEnd();
  await storage.close();
  return await recovered();
}

/** The files that hold something, without what lies behind that. */
async function written(): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const name of await readdir(log)) {
    if (!/^\d+-\d+\.log$/.test(name)) continue;
    const bytes = await readFile(join(log, name));
    const end = bytes.findLastIndex((byte) => byte !== 0) + 1;
    if (end > RECORDS_START) files.set(name, bytes.subarray(0, end));
  }
  return files;
}

/**
 * Flips a bit in every `step`th byte of the only segment's records, one at a time; what is
 * recovered without damage being told is handed to `undamaged`.
 */
async function flipEach(
  step: number,
  undamaged: (suffix: readonly Proposal[], at: number) => void,
): Promise<{ readonly told: number; readonly flips: number }> {
  const files = await written();
  expect(files.size).toBe(1);
  let told = 0;
  let flips = 0;
  for (const [name, bytes] of files) {
    for (let at = RECORDS_START; at < bytes.length; at += step) {
      const spoilt = Buffer.from(bytes);
      spoilt[at] = (spoilt[at] ?? 0) ^ 0x04;
      await writeFile(join(log, name), spoilt);
      const { damaged, suffix } = await recovered();
      flips += 1;
      if (damaged === null) undamaged(proposalsIn(suffix), at);
      else told += 1;
    }
  }
  return { told, flips };
}

describe('a file of the log', () => {
  it('that is cut short or overwritten anywhere never brings up a wrong log', async () => {
    const all = await filled({ appends: 20, count: 2, isMarked: false });
    const before = proposalsIn(all.suffix);
    expect(before.length).toBe(40);
    const files = await written();
    expect(files.size).toBeGreaterThan(3);
    let damaged = 0;
    for (const [name, bytes] of files) {
      for (const at of [0, 10, RECORDS_START, (RECORDS_START + bytes.length) >> 1]) {
        const overwritten = Buffer.from(bytes).fill(0xee, at, at + 8);
        for (const spoilt of [bytes.subarray(0, at), overwritten]) {
          await writeFile(join(log, name), spoilt);
          const found = await recovered();
          if (found.damaged !== null) damaged += 1;
          else {
            const left = proposalsIn(found.suffix);
            expect(left, name).toEqual(before.slice(0, left.length));
          }
        }
      }
      await writeFile(join(log, name), bytes);
    }
    expect(damaged).toBeGreaterThan(files.size * 4);
    expect((await recovered()).suffix).toEqual(all.suffix);
  });
});

describe('a flipped bit in the log', () => {
  it('costs no acknowledged write but by damage that is told, unless it is in the last one', async () => {
    await filled({ appends: 20, count: 1, isMarked: false }, ONE_SEGMENT);
    const { told, flips } = await flipEach(29, (suffix, at) => {
      expect(suffix.length, `byte ${at}`).toBeGreaterThanOrEqual(19);
    });
    expect(flips).toBeGreaterThan(25);
    expect(told).toBeGreaterThan(flips * 0.8);
  });

  it('costs none at all where the end of the log is known, the last write included', async () => {
    await filled({ appends: 5, count: 1, isMarked: true }, ONE_SEGMENT);
    const { told, flips } = await flipEach(7, (suffix, at) => {
      expect(suffix.length, `byte ${at}`).toBe(5);
    });
    expect(told).toBeGreaterThan(flips * 0.8);
  });

  it('of either copy of a header costs nothing', async () => {
    const all = await filled({ appends: 3, count: 1, isMarked: true }, ONE_SEGMENT);
    for (const [name, bytes] of await written()) {
      for (const at of [0, 5, 50, RECORDS_START / 2, RECORDS_START / 2 + 20]) {
        const spoilt = Buffer.from(bytes);
        spoilt[at] = (spoilt[at] ?? 0) ^ 0x04;
        await writeFile(join(log, name), spoilt);
        expect(await recovered(), `byte ${at}`).toEqual(all);
      }
    }
  });
});
