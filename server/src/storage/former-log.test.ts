/**
 * The log as older releases kept it in LevelDB, written here as they wrote it: what is read of it,
 * and which damage is told.
 */
import { makeZxid, type Proposal, type Zxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import {
  END,
  type FormerSegment,
  HEADER,
  keyOf,
  SUCCESSOR,
  writeFormerSegment,
} from '../simulated/storage/former-writer.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { proposalsAfter, proposalsIn } from '../simulated/storage/toy-state.js';
import { DamagedError } from './errors.js';
import {
  destroyFormerLog,
  formerGenerations,
  holdsFormerLog,
  openFormerLog,
} from './former-log.js';
import type { KeyValueStore } from './key-value.js';
import { addChecksum, jsonWithChecksum, verifiedPayload } from './records.js';

const GENERATION = 3;

function write(
  store: KeyValueStore,
  segment: Omit<FormerSegment, 'generation'> & { readonly generation?: number },
): Promise<void> {
  return writeFormerSegment(store, { generation: GENERATION, ...segment });
}

/** Groups of two, three and one, of two epochs: 1 to 12 of epoch 1, and 1 to 6 of epoch 2. */
const FIRST = proposalsAfter(0, { epoch: 1, counter: 1, count: 12 });
const SECOND = proposalsAfter(makeZxid(1, 12), { epoch: 2, counter: 1, count: 6 });
const ALL = [...FIRST, ...SECOND];
const groupsOf = (from: number, to: number): readonly (readonly Proposal[])[] => {
  const cut = (at: number, count: number) => ALL.slice(Math.min(at, to), Math.min(at + count, to));
  const groups = [];
  for (let at = from; at < to; at += 6) groups.push(cut(at, 2), cut(at + 2, 3), cut(at + 5, 1));
  return groups.filter((group) => group.length > 0);
};

/** Segments 4 to 6, of six proposals each, and one that was made ahead. */
async function threeSegments(): Promise<MemoryStore> {
  const store = new MemoryStore();
  await write(store, { seq: 4, groups: groupsOf(0, 6), hasNext: true });
  await write(store, { seq: 5, groups: groupsOf(6, 12), end: makeZxid(1, 12), hasNext: true });
  await write(store, { seq: 6, groups: groupsOf(12, 18), end: makeZxid(2, 3), hasNext: true });
  await write(store, { seq: 7, groups: [] });
  return store;
}

async function read(store: KeyValueStore, checkpoint: Zxid) {
  const log = await openFormerLog(store, { generation: GENERATION, checkpoint });
  const proposals: Proposal[] = [];
  for await (const batches of log.batches()) proposals.push(...proposalsIn(batches));
  return { base: log.base, proposals: proposals.map(plain) };
}

function plain({ zxid, previous, body }: Proposal) {
  return { zxid, previous, body: Buffer.from(body) };
}

/** From the index on; what is read goes on after the one before it. */
function from(index: number) {
  return { base: ALL[index]?.previous, proposals: ALL.slice(index).map(plain) };
}

describe('a log in LevelDB', () => {
  it('is read from the segment of the checkpoint on', async () => {
    for (const [at, proposal] of ALL.entries()) {
      const start = Math.floor(at / 6) * 6;
      expect(await read(await threeSegments(), proposal.zxid)).toEqual(from(start));
    }
  });

  it('is read from where it starts when that is the checkpoint', async () => {
    const store = new MemoryStore();
    await write(store, { seq: 0, base: 0, groups: groupsOf(0, 18) });
    expect(await read(store, 0)).toEqual(from(0));
    const empty = new MemoryStore();
    await write(empty, { seq: 0, base: makeZxid(1, 9), groups: [], hasNext: true });
    await write(empty, { seq: 1, groups: [] });
    expect(await read(empty, makeZxid(1, 9))).toEqual({ base: makeZxid(1, 9), proposals: [] });
  });

  it('is read up to its end when the next segment was not finished, or not marked', async () => {
    const store = new MemoryStore();
    await write(store, { seq: 0, base: 0, groups: groupsOf(0, 6), hasNext: true });
    await write(store, { seq: 1, groups: groupsOf(6, 18) });
    await (await store.open(`log-${GENERATION}-2`)).close();
    expect(await read(store, 0)).toEqual(from(0));
    const unmarked = new MemoryStore();
    await write(unmarked, { seq: 0, base: 0, groups: groupsOf(0, 6) });
    await write(unmarked, { seq: 1, groups: groupsOf(6, 18) });
    expect(await read(unmarked, 0)).toEqual(from(0));
  });

  it('comes in chunks of some size, whatever its groups were', async () => {
    const store = new MemoryStore();
    const body = Buffer.alloc(300_000);
    const ten = proposalsAfter(0, { epoch: 1, counter: 1, count: 10 });
    const large = [...ten].map((proposal) => ({ ...proposal, body }));
    await write(store, { seq: 0, base: 0, groups: large.map((proposal) => [proposal]) });
    const log = await openFormerLog(store, { generation: GENERATION, checkpoint: 0 });
    const counts: number[] = [];
    for await (const batches of log.batches()) counts.push(batches.length);
    expect(counts).toEqual([4, 4, 2]);
  });

  it('of other generations is not read, and all of them are known and destroyed', async () => {
    const store = await threeSegments();
    await write(store, { generation: 2, seq: 0, base: 0, groups: groupsOf(0, 2) });
    await (await store.open('another')).close();
    expect(await read(store, makeZxid(2, 2))).toEqual(from(12));
    expect(await formerGenerations(store)).toEqual([2, 3]);
    await destroyFormerLog(store);
    expect(await formerGenerations(store)).toEqual([]);
    expect(await store.list()).toEqual(['another']);
  });
});

type Spoil = (store: MemoryStore) => void | Promise<void>;
const name = (seq: number) => `log-${GENERATION}-${seq}`;
/** The key by which `tamper` knows it. */
const textOf = (key: Uint8Array) => Buffer.from(key).toString('latin1');
const lost = (seq: number, key: Uint8Array): Spoil => {
  return (store) => {
    store.tamper(name(seq), (entries) => expect(entries.delete(textOf(key))).toBe(true));
  };
};
const flipped = (seq: number, key: Uint8Array): Spoil => {
  return (store) => {
    store.tamper(name(seq), (entries) => {
      const value = Uint8Array.from(entries.get(textOf(key)) ?? []);
      const at = value.length >> 1;
      value[at] = (value[at] ?? 0) ^ 0x10;
      entries.set(textOf(key), value);
    });
  };
};
const moved = (seq: number, from: Uint8Array, to: Uint8Array): Spoil => {
  return async (store) => {
    const open = await store.open(name(seq));
    const packed = verifiedPayload(from, (await open.get(from)) ?? new Uint8Array(0));
    const value = addChecksum(to, packed ?? new Uint8Array(0));
    await open.batch([{ type: 'put', key: to, value }], { sync: true });
    await open.batch([{ type: 'del', key: from }], { sync: true });
    await open.close();
  };
};

const SPOILT: Readonly<Record<string, readonly [Spoil, RegExp]>> = {
  'no segment': [(store) => destroyFormerLog(store), /log is missing/],
  'no segment in the middle': [(store) => store.destroy(name(5)), /gap/],
  'no last segment': [
    async (store) => {
      await store.destroy(name(6));
      await store.destroy(name(7));
    },
    /what follows .*log-3-5.* missing/,
  ],
  'no segment that was made ahead': [(store) => store.destroy(name(7)), /what follows .*log-3-6/],
  'a segment without its header': [lost(5, HEADER), /log-3-5 has lost its header/],
  'an empty segment without its header, whose successor mark says that there is one': [
    (store) => store.tamper(name(7), (entries) => entries.clear()),
    /log-3-7 has no header/,
  ],
  'another byte in a header': [flipped(6, HEADER), /header of log-3-6 has a wrong checksum/],
  'another byte in a group': [flipped(5, keyOf(makeZxid(1, 9))), /wrong checksum/],
  'another byte in an end mark': [flipped(5, END), /end mark of log-3-5 has a wrong checksum/],
  'another byte in a successor mark': [flipped(5, SUCCESSOR), /successor mark.*wrong checksum/],
  'the header of another segment': [
    async (store) => {
      await store.destroy(name(5));
      await write(store, { seq: 5, groups: groupsOf(6, 12) });
      const open = await store.open(name(5));
      const value = jsonWithChecksum(HEADER, { generation: GENERATION, seq: 8, base: null });
      await open.batch([{ type: 'put', key: HEADER, value }], { sync: true });
      await open.close();
    },
    /log-3-5 has the header of log-3-8/,
  ],
  'no group in the middle': [lost(5, keyOf(makeZxid(1, 9))), /gap in log-3-5/],
  'no group at the end, where one was': [
    lost(5, keyOf(makeZxid(1, 12))),
    /log-3-5 has lost its end/,
  ],
  'a group under the key of another': [
    moved(6, keyOf(makeZxid(2, 6)), keyOf(makeZxid(2, 7))),
    /under a wrong key/,
  ],
  'a group that is none': [
    async (store) => {
      const open = await store.open(name(6));
      const key = keyOf(makeZxid(2, 7));
      const value = addChecksum(key, Buffer.from('no proposals'));
      await open.batch([{ type: 'put', key, value }], { sync: true });
      await open.close();
    },
    /not understood/,
  ],
};

describe('damage of a log in LevelDB', () => {
  it.each(Object.keys(SPOILT))('is told: %s', async (how) => {
    const [spoil, message] = SPOILT[how] ?? [() => undefined, /^$/];
    const store = await threeSegments();
    await spoil(store);
    const reading = read(store, makeZxid(1, 8));
    await expect(reading).rejects.toThrow(DamagedError);
    await expect(reading).rejects.toThrow(message);
  });

  it('is told when the checkpoint is not in it', async () => {
    const store = await threeSegments();
    await expect(read(store, makeZxid(2, 9))).rejects.toThrow('does not hold 0x200000009');
    await expect(read(store, makeZxid(1, 13))).rejects.toThrow('does not hold 0x10000000d');
    const late = new MemoryStore();
    await write(late, { seq: 4, groups: groupsOf(6, 12) });
    await expect(read(late, makeZxid(1, 3))).rejects.toThrow('does not hold 0x100000003');
  });

  it('in front of the segment of the checkpoint costs nothing', async () => {
    const store = await threeSegments();
    await store.destroy(name(4));
    await flipped(5, keyOf(makeZxid(1, 9)))(store);
    expect(await read(store, makeZxid(2, 2))).toEqual(from(12));
  });

  it('counts as something, and so does all but an empty first segment', async () => {
    const store = new MemoryStore();
    expect(await holdsFormerLog(store)).toBe(false);
    const at = { generation: 0, seq: 0 };
    await (await store.open('log-0-0')).close();
    expect(await holdsFormerLog(store)).toBe(false);
    await write(store, { ...at, base: 0, groups: [] });
    expect(await holdsFormerLog(store)).toBe(false);
    await write(store, { ...at, base: makeZxid(1, 1), groups: [] });
    expect(await holdsFormerLog(store)).toBe(true);
    await write(store, { ...at, base: 0, groups: groupsOf(0, 2) });
    expect(await holdsFormerLog(store)).toBe(true);
    store.tamper('log-0-0', (entries) => entries.delete(textOf(HEADER)));
    expect(await holdsFormerLog(store)).toBe(true);
    expect(await holdsFormerLog(await threeSegments())).toBe(true);
  });
});
