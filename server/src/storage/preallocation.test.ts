/** When the files of a log are made and filled with zeros, by what is appended meanwhile. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { counterOf, ProposalBatch } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { proposalsAfter } from '../simulated/storage/toy-state.js';
import { DEFAULT_STORAGE_OPTIONS } from './contract.js';
import type { LogFile } from './key-value.js';
import { TxnLog } from './txn-log.js';

const SEGMENT_BYTES = 8 << 20;
const FIRST_PREALLOCATED_BYTES = 1 << 20;
const STEP_BYTES = 512 << 10;
const LARGE_WRITE_BYTES = 32 << 10;
const SMALL = LARGE_WRITE_BYTES / 2;

/** Tells in which order files are written and filled with zeros, and how long those make them. */
class WatchedDirectory extends MemoryLogDirectory {
  readonly sizes = new Map<string, number>();
  events: string[] = [];
  /** What a preallocation waits for. */
  gated: Promise<void> = Promise.resolve();

  override async create(name: string): Promise<LogFile> {
    const file = await super.create(name);
    const preallocate = file.preallocate.bind(file);
    const write = file.write.bind(file);
    return Object.assign(file, {
      preallocate: async (size: number) => {
        await this.gated;
        this.events.push(`zeros ${name}`);
        this.sizes.set(name, size);
        await preallocate(size);
      },
      write: async (offset: number, parts: readonly Uint8Array[]) => {
        this.events.push(`write ${name}`);
        await write(offset, parts);
      },
    });
  }
}

async function newLog(directory: WatchedDirectory, firstPart = 1): Promise<TxnLog> {
  const sizes = { segmentBytesMax: SEGMENT_BYTES, recordBytesMax: 1 << 20, firstPart };
  const options = { ...DEFAULT_STORAGE_OPTIONS, ...sizes };
  const randomBytes = (count: number) => new Uint8Array(count);
  const setup = { logFiles: directory, randomBytes, options };
  return await TxnLog.create(setup, { generation: 1, base: 0 });
}

/** Appends a group in one synced write: as many batches of one proposal each. */
async function appendGroup(log: TxnLog, bytes: number, batches = 1): Promise<void> {
  const at = { epoch: 1, counter: counterOf(log.last) + 1, count: batches };
  const body = new Uint8Array(bytes / batches);
  const group = [...proposalsAfter(log.last, at)];
  await log.append(group.map((proposal) => ProposalBatch.of([{ ...proposal, body }])));
}

/** Until there is so much of it in all, and what that leads to in background is done. */
async function fill(log: TxnLog, groupBytes: number, bytes: number, batches = 1): Promise<void> {
  while (log.writtenBytes < bytes) {
    await appendGroup(log, groupBytes, batches);
    await log.idle();
  }
}

describe('the next file of a log', () => {
  it('is filled with zeros as the one before it fills, and is whole a little before that is full', async () => {
    const directory = new WatchedDirectory();
    const log = await newLog(directory);
    const shares: number[] = [];
    for (const share of [1 / 16, 1 / 4, 1 / 2, 0.95]) {
      await fill(log, SMALL, share * SEGMENT_BYTES);
      shares.push((directory.sizes.get('1-1.log') ?? 0) / SEGMENT_BYTES);
    }
    const [sixteenth, quarter = 0, half = 0, end] = shares;
    const step = STEP_BYTES / SEGMENT_BYTES;
    expect(sixteenth).toBe(0);
    expect(quarter).toBeGreaterThan(1 / 4 - step);
    expect(quarter).toBeLessThan(1 / 4 + step);
    expect(half).toBeGreaterThan(1 / 2 - step);
    expect(half).toBeLessThan(1 / 2 + 2 * step);
    expect(end).toBe(1);
    expect(directory.sizes.get('1-0.log')).toBe(FIRST_PREALLOCATED_BYTES);
    await log.closeFiles();
  });

  // Zeros make a sync cheaper, so what counts is how much one sync writes.
  for (const batches of [1, 64]) {
    it(`gets no zeros while synced writes are large, of ${batches} batches each`, async () => {
      const directory = new WatchedDirectory();
      const log = await newLog(directory);
      await fill(log, 2 * LARGE_WRITE_BYTES, 0.95 * SEGMENT_BYTES, batches);
      expect(await directory.list()).toEqual(['1-0.log', '1-1.log']);
      expect(directory.sizes.get('1-1.log')).toBe(undefined);
      await log.closeFiles();
    });
  }

  it('gets no zeros while it is written', async () => {
    const directory = new WatchedDirectory();
    const log = await newLog(directory);
    await fill(log, SMALL, SEGMENT_BYTES / 4);
    let open: () => void = () => undefined;
    directory.gated = new Promise((resolve) => {
      open = resolve;
    });
    while (log.writtenBytes < SEGMENT_BYTES) await appendGroup(log, SMALL);
    directory.events = [];
    const first = appendGroup(log, SMALL);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    expect(directory.events).toEqual([]);
    open();
    await first;
    // The header, then the record.
    expect(directory.events).toEqual(['zeros 1-1.log', 'write 1-1.log', 'write 1-1.log']);
    await fill(log, SMALL, 1.95 * SEGMENT_BYTES);
    expect(directory.events.filter((event) => event === 'zeros 1-1.log')).toHaveLength(1);
    expect(directory.sizes.get('1-2.log')).toBe(SEGMENT_BYTES);
    await log.closeFiles();
  });
});

it('the first segment of a log is left after the part of it that is asked for', async () => {
  const directory = new WatchedDirectory();
  const log = await newLog(directory, 1 / 4);
  await fill(log, SMALL, SEGMENT_BYTES / 4);
  directory.events = [];
  await appendGroup(log, SMALL);
  expect(directory.events).toEqual(['write 1-1.log', 'write 1-1.log']);
  await fill(log, SMALL, 1.24 * SEGMENT_BYTES);
  directory.events = [];
  await appendGroup(log, SMALL);
  expect(directory.events).toContain('write 1-1.log');
  await log.closeFiles();
});
