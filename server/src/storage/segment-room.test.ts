/** When the segments of a log are made and get their room, by what is appended meanwhile. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { counterOf } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { KeyValueDatabase, KeyValueOperation } from './key-value.js';
import { MemoryStore } from './memory-store.js';
import { proposalsAfter } from './testing.js';
import { roomStepBytes, TxnLog } from './txn-log.js';

const SEGMENT_BYTES = 8 << 20;
const FIRST_ROOM_BYTES = 1 << 20;
const LARGE_GROUP_BYTES = 32 << 10;
const SMALL = LARGE_GROUP_BYTES / 2;
const OPTIONS = { segmentBytesMax: SEGMENT_BYTES, groupBytesMax: 1 << 20, firstPart: 1 };

/** Tells what each database was given room for, and in which order. */
class RoomStore extends MemoryStore {
  readonly rooms = new Map<string, number>();
  events: string[] = [];
  /** What giving room waits for. */
  gate: Promise<void> = Promise.resolve();

  override async open(name: string): Promise<KeyValueDatabase> {
    const database = await super.open(name);
    const batch = database.batch.bind(database);
    return Object.assign(database, {
      reserve: async (bytes: number) => {
        await this.gate;
        this.events.push(`room ${name}`);
        this.rooms.set(name, (this.rooms.get(name) ?? 0) + bytes);
      },
      batch: async (operations: readonly KeyValueOperation[], options: { sync: boolean }) => {
        this.events.push(`batch ${name}`);
        await batch(operations, options);
      },
    });
  }
}

async function newLog(store: RoomStore, firstPart = 1): Promise<TxnLog> {
  return await TxnLog.create(store, { generation: 1, base: 0 }, { ...OPTIONS, firstPart });
}

async function appendGroup(log: TxnLog, bytes: number): Promise<void> {
  const at = { epoch: 1, counter: counterOf(log.last) + 1, count: 1 };
  const proposals = proposalsAfter(log.last, at);
  await log.append([proposals.map((one) => ({ ...one, body: new Uint8Array(bytes) }))]);
}

/** Until there is so much of it in all, and what that leads to in background is done. */
async function fill(log: TxnLog, groupBytes: number, bytes: number): Promise<void> {
  while (log.writtenBytes < bytes) {
    await appendGroup(log, groupBytes);
    await log.idle();
  }
}

describe('the room of a log segment', () => {
  it('grows as the one before it fills, and is whole a little before that is full', async () => {
    const store = new RoomStore();
    const log = await newLog(store);
    const shares: number[] = [];
    for (const share of [1 / 16, 1 / 4, 1 / 2, 0.95]) {
      await fill(log, SMALL, share * SEGMENT_BYTES);
      shares.push((store.rooms.get('log-1-1') ?? 0) / SEGMENT_BYTES);
    }
    const [sixteenth, quarter = 0, half = 0, end] = shares;
    const step = roomStepBytes(OPTIONS) / SEGMENT_BYTES;
    expect(sixteenth).toBe(0);
    expect(quarter).toBeGreaterThan(1 / 4 - step);
    expect(quarter).toBeLessThan(1 / 4 + step);
    expect(half).toBeGreaterThan(1 / 2 - step);
    expect(half).toBeLessThan(1 / 2 + 2 * step);
    expect(end).toBe(1);
    expect(store.rooms.get('log-1-0')).toBe(FIRST_ROOM_BYTES);
    await log.letGo();
  });

  it('stays as it is while groups are large', async () => {
    const store = new RoomStore();
    const log = await newLog(store);
    await fill(log, 2 * LARGE_GROUP_BYTES, 0.95 * SEGMENT_BYTES);
    expect(await store.list()).toEqual(['log-1-0', 'log-1-1']);
    expect(store.rooms.get('log-1-1')).toBe(undefined);
    await log.letGo();
  });

  it('is never made while the segment is written', async () => {
    const store = new RoomStore();
    const log = await newLog(store);
    await fill(log, SMALL, SEGMENT_BYTES / 4);
    let open: () => void = () => undefined;
    store.gate = new Promise((resolve) => {
      open = resolve;
    });
    while (log.writtenBytes < SEGMENT_BYTES) await appendGroup(log, SMALL);
    store.events = [];
    const first = appendGroup(log, SMALL);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    expect(store.events).toEqual([]);
    open();
    await first;
    expect(store.events).toEqual(['room log-1-1', 'batch log-1-1']);
    await fill(log, SMALL, 1.95 * SEGMENT_BYTES);
    expect(store.events.filter((event) => event === 'room log-1-1')).toHaveLength(1);
    expect(store.rooms.get('log-1-2')).toBe(SEGMENT_BYTES);
    await log.letGo();
  });
});

it('the first segment of a log is left after the part of it that is asked for', async () => {
  const store = new RoomStore();
  const log = await newLog(store, 1 / 4);
  await fill(log, SMALL, SEGMENT_BYTES / 4);
  store.events = [];
  await appendGroup(log, SMALL);
  expect(store.events).toEqual(['batch log-1-1']);
  await fill(log, SMALL, 1.24 * SEGMENT_BYTES);
  store.events = [];
  await appendGroup(log, SMALL);
  expect(store.events).toContain('batch log-1-1');
  await log.letGo();
});
