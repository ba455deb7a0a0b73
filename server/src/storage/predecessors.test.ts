/**
 * Goal: a start that leaves segments unread knows the same of the log as one that reads them all.
 *
 * Method: seeded lives of a log with checkpoints, purges, truncations and crashes; each start is
 * made twice, on the disk as it is and on a copy without what the segments say of each other.
 */
import type { Proposal } from '@rookery/protocol';
import { describe, expect, it, vi } from 'vitest';
import { sealChange } from './checkpoint.js';
import { HistoryGoneError } from './errors.js';
import { MemoryStore } from './memory-store.js';
import { parseSegmentName } from './segment.js';
import { type Opened, openToy, proposalsAfter, seededRandom, TINY } from './testing.js';

const PREDECESSORS_KEY = Buffer.of(0xff, 0x70).toString('latin1');
const OPTIONS = { ...TINY, retainedBytesMin: 1200 };

class Life {
  disk = { treeStore: new MemoryStore(), logStore: new MemoryStore() };
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
    for (const proposal of this.opened.recovered.suffix) this.opened.state.apply(proposal);
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
    await storage.append(proposals);
    this.proposals = [...this.proposals, ...proposals];
    if (this.random() < 0.5) return;
    for (const one of this.proposals) if (one.zxid > state.lastZxid) state.apply(one);
  }

  async checkpoint(): Promise<void> {
    const { storage, state } = this.opened;
    if (state.lastZxid <= storage.checkpointZxid) return;
    storage.beginCheckpoint(state.lastZxid);
    const frozen = state.freeze();
    await storage.writeCheckpoint(state.captureSome(1000, 1 << 20).map(sealChange), frozen);
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
    if (choice > 0.9) await this.opened.storage.markLogEnd();
    if (choice > 0.6) await this.opened.storage.idle();
  }

  crash(): void {
    const { treeStore, logStore } = this.disk;
    this.disk = { treeStore: treeStore.crash(this.random), logStore: logStore.crash(this.random) };
  }
}

/** The same bytes; `disk` itself cannot be used any more. */
function copyOf({ treeStore, logStore }: Life['disk']): Life['disk'] {
  return { treeStore: treeStore.crash(() => 0), logStore: logStore.crash(() => 0) };
}

/** On a copy, on which segments say nothing of each other. */
async function startReadingAll(disk: Life['disk'], options = OPTIONS): Promise<Opened> {
  for (const name of disk.logStore.names()) {
    disk.logStore.tamper(name, (entries) => entries.delete(PREDECESSORS_KEY));
  }
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
    zxids.push(...chunk.map(({ zxid }) => zxid));
  }
  return zxids;
}

describe('a start that does not read all of the log', () => {
  it.each([1, 2, 3, 4, 5, 6])('knows what one does that reads it, seed %d', async (seed) => {
    const life = new Life(seed);
    let unopened = 0;
    for (let start = 0; start < 12; start++) {
      await life.start();
      for (let step = 0; step < 25; step++) await life.step();
      life.crash();
      const all = await startReadingAll(copyOf(life.disk));
      life.disk = copyOf(life.disk);
      const opens = vi.spyOn(life.disk.logStore, 'open');
      const some = await openToy(life.disk, OPTIONS);
      const opened = new Set(opens.mock.calls.map(([name]) => name));
      unopened += life.disk.logStore.names().length - opened.size;
      expect(some.recovered).toEqual(all.recovered);
      expect(some.recovered.damaged).toBe(null);
      expect([some.storage.base, some.storage.last]).toEqual([all.storage.base, all.storage.last]);
      const held = life.proposals.filter(({ zxid }) => zxid > some.storage.base);
      expect(await zxidsIn(some)).toEqual(held.map(({ zxid }) => zxid));
      life.crash();
    }
    expect(unopened).toBeGreaterThan(12);
  });

  it('knows the sizes that a purge goes by', async () => {
    const life = await lifeToCheckpoint();
    const all = await startReadingAll(copyOf(life.disk), TINY);
    const some = await openToy(copyOf(life.disk), TINY);
    const { base } = some.storage;
    expect(some.storage.purge(0)).toBeGreaterThan(base);
    expect(some.storage.base).toBe(all.storage.purge(0));
  });

  it('reads all when what a segment says of the others does not fit', async () => {
    const life = await lifeToCheckpoint();
    const names = life.disk.logStore.names();
    // What another segment says: it is sealed, but it is not of those right before this one.
    const records = new Map<string, Uint8Array>();
    for (const name of names) {
      life.disk.logStore.tamper(name, (entries) => {
        const record = entries.get(PREDECESSORS_KEY);
        if (record !== undefined) records.set(name, record);
      });
    }
    const [second, , newest] = inOrder(records.keys()).slice(-3);
    life.disk.logStore.tamper(newest ?? '', (entries) => {
      entries.set(PREDECESSORS_KEY, records.get(second ?? '') ?? new Uint8Array(0));
    });
    const opens = vi.spyOn(life.disk.logStore, 'open');
    const { recovered } = await openToy(life.disk, OPTIONS);
    expect(recovered.damaged).toBe(null);
    expect(new Set(opens.mock.calls.map(([name]) => name)).size).toBe(names.length);
  });
});

const spoils = {
  flip: (entries: Map<string, Uint8Array>, key: string) => {
    const value = Uint8Array.from(entries.get(key) ?? []);
    value[value.length - 1] = (value[value.length - 1] ?? 0) ^ 1;
    entries.set(key, value);
  },
  lose: (entries: Map<string, Uint8Array>, key: string) => entries.delete(key),
  loseAll: (entries: Map<string, Uint8Array>) => entries.clear(),
};

describe('a segment that no start has read', () => {
  it.each(['flip', 'lose', 'loseAll'] as const)(
    'is given up, with all before it, when a learner needs it and it cannot be read: %s',
    async (how) => {
      const life = await lifeToCheckpoint();
      const sound = copyOf(life.disk);
      const opens = vi.spyOn(sound.logStore, 'open');
      await openToy(sound, OPTIONS);
      const opened = new Set(opens.mock.calls.map(([name]) => name));
      let givenUp = 0;
      for (const name of sound.logStore.names().filter((one) => !opened.has(one))) {
        for (const key of sound.logStore.keysOf(name)) {
          life.disk = copyOf(life.disk);
          life.disk.logStore.tamper(name, (entries) => {
            spoils[how](entries, Buffer.from(key).toString('latin1'));
          });
          const one = await openToy(life.disk, OPTIONS);
          expect(one.recovered.damaged).toBe(null);
          const { base, last } = one.storage;
          const isGone = await zxidsIn(one).then(
            () => false,
            (error: unknown) => error instanceof HistoryGoneError,
          );
          givenUp += isGone ? 1 : 0;
          expect(one.storage.base > base).toBe(isGone);
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

describe('segments that were given up', () => {
  it('are forgotten with those before them that a learner was still reading at a crash', async () => {
    const life = await lifeToCheckpoint();
    const sound = await openToy(copyOf(life.disk), OPTIONS);
    life.disk = copyOf(life.disk);
    const names = inOrder(life.disk.logStore.names());
    await life.disk.logStore.destroy(names[1] ?? '');
    const { recovered, storage } = await openToy(life.disk, OPTIONS);
    expect(recovered.damaged).toBe(null);
    expect(recovered.suffix).toEqual(sound.recovered.suffix);
    expect(storage.base).toBeGreaterThan(sound.storage.base);
    expect(await life.disk.logStore.list()).not.toContain(names[0]);
    const last = life.proposals.filter(({ zxid }) => zxid > storage.base);
    expect(await zxidsIn({ ...sound, storage })).toEqual(last.map(({ zxid }) => zxid));
  });
});

describe('a start that reads segments in front of the one that holds the checkpoint', () => {
  /** The segments of a sound log, oldest first, none of which says what the others hold. */
  async function withoutSummaries(): Promise<{ life: Life; names: readonly string[] }> {
    const life = await lifeToCheckpoint();
    const names = inOrder(life.disk.logStore.names());
    for (const name of names) {
      life.disk.logStore.tamper(name, (entries) => entries.delete(PREDECESSORS_KEY));
    }
    return { life, names };
  }

  function flipIn(disk: Life['disk'], name: string): void {
    const [key = new Uint8Array(0)] = disk.logStore.keysOf(name);
    const text = Buffer.from(key).toString('latin1');
    disk.logStore.tamper(name, (entries) => spoils.flip(entries, text));
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
    const left = await life.disk.logStore.list();
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
    const names = inOrder(life.disk.logStore.names());
    const holder = names.findLast((name) => {
      return life.disk.logStore
        .keysOf(name)
        .some((key) => key.length === 8 && Buffer.from(key).readBigUInt64BE() <= checkpoint);
    });
    flipIn(life.disk, holder ?? '');
    const { recovered } = await openToy(life.disk, OPTIONS);
    expect(recovered.damaged).toContain(holder);
    expect(inOrder(await life.disk.logStore.list())).toEqual(names);
  });
});
