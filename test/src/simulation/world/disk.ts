/**
 * A member's disk: two stores in memory whose every change takes time and may go wrong.
 *
 * Outlives the member's processes. Each change and each reading completes in an action of its own,
 * so that a process may die before any of them, or with one under way. Owns the damage that faults
 * do; never decides when.
 */
import { MemoryStore, StorageFault, type Timers } from '../../simulated.js';
import type { Random } from '../random.js';

export interface DiskOptions {
  /** How long a synced change takes, ms; others take a tenth of it. */
  readonly syncMinMs: number;
  readonly syncMaxMs: number;
}

/** Of a directory, by its meta record: see server/src/driver/known-starts.ts. */
export interface StartOnDisk {
  readonly incarnation: string;
  readonly count: number;
}

const LOSES_NOTHING = (): number => 1 - Number.EPSILON;

type Dice = readonly [number, number, number];

export class SimulatedDisk {
  readonly #options: DiskOptions;
  readonly #random: Random;
  /** The process at a change that `dieAtChange` has named must end now. */
  readonly #onDeath: (when: 'before' | 'after') => void;
  /** Of the process that uses the disk. */
  #timers: Timers | null = null;
  #tree: MemoryStore;
  #log: MemoryStore;
  #slowByMs = 0;
  #isFull = false;
  #failsNextSync = false;
  #hasFailed = false;
  #copy: { readonly tree: MemoryStore; readonly log: MemoryStore } | null = null;
  #death: { count: number; readonly when: 'before' | 'after' } | null = null;

  constructor(options: DiskOptions, random: Random, onDeath: (when: 'before' | 'after') => void) {
    this.#options = options;
    this.#random = random;
    this.#onDeath = onDeath;
    this.#tree = this.#newStore();
    this.#log = this.#newStore();
  }

  get tree(): MemoryStore {
    return this.#tree;
  }
  get log(): MemoryStore {
    return this.#log;
  }

  /** True when a write of the process that runs now was made to fail. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** A process begins to use it. */
  attach(timers: Timers): void {
    this.#timers = timers;
    this.#hasFailed = false;
    this.#death = null;
  }

  /** The process is gone; `keepsAll`: the operating system was not, so nothing is lost. */
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
    this.#death = null;
  }

  /** Of a disk that nobody uses. */
  keepCopy(): void {
    this.#copy = { tree: this.#tree, log: this.#log };
    this.#tree = this.#tree.crash(LOSES_NOTHING);
    this.#log = this.#log.crash(LOSES_NOTHING);
  }

  /** False if nothing was kept. */
  restoreCopy(): boolean {
    if (this.#copy === null) return false;
    this.#tree = this.#copy.tree.crash(LOSES_NOTHING);
    this.#log = this.#copy.log.crash(LOSES_NOTHING);
    this.#copy = null;
    return true;
  }

  /** Which start of its directory the disk tells of; null for none. */
  get start(): StartOnDisk | null {
    const found = metaRecords(this.#tree).map((text) => {
      const [, incarnation, count] =
        /"start":\{"incarnation":"([^"]*)","count":(\d+)/.exec(text) ?? [];
      return incarnation === undefined ? null : { incarnation, count: Number(count) };
    });
    return found[0] ?? null;
  }

  /** Whether both meta records tell of this start of that member. */
  knowsStart(peer: number, { incarnation, count }: StartOnDisk): boolean {
    const told = `{"peer":${peer},"incarnation":"${incarnation}","count":${count},`;
    const records = metaRecords(this.#tree);
    return records.length > 0 && records.every((text) => text.includes(told));
  }

  wipe(): void {
    this.#tree = this.#newStore();
    this.#log = this.#newStore();
  }

  slowBy(ms: number): void {
    this.#slowByMs = ms;
  }
  setFull(full: boolean): void {
    this.#isFull = full;
  }
  failNextSync(): void {
    this.#failsNextSync = true;
  }
  dieAtChange(count: number, when: 'before' | 'after'): void {
    this.#death = { count, when };
  }

  /**
   * One bit of one record, but not of the end of the log, whose loss looks like a torn write. Some
   * records of the log are gone then: LevelDB skips a damaged one in silence.
   */
  flipBit([whichStore, whichRecord, whichBit]: Dice): boolean {
    if (whichStore > 0.75) return loseGroup(this.#log, whichRecord);
    const inTree = whichStore < 0.5;
    const records = inTree ? recordsOf(this.#tree) : recordsBeforeEnd(this.#log);
    const record = records[Math.floor(whichRecord * records.length)];
    if (record === undefined) return false;
    let flipped = false;
    (inTree ? this.#tree : this.#log).tamper(record.name, (entries) => {
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

  /**
   * The newest part of the log is gone, with the mark of its end: what an older copy of it holds.
   * False where nothing on the disk tells that it was longer: that is how a crash leaves a log.
   */
  cutLog(how: number): boolean {
    const recorded = recordedZxid(this.#tree);
    // What a snapshot has replaced may still be there, and is nobody's log any more.
    const inUse = `log-${generation(this.#tree)}-`;
    const groups = groupsOf(this.#log).filter(({ name }) => name.startsWith(inUse));
    const known = groups.findLastIndex(({ key }) => keyedZxid(key) <= recorded);
    if (known < 0) return false;
    for (const { name, key } of groups.slice(Math.floor(how * (known + 1)))) {
      this.#log.tamper(name, (entries) => {
        entries.delete(Buffer.from(key).toString('latin1'));
        entries.delete(END_KEY);
      });
    }
    return true;
  }

  #newStore(): MemoryStore {
    return new MemoryStore({
      gate: ({ sync }) => this.#change(sync),
      readGate: () => this.#waits(this.#slowByMs / 2),
    });
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
      if (this.#isFull) this.#fail('disk full');
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

interface StoredRecord {
  readonly name: string;
  readonly key: Uint8Array;
}

function recordsOf(store: MemoryStore): StoredRecord[] {
  return store.names().flatMap((name) => store.keysOf(name).map((key) => ({ name, key })));
}

/** Keys of groups are 8 bytes, those of marks are not: see server/src/storage/segment.ts. */
const GROUP_KEY_BYTES = 8;
/** Of the mark of a segment's end, as text of one byte a character. */
const END_KEY = '\xffe';

/**
 * The last group is proved to have been there by the mark of the log's end, where it is behind it.
 */
function loseGroup(log: MemoryStore, which: number): boolean {
  const groups = groupsOf(log);
  const end = groups.at(-1);
  if (end !== undefined && markedEnd(log, end.name) < keyedZxid(end.key)) groups.pop();
  const lost = groups[Math.floor(which * groups.length)];
  if (lost === undefined) return false;
  log.tamper(lost.name, (entries) => entries.delete(Buffer.from(lost.key).toString('latin1')));
  return true;
}

/** In the order in which they were written. */
function groupsOf(log: MemoryStore): StoredRecord[] {
  const segments = log.names().toSorted((a, b) => sequenceOf(a) - sequenceOf(b));
  return segments.flatMap((name) =>
    log.keysOf(name).flatMap((key) => (key.length === GROUP_KEY_BYTES ? [{ name, key }] : [])),
  );
}

/** Where both records of meta say that the log has been: see server/src/storage/meta.ts. */
function recordedZxid(tree: MemoryStore): number {
  const recorded = metaRecords(tree).map((text) => {
    const [, digits = '0'] = /"recordedZxid":(\d+)/.exec(text) ?? [];
    return Number(digits);
  });
  return recorded.length > 0 ? Math.min(...recorded) : 0;
}

/** Of the tree and the log that are in use. */
function generation(tree: MemoryStore): number {
  const [text = ''] = metaRecords(tree);
  const [, digits = '0'] = /"generation":(\d+)/.exec(text) ?? [];
  return Number(digits);
}

/** Both, as text; none of a disk that was never used. */
function metaRecords(tree: MemoryStore): readonly string[] {
  if (!tree.names().includes('meta')) return [];
  const texts: string[] = [];
  tree.tamper('meta', (entries) => {
    for (const sealed of entries.values()) texts.push(Buffer.from(sealed).toString('latin1'));
  });
  return texts;
}

/** Of a segment: the zxid up to which its mark vouches for it, 0 without one. */
function markedEnd(log: MemoryStore, name: string): number {
  let last = 0;
  log.tamper(name, (entries) => {
    const sealed = entries.get(END_KEY);
    if (sealed === undefined) return;
    const [, digits] = /"last":(\d+)/.exec(Buffer.from(sealed).toString('latin1')) ?? [];
    last = Number(digits ?? 0);
  });
  return last;
}

function keyedZxid(key: Uint8Array): number {
  return Number(Buffer.from(key).readBigUInt64BE());
}

/** What lies before the last group of the log; in the segment of that one, its header as well. */
function recordsBeforeEnd(log: MemoryStore): StoredRecord[] {
  const segments = log.names().toSorted((a, b) => sequenceOf(a) - sequenceOf(b));
  const all = segments.flatMap((name) => log.keysOf(name).map((key) => ({ name, key })));
  const last = all.findLastIndex(({ key }) => key.length === GROUP_KEY_BYTES);
  return all.slice(0, Math.max(0, last));
}

/** `log-<generation>-<seq>`: the order in which they were begun. */
function sequenceOf(name: string): number {
  const [, generation = '0', sequence = '0'] = name.split('-');
  return Number(generation) * 2 ** 26 + Number(sequence);
}
