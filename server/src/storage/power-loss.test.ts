/**
 * Goal: wherever the power fails, the next process finds everything of the log that was told to be
 * durable, nothing that never was, and never takes it for damage. Method: a life of a storage on
 * real files, of several processes, is recorded change by change; at each moment of it the disk is
 * made as it may be found then, opened, checked, written on, and opened again. The tree's store is
 * in memory, and fails at the same moments.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeZxid, type Proposal, ProposalBatch, type Zxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../simulated/seeded-random.js';
import {
  type Chance,
  DiskHistory,
  homeOn,
  type MemoryDisk,
} from '../simulated/storage/memory-disk.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { proposalsAfter, proposalsIn, TINY, ToyState } from '../simulated/storage/toy-state.js';
import { WatchedDisk } from '../simulated/storage/watched-disk.js';
import { changeWithChecksum } from './checkpoint.js';
import type { StorageOptions } from './contract.js';
import { FileLogDirectory } from './file-log.js';
import type { LogDirectory } from './key-value.js';
import { SYSTEM_DISK } from './log-disk.js';
import { OwnedDirectory } from './owned-directory.js';
import { Storage } from './storage.js';

const OPTIONS: StorageOptions = { ...TINY, segmentBytesMax: 1500, recordBytesMax: 400 };
const PROCESSES = 3;
const OPERATIONS = 14;

type Entries = ReadonlyMap<string, Uint8Array>;
type TreeCopy = ReadonlyMap<string, Entries>;

/** What a disk that is found at some moment must hold. */
interface Legal {
  /** The proposals that the log has acknowledged. */
  readonly proposals: readonly Proposal[];
  /** What the log becomes by the operation under way. */
  readonly next: readonly Proposal[];
  /** The highest epoch that was ever accepted, or about to be. */
  readonly epoch: number;
}

interface Moment {
  readonly title: string;
  readonly legal: Legal;
  readonly tree: TreeCopy;
  readonly isCertain: boolean;
  image(chance: Chance): MemoryDisk;
}

class Life {
  readonly random: () => number;
  readonly history = new DiskHistory();
  readonly disk: WatchedDisk;
  readonly path: string;
  readonly #onMoment: (moment: Moment) => void;
  readonly #seed: number;
  #moments = 0;
  #treeStore = new MemoryStore({ gate: async () => this.#look() });
  #treeCopy: TreeCopy = new Map();
  #copiedAt = -1;
  #proposals: readonly Proposal[] = [];
  #next: readonly Proposal[] = [];
  #epoch = 0;
  #counter = 0;
  #committed = 0;

  constructor(seed: number, path: string, onMoment: (moment: Moment) => void) {
    this.#seed = seed;
    this.random = seededRandom(seed);
    this.path = path;
    this.#onMoment = onMoment;
    const onChange = this.history.onChange(() => this.#look());
    this.disk = new WatchedDisk(SYSTEM_DISK, onChange);
  }

  async run(): Promise<void> {
    for (let count = 0; count < PROCESSES; count++) {
      const home = await OwnedDirectory.open(this.path, 1, this.disk);
      const logFiles = await FileLogDirectory.open(home);
      const { storage, state } = await opened(this.#treeStore, logFiles, this.random);
      for (const proposal of this.#proposals.slice(0, this.#committed)) {
        if (proposal.zxid > storage.checkpointZxid) state.apply(proposal);
      }
      await this.#beginEpoch(storage);
      for (let i = 0; i < OPERATIONS; i++) await this.#operate(storage, state);
      await storage.close();
      this.#treeStore = this.#treeStore.crash(() => 1);
      this.#copiedAt = -1;
    }
  }

  async #operate(storage: Storage, state: ToyState): Promise<void> {
    const choice = this.random();
    const { length } = this.#proposals;
    if (choice < 0.12 && length > this.#committed) {
      const kept = this.#committed + Math.floor(this.random() * (length - this.#committed));
      this.#next = this.#proposals.slice(0, kept);
      await storage.truncate(this.#next.at(-1)?.zxid ?? 0);
      this.#proposals = this.#next;
      await this.#beginEpoch(storage);
    } else if (choice < 0.35 && state.lastZxid > storage.checkpointZxid) {
      storage.beginCheckpoint(state.lastZxid);
      const frozen = state.freeze();
      await storage.writeCheckpoint(
        state.captureSome(1000, 1 << 20).map(changeWithChecksum),
        frozen,
      );
      storage.purge(0);
    } else {
      await this.#append(storage, state);
    }
  }

  async #append(storage: Storage, state: ToyState): Promise<void> {
    const count = 1 + Math.floor(this.random() * 12);
    const at = { epoch: this.#epoch, counter: this.#counter + 1, count };
    this.#counter += count;
    const added = [...proposalsAfter(storage.last, at)].map((proposal) => {
      // Some take several sectors, and some a record of their own.
      const padding = this.random() < 0.2 ? 'x'.repeat(Math.floor(this.random() * 900)) : '';
      return { ...proposal, body: Buffer.from(`k${at.counter % 7}=${padding}${proposal.zxid}`) };
    });
    this.#next = [...this.#proposals, ...added];
    const cut = Math.floor(this.random() * count);
    const pieces = [added.slice(0, cut), added.slice(cut)].filter(({ length }) => length > 0);
    await storage.append(pieces.map((piece) => ProposalBatch.of(piece)));
    this.#proposals = this.#next;
    // What follows does not wait for it, and `close` does.
    if (this.random() < 0.2) void storage.markLogEnd();
    const uncommitted = this.#next.length - this.#committed;
    const committed = this.#committed + Math.floor(this.random() * (uncommitted + 1));
    for (const proposal of this.#next.slice(this.#committed, committed)) state.apply(proposal);
    this.#committed = committed;
  }

  async #beginEpoch(storage: Storage): Promise<void> {
    this.#epoch += 1;
    this.#counter = 0;
    await storage.saveEpochs({ accepted: this.#epoch, current: 0, ensembleId: '', founded: false });
  }

  #look(): void {
    this.#moments += 1;
    const title = `seed ${this.#seed}, moment ${this.#moments}`;
    const { history } = this;
    const proposals = this.#proposals;
    const next = this.#next;
    const epoch = this.#epoch;
    this.#onMoment({
      title,
      legal: { proposals, next, epoch },
      tree: this.#copyOfTree(),
      isCertain: history.isCertain,
      image: (chance) => history.image(chance),
    });
  }

  #copyOfTree(): TreeCopy {
    if (this.#copiedAt === this.#treeStore.changeCount) return this.#treeCopy;
    this.#copiedAt = this.#treeStore.changeCount;
    const copy = new Map<string, Entries>();
    for (const name of this.#treeStore.names()) {
      this.#treeStore.tamper(name, (entries) => copy.set(name, new Map(entries)));
    }
    this.#treeCopy = copy;
    return copy;
  }
}

async function opened(treeStore: MemoryStore, logFiles: LogDirectory, random: () => number) {
  const loader = new ToyState();
  const { storage, recovered } = await Storage.open({
    treeStore,
    logFiles,
    memberId: 1,
    loader,
    options: OPTIONS,
    randomBytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256)),
  });
  return { storage, recovered, state: loader };
}

async function treeFrom(copy: TreeCopy): Promise<MemoryStore> {
  const store = new MemoryStore();
  for (const [name, entries] of copy) {
    await (await store.open(name)).close();
    store.tamper(name, (now) => {
      for (const [key, value] of entries) now.set(key, value);
    });
  }
  return store;
}

function zxidsOf(proposals: readonly Proposal[]): readonly Zxid[] {
  return proposals.map((proposal) => proposal.zxid);
}

/** Opens what is left, checks it, writes on, and opens it again. */
async function expectLegal(
  { title, legal, tree }: Moment,
  disk: MemoryDisk,
  at: { readonly path: string; readonly random: () => number },
): Promise<void> {
  const open = async (store: MemoryStore) => {
    return opened(store, await FileLogDirectory.open(homeOn(disk, at.path)), at.random);
  };
  const first = await treeFrom(tree);
  const { storage, recovered } = await open(first);
  expect(recovered.damaged, title).toBe(null);
  expect(recovered.unreadableLog, title).toBe(undefined);
  const behind = (proposals: readonly Proposal[]) => {
    return zxidsOf(proposals.filter(({ zxid }) => zxid > recovered.checkpointZxid));
  };
  const [before, after] = [behind(legal.proposals), behind(legal.next)];
  const [shorter, longer] = before.length < after.length ? [before, after] : [after, before];
  const found = zxidsOf(proposalsIn(recovered.suffix));
  expect(found.length, title).toBeGreaterThanOrEqual(shorter.length);
  expect(found, title).toEqual(longer.slice(0, found.length));
  const epoch = legal.epoch + 1;
  await storage.saveEpochs({ accepted: epoch, current: 0, ensembleId: '', founded: false });
  for (const counter of [1, 4]) {
    await storage.append([proposalsAfter(storage.last, { epoch, counter, count: 3 })]);
  }
  await storage.close();
  const again = await open(first.crash(() => 1));
  expect(again.recovered.damaged, title).toBe(null);
  const added = [1, 2, 3, 4, 5, 6].map((counter) => makeZxid(epoch, counter));
  expect(zxidsOf(proposalsIn(again.recovered.suffix)), title).toEqual([...found, ...added]);
  await again.storage.close();
}

async function failAtEachMoment(seed: number): Promise<number> {
  const path = await mkdtemp(join(tmpdir(), 'rookery-power-'));
  const random = seededRandom(seed + 1000);
  const chances: readonly Chance[] = [() => false, () => true, () => random() < 0.5];
  const images: { readonly moment: Moment; readonly disk: MemoryDisk }[] = [];
  const life = new Life(seed, path, (moment) => {
    for (const chance of moment.isCertain ? chances.slice(0, 1) : chances) {
      images.push({ moment, disk: moment.image(chance) });
    }
  });
  try {
    await life.run();
    for (const { moment, disk } of images) await expectLegal(moment, disk, { path, random });
  } finally {
    await rm(path, { recursive: true });
  }
  return images.length;
}

describe('a power failure', () => {
  it.each([1, 2, 3, 4])(
    'at any moment loses nothing and leaves no damage (seed %i)',
    async (seed) => {
      expect(await failAtEachMoment(seed)).toBeGreaterThan(500);
    },
  );
});
