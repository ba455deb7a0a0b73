/**
 * Goal: a start that leaves segments unread knows the same of the log as one that reads them all.
 *
 * Method: seeded lives of a log with checkpoints, purges, truncations and crashes; each start is
 * made twice, on the disk as it is and on a copy without what the segments say of each other.
 */
import type { Proposal } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../simulated/seeded-random.js';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import {
  type Opened,
  openToy,
  proposalsAfter,
  proposalsIn,
  TINY,
} from '../simulated/storage/toy-state.js';
import { changeWithChecksum } from './checkpoint.js';
import { HistoryGoneError } from './errors.js';
import { decodeHeader, encodeHeader, parseSegmentName, RECORDS_START } from './log-segment.js';

const OPTIONS = { ...TINY, retainedBytesMin: 1200 };

class Life {
  disk = { treeStore: new MemoryStore(), logFiles: new MemoryLogDirectory() };
  epoch = 1;
  counter = 0;
  readonly random: () => number;
  opened!: Opened;
  proposals: readonly Proposal[] = [];

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  async start(): Promise<void> {
    this.opened = await openToy(this.disk, OPTIONS);
    for (const one of proposalsIn(this.opened.recovered.suffix)) this.opened.state.apply(one);
    await this.begin();
  }

  /** The next epoch. */
  async begin(): Promise<void> {
    this.epoch += 1;
    this.counter = 0;
    const epochs = { accepted: this.epoch, current: this.epoch, ensembleId: '', founded: false };
    await this.opened.storage.saveEpochs(epochs);
  }

  async append(): Promise<void> {
    const { storage, state } = this.opened;
    const count = 1 + Math.floor(this.random() * 6);
    const at = { epoch: this.epoch, counter: this.counter + 1, count };
    const proposals = proposalsAfter(storage.last, at);
    this.counter += count;
    await storage.append([proposals]);
    this.proposals = [...this.proposals, ...proposals];
    if (this.random() < 0.5) return;
    for (const one of this.proposals) if (one.zxid > state.lastZxid) state.apply(one);
  }

  async checkpoint(): Promise<void> {
    const { storage, state } = this.opened;
    if (state.lastZxid <= storage.checkpointZxid) return;
    storage.beginCheckpoint(state.lastZxid);
    const frozen = state.freeze();
    await storage.writeCheckpoint(state.captureSome(1000, 1 << 20).map(changeWithChecksum), frozen);
    storage.purge(0);
  }

  async truncate(): Promise<void> {
    const { storage, state } = this.opened;
    const open = this.proposals.filter(({ zxid }) => zxid > state.lastZxid);
    const kept = open.slice(0, Math.floor(this.random() * open.length));
    await storage.truncate(kept.at(-1)?.zxid ?? state.lastZxid);
    this.proposals = this.proposals.filter(({ zxid }) => zxid <= storage.last);
    await this.begin();
  }

  async step(): Promise<void> {
    const choice = this.random();
    if (choice < 0.1) await this.truncate();
    else if (choice < 0.3) await this.checkpoint();
    else await this.append();
    if (choice > 0.9) void this.opened.storage.markLogEnd();
    if (choice > 0.6) await this.opened.storage.idle();
  }

  crash(): void {
    const { treeStore, logFiles } = this.disk;
    this.disk = { treeStore: treeStore.crash(this.random), logFiles: logFiles.crash(this.random) };
  }
}

/** The same bytes; `disk` itself cannot be used any more. */
function copyOf({ treeStore, logFiles }: Life['disk']): Life['disk'] {
  return { treeStore: treeStore.crash(() => 0), logFiles: logFiles.crash(() => 0) };
}

/** The same log, but this header says nothing of the segment before it. */
function forget({ logFiles }: Life['disk'], name: string): void {
  logFiles.tamper(name, (bytes) => {
    const header = decodeHeader(bytes.subarray(0, RECORDS_START));
    if (header === null) return bytes;
    const forgetful = encodeHeader({ ...header, previous: null });
    return Buffer.concat([forgetful, bytes.subarray(RECORDS_START)]);
  });
}

/** Names of the files of which more than the header is read from now on. */
function readIn({ logFiles }: Life['disk']): ReadonlySet<string> {
  const names = new Set<string>();
  const open = logFiles.open.bind(logFiles);
  logFiles.open = async (name) => {
    const file = await open(name);
    const read = file.read.bind(file);
    return Object.assign(file, {
      read: (offset: number, length: number) => {
        if (offset + length > RECORDS_START) names.add(name);
        return read(offset, length);
      },
    });
  };
  return names;
}

/** On a copy, on which segments say nothing of each other. */
async function startReadingAll(disk: Life['disk'], options = OPTIONS): Promise<Opened> {
  for (const name of disk.logFiles.names()) forget(disk, name);
  return await openToy(disk, options);
}

/** Some segments before its checkpoint, crashed. */
async function lifeToCheckpoint(): Promise<Life> {
  const life = new Life(1);
  await life.start();
  for (let count = 0; count < 40; count++) await life.append();
  await life.opened.storage.idle();
  await life.checkpoint();
  life.crash();
  return life;
}

/** Oldest first. */
function inOrder(names: Iterable<string>): readonly string[] {
  const seqOf = (name: string) => parseSegmentName(name)?.seq ?? 0;
  return [...names].sort((a, b) => seqOf(a) - seqOf(b));
}

async function zxidsIn({ storage }: Opened): Promise<readonly number[]> {
  const zxids: number[] = [];
  for await (const chunk of storage.readHistory(storage.base, storage.last)) {
    for (const { zxid } of chunk) zxids.push(zxid);
  }
  return zxids;
}

describe('a start that does not read all of the log', () => {
  it.each([1, 2, 3, 4, 5, 6])('knows what one does that reads it, seed %d', async (seed) => {
    const life = new Life(seed);
    let unread = 0;
    for (let start = 0; start < 12; start++) {
      await life.start();
      for (let step = 0; step < 25; step++) await life.step();
      life.crash();
      const all = await startReadingAll(copyOf(life.disk));
      life.disk = copyOf(life.disk);
      const read = readIn(life.disk);
      const some = await openToy(life.disk, OPTIONS);
      unread += life.disk.logFiles.names().length - read.size;
      expect(some.recovered).toEqual(all.recovered);
      expect(some.recovered.damaged).toBe(null);
      expect([some.storage.base, some.storage.last]).toEqual([all.storage.base, all.storage.last]);
      const held = life.proposals.filter(({ zxid }) => zxid > some.storage.base);
      expect(await zxidsIn(some)).toEqual(held.map(({ zxid }) => zxid));
      life.crash();
    }
    expect(unread).toBeGreaterThan(12);
  });

  it('knows the sizes that a purge goes by', async () => {
    const life = await lifeToCheckpoint();
    const all = await startReadingAll(copyOf(life.disk), TINY);
    const some = await openToy(copyOf(life.disk), TINY);
    const { base } = some.storage;
    expect(some.storage.purge(0)).toBeGreaterThan(base);
    expect(some.storage.base).toBe(all.storage.purge(0));
  });
});

const spoils = {
  flip: (bytes: Uint8Array, at: number) => bytes.fill((bytes[at] ?? 0) ^ 1, at, at + 1),
  lose: (bytes: Uint8Array, at: number) => bytes.fill(0, at, at + 512),
  loseAll: (bytes: Uint8Array) => bytes.subarray(0, RECORDS_START),
};

describe('a segment that no start has read', () => {
  it.each(['flip', 'lose', 'loseAll'] as const)(
    'is given up, with all before it, when a learner needs it and it cannot be read: %s',
    async (how) => {
      const life = await lifeToCheckpoint();
      const sound = copyOf(life.disk);
      const read = readIn(sound);
      await openToy(sound, OPTIONS);
      let givenUp = 0;
      for (const name of sound.logFiles.names().filter((one) => !read.has(one))) {
        const bytes = sound.logFiles.bytesOf(name);
        for (let at = RECORDS_START; at < bytes.length; at += 29) {
          if (bytes[at] === 0) continue;
          life.disk = copyOf(life.disk);
          life.disk.logFiles.tamper(name, (file) => spoils[how](file, at));
          const one = await openToy(life.disk, OPTIONS);
          expect(one.recovered.damaged).toBe(null);
          const { base, last } = one.storage;
          const isGone = await zxidsIn(one).then(
            () => false,
            (error: unknown) => error instanceof HistoryGoneError,
          );
          expect(isGone, `byte ${at} of ${name}`).toBe(true);
          givenUp += 1;
          expect(one.storage.base).toBeGreaterThan(base);
          const kept = life.proposals.filter(({ zxid }) => zxid > one.storage.base);
          expect(await zxidsIn(one)).toEqual(kept.map(({ zxid }) => zxid));
          await one.storage.idle();
          life.disk = copyOf(life.disk);
          const again = await openToy(life.disk, OPTIONS);
          expect(again.recovered).toMatchObject({ damaged: null, last });
          // For the next one.
          life.disk = copyOf(sound);
        }
      }
      expect(givenUp).toBeGreaterThan(2);
    },
  );
});

describe('a header that has much to say of the segment before it', () => {
  it('leaves out what does not fit, and is a header', () => {
    const header = { generation: 1, seq: 2, base: 9, follows: 1, salt: '0123456789abcdef' };
    for (const count of [0, 1, 100, 200, 1_000]) {
      const ranges = Array.from({ length: count }, (_, at) => ({ epoch: at, first: 1, last: 9 }));
      const previous = { bytes: 77, ranges };
      const found = decodeHeader(encodeHeader({ ...header, previous }));
      expect(found).toMatchObject(header);
      expect(found?.previous).toEqual(count < 150 ? previous : null);
    }
  });
});

describe('segments that were given up', () => {
  it('are forgotten with those before them that a learner was still reading at a crash', async () => {
    const life = await lifeToCheckpoint();
    const sound = await openToy(copyOf(life.disk), OPTIONS);
    life.disk = copyOf(life.disk);
    const names = inOrder(life.disk.logFiles.names());
    await life.disk.logFiles.remove(names[1] ?? '');
    const { recovered, storage } = await openToy(life.disk, OPTIONS);
    expect(recovered.damaged).toBe(null);
    expect(recovered.suffix).toEqual(sound.recovered.suffix);
    expect(storage.base).toBeGreaterThan(sound.storage.base);
    expect(await life.disk.logFiles.list()).not.toContain(names[0]);
    const last = life.proposals.filter(({ zxid }) => zxid > storage.base);
    expect(await zxidsIn({ ...sound, storage })).toEqual(last.map(({ zxid }) => zxid));
  });
});

describe('a start that reads segments in front of the one that holds the checkpoint', () => {
  /** The segments of a sound log, oldest first, none of which says what the others hold. */
  async function withoutSummaries(): Promise<{ life: Life; names: readonly string[] }> {
    const life = await lifeToCheckpoint();
    const names = inOrder(life.disk.logFiles.names());
    for (const name of names) forget(life.disk, name);
    return { life, names };
  }

  function flipIn(disk: Life['disk'], name: string): void {
    disk.logFiles.tamper(name, (bytes) => spoils.flip(bytes, RECORDS_START + 17));
  }

  it('destroys them when one is damaged, says why, and the member keeps its vote', async () => {
    const { life, names } = await withoutSummaries();
    const sound = await openToy(copyOf(life.disk), OPTIONS);
    life.disk = copyOf(life.disk);
    flipIn(life.disk, names[1] ?? '');
    const { recovered, storage } = await openToy(life.disk, OPTIONS);
    expect(recovered.damaged).toBe(null);
    expect(recovered.unreadableLog).toContain(names[1]);
    expect(recovered.suffix).toEqual(sound.recovered.suffix);
    expect(storage.base).toBeGreaterThan(sound.storage.base);
    expect(storage.base).toBeLessThan(recovered.checkpointZxid);
    const left = await life.disk.logFiles.list();
    expect(left).not.toContain(names[0]);
    expect(left).not.toContain(names[1]);
    const kept = life.proposals.filter(({ zxid }) => zxid > storage.base);
    expect(await zxidsIn({ ...sound, storage })).toEqual(kept.map(({ zxid }) => zxid));
  });

  it('is damaged, and destroys nothing, when the segment of the checkpoint is', async () => {
    const { life } = await withoutSummaries();
    const { storage } = await openToy(copyOf(life.disk), OPTIONS);
    const checkpoint = storage.checkpointZxid;
    life.disk = copyOf(life.disk);
    const names = inOrder(life.disk.logFiles.names());
    const holder = names.findLast((name) => {
      const header = decodeHeader(life.disk.logFiles.bytesOf(name).subarray(0, RECORDS_START));
      return header !== null && header.base <= checkpoint;
    });
    flipIn(life.disk, holder ?? '');
    const { recovered } = await openToy(life.disk, OPTIONS);
    expect(recovered.damaged).toContain(holder);
    expect(inOrder(await life.disk.logFiles.list())).toEqual(names);
  });
});
