/**
 * A member's disk: its tree and its log in memory, every change of which takes time and may fail.
 *
 * It outlives the member's processes. Each change and each read completes in an action of its own,
 * so that a process may die before any of them, or with one in flight. It performs the damage that
 * faults request, and never decides when.
 */
import type { Zxid } from '@rookery/protocol';
import {
  defaultReserve,
  MemoryLogDirectory,
  MemoryStore,
  type Space,
  StorageFault,
  type Timers,
} from '../../simulated.js';
import type { Random } from '../random.js';
import { currentEpochIn, forgeHistory } from './forged-history.js';
import { type FlippedLast, StoredLog } from './stored-log.js';

export interface DiskOptions {
  /** The duration of a synced change in ms; others take a tenth of it. */
  readonly syncMinMs: number;
  readonly syncMaxMs: number;
}

/** Fields of a directory's meta record: see server/src/driver/known-starts.ts. */
export interface StartOnDisk {
  readonly incarnation: string;
  readonly count: number;
}

const TOTAL_BYTES = 100e9;
const RESERVE_BYTES = defaultReserve(TOTAL_BYTES);
const ENOUGH_BYTES = TOTAL_BYTES / 2;

const LOSES_NOTHING = (): number => 1 - Number.EPSILON;

type Dice = readonly [number, number, number];

export class SimulatedDisk {
  readonly #options: DiskOptions;
  readonly #random: Random;
  /** The process must end now, at a change that `dieAtChange` has named. */
  readonly #onDeath: (when: 'before' | 'after') => void;
  /** Belongs to the process that uses the disk. */
  #timers: Timers | null = null;
  #tree: MemoryStore;
  #log: MemoryLogDirectory;
  #slowByMs = 0;
  #isFull = false;
  #freeBytes = ENOUGH_BYTES;
  #failsNextSync = false;
  /** The number of the write that will find no space; 0 for none. */
  #writesToFailure = 0;
  #hasFailed = false;
  #copy: { readonly tree: MemoryStore; readonly log: MemoryLogDirectory } | null = null;
  #death: { count: number; readonly when: 'before' | 'after' } | null = null;

  constructor(options: DiskOptions, random: Random, onDeath: (when: 'before' | 'after') => void) {
    this.#options = options;
    this.#random = random;
    this.#onDeath = onDeath;
    this.#tree = new MemoryStore(this.#gates());
    this.#log = new MemoryLogDirectory(this.#gates());
  }

  get tree(): MemoryStore {
    return this.#tree;
  }
  get log(): MemoryLogDirectory {
    return this.#log;
  }

  /** True if a write of the process that runs now was made to fail. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** A process begins to use it. */
  attach(timers: Timers): void {
    this.#timers = timers;
    this.#hasFailed = false;
    this.#death = null;
  }

  /** The process is gone; with `keepsAll` the operating system is not, so nothing is lost. */
  detach(how: { readonly inFlight: boolean; readonly keepsAll: boolean }): void {
    if (how.inFlight) {
      this.#log.landUnderWay();
      this.#tree.landUnderWay();
    }
    const dice = how.keepsAll ? LOSES_NOTHING : () => this.#random.next();
    this.#tree = this.#tree.crash(dice);
    this.#log = this.#log.crash(dice);
    this.#timers = null;
    this.#failsNextSync = false;
    this.#writesToFailure = 0;
    this.#death = null;
  }

  /** Only for a disk that no process uses. */
  keepCopy(): void {
    this.#copy = { tree: this.#tree, log: this.#log };
    this.#tree = this.#tree.crash(LOSES_NOTHING);
    this.#log = this.#log.crash(LOSES_NOTHING);
  }

  /** False if nothing was kept, or if the directory was emptied since: nobody notices that. */
  restoreCopy(): boolean {
    if (this.#copy === null || !isSameDirectory(this.#copy.tree, this.#tree)) return false;
    this.#tree = this.#copy.tree.crash(LOSES_NOTHING);
    this.#log = this.#copy.log.crash(LOSES_NOTHING);
    this.#copy = null;
    return true;
  }

  /** The start of its directory that the disk records; null for none. */
  get start(): StartOnDisk | null {
    return startsIn(this.#tree)[0] ?? null;
  }

  /** Whether both meta records contain this start of that member. */
  knowsStart(peer: number, { incarnation, count }: StartOnDisk): boolean {
    const told = `{"peer":${peer},"incarnation":"${incarnation}","count":${count},`;
    const records = metaRecords(this.#tree);
    return records.length > 0 && records.every((text) => text.includes(told));
  }

  wipe(): void {
    this.#tree = new MemoryStore(this.#gates());
    this.#log = new MemoryLogDirectory(this.#gates());
  }

  slowBy(ms: number): void {
    this.#slowByMs = ms;
  }
  /** What is free, and how large the disk is, as the member measures it. */
  get space(): Space {
    return { freeBytes: this.#freeBytes, totalBytes: TOTAL_BYTES };
  }
  leaveRoom(shareOfReserve: number | null): void {
    this.#freeBytes = shareOfReserve === null ? ENOUGH_BYTES : shareOfReserve * RESERVE_BYTES;
  }
  setFull(full: boolean): void {
    this.#isFull = full;
  }
  failNextSync(): void {
    this.#failsNextSync = true;
  }
  failWrite(count: number): void {
    this.#writesToFailure = count;
  }
  dieAtChange(count: number, when: 'before' | 'after'): void {
    this.#death = { count, when };
  }

  /**
   * Changes one bit of one record of the tree or the log, or makes sectors of the log or the header
   * of a file read as zeros; but not at the end of the log, whose loss looks like an incomplete
   * write.
   */
  flipBit([whichStore, whichRecord, whichBit]: Dice): boolean {
    if (whichStore > 0.85) return this.#storedLog().loseHeader(whichRecord);
    if (whichStore > 0.7) return this.#storedLog().loseSectors(whichRecord, whichBit);
    if (whichStore >= 0.5) return this.#storedLog().flipBit(whichRecord, whichBit);
    const records = recordsOf(this.#tree);
    return flipBitOf(this.#tree, records[Math.floor(whichRecord * records.length)], whichBit);
  }

  /** Changes one bit of the newest write of the log; see StoredLog. */
  flipLast([whichRecord, whichBit]: readonly [number, number]): FlippedLast | null {
    return this.#storedLog().flipLast(whichRecord, whichBit);
  }

  /** The same on a disk in use, but never in the meta record, which no running process reads. */
  decay([whichStore, whichRecord, whichBit]: Dice): boolean {
    if (whichStore >= 0.5) return this.flipBit([whichStore, whichRecord, whichBit]);
    const records = recordsOf(this.#tree).filter(({ name }) => name !== 'meta');
    return flipBitOf(this.#tree, records[Math.floor(whichRecord * records.length)], whichBit);
  }

  /**
   * Removes the newest part of the log: what remains is what an older copy of it contains. False
   * where nothing on the disk shows that it was longer: a crash leaves a log like that.
   */
  cutLog(how: number): boolean {
    return this.#storedLog().cut(how);
  }

  /** See forged-history.ts. False for a disk without any history. */
  forgeHistory(dice: readonly [number, number]): boolean {
    return forgeHistory(this.#tree, this.#storedLog(), dice);
  }

  /** The epoch that it has durably entered. */
  get currentEpoch(): number {
    return currentEpochIn(this.#tree);
  }

  /** The last proposal in the log of a disk that no process uses. */
  get last(): Zxid {
    return this.#storedLog().last;
  }

  /** Files that a snapshot has replaced may still exist, and belong to no log any more. */
  #storedLog(): StoredLog {
    const smallest = (name: string) => Math.min(...numbersInMeta(this.#tree, name));
    return new StoredLog(this.#log, {
      generation: numbersInMeta(this.#tree, 'generation')[0] ?? -1,
      logSeq: smallest('logSeq'),
      recordedZxid: smallest('recordedZxid'),
    });
  }

  #gates() {
    return {
      gate: ({ sync }: { readonly sync: boolean }) => this.#change(sync),
      readGate: () => this.#waits(this.#slowByMs / 2),
    };
  }

  #change(sync: boolean): Promise<void> {
    if (this.#death !== null && --this.#death.count <= 0) {
      const { when } = this.#death;
      this.#death = null;
      this.#onDeath(when);
      return new Promise(() => undefined);
    }
    const { syncMinMs, syncMaxMs } = this.#options;
    const takesMs = this.#random.between(syncMinMs, syncMaxMs) / (sync ? 1 : 10);
    return this.#waits(takesMs + this.#slowByMs).then(() => {
      const isLast = this.#writesToFailure > 0 && --this.#writesToFailure === 0;
      if (this.#isFull || isLast) this.#fail('disk full');
      if (!sync || !this.#failsNextSync) return;
      this.#failsNextSync = false;
      this.#fail('input/output');
    });
  }

  /** Never resolves for a process that is dead by then. */
  #waits(ms: number): Promise<void> {
    const timers = this.#timers;
    if (timers === null) return new Promise(() => undefined);
    return new Promise((resolve) => {
      timers.after(ms, resolve);
    });
  }

  #fail(reason: 'disk full' | 'input/output'): never {
    this.#hasFailed = true;
    throw new StorageFault(reason, `simulated: ${reason}`, null);
  }
}

interface TreeRecord {
  readonly name: string;
  readonly key: Uint8Array;
}

/** False for a record that is empty or does not exist. */
function flipBitOf(store: MemoryStore, record: TreeRecord | undefined, whichBit: number): boolean {
  let flipped = false;
  if (record === undefined) return flipped;
  store.tamper(record.name, (entries) => {
    const text = Buffer.from(record.key).toString('latin1');
    const value = entries.get(text);
    if (value === undefined || value.length === 0) return;
    const bit = Math.floor(whichBit * value.length * 8);
    const copy = Uint8Array.from(value);
    copy[bit >>> 3] = (copy[bit >>> 3] ?? 0) ^ (1 << (bit & 7));
    entries.set(text, copy);
    flipped = true;
  });
  return flipped;
}

function recordsOf(store: MemoryStore): TreeRecord[] {
  return store.names().flatMap((name) => store.keysOf(name).map((key) => ({ name, key })));
}

/**
 * The content of both records of meta, see server/src/storage/meta.ts; -1 for one that lacks it.
 */
function numbersInMeta(tree: MemoryStore, name: string): readonly number[] {
  const found = metaRecords(tree).map((text) => {
    const [, digits] = new RegExp(`"${name}":(\\d+)`).exec(text) ?? [];
    return digits === undefined ? -1 : Number(digits);
  });
  return found.length > 0 ? found : [-1];
}

/** In both records. */
function startsIn(tree: MemoryStore): readonly StartOnDisk[] {
  return metaRecords(tree).flatMap((text) => {
    const [, incarnation, count] =
      /"start":\{"incarnation":"([^"]*)","count":(\d+)/.exec(text) ?? [];
    return incarnation === undefined ? [] : [{ incarnation, count: Number(count) }];
  });
}

/** Whether it was neither emptied nor given up between the two. */
function isSameDirectory(earlier: MemoryStore, later: MemoryStore): boolean {
  const starts = [...startsIn(earlier), ...startsIn(later)];
  return new Set(starts.map(({ incarnation }) => incarnation)).size <= 1;
}

/** Both records, as text; none for a disk that was never used. */
function metaRecords(tree: MemoryStore): readonly string[] {
  if (!tree.names().includes('meta')) return [];
  const texts: string[] = [];
  tree.tamper('meta', (entries) => {
    for (const sealed of entries.values()) texts.push(Buffer.from(sealed).toString('latin1'));
  });
  return texts;
}
