/**
 * KeyValueStore in memory, for tests and the simulator: deterministic, and it can crash.
 *
 * Nothing here takes time but microtasks and what `gate` and `readGate` wait for. `crash` gives the
 * store that the next process finds: of each database a suffix of its unsynced batches is lost,
 * chosen by `random`. `failAt` makes the process die at its n-th change, before or after it reached
 * the disk.
 */
import { assert } from '@rookery/protocol';
import type { Founding } from '../../storage/data-directory.js';
import { StorageFault } from '../../storage/errors.js';
import {
  type BatchOptions,
  type Entry,
  type KeyRange,
  type KeyValueDatabase,
  type KeyValueOperation,
  type KeyValueSnapshot,
  type KeyValueStore,
  keyFromText,
  keyText,
} from '../../storage/key-value.js';

/** What a disk in memory waits for. */
export interface DiskGates {
  /** Awaited before every change takes effect, e.g. a slow disk of the simulator. */
  readonly gate?: (change: { readonly name: string; readonly sync: boolean }) => Promise<void>;
  /** Awaited before every reading. */
  readonly readGate?: () => Promise<void>;
}

/** Entries of one reading: so few that a small tree takes several. */
const ITERATE_COUNT = 8;

export class MemoryStore implements KeyValueStore {
  readonly #gates: DiskGates;
  readonly #databases = new Map<string, MemoryDisk>();
  #founding: Founding = 'incomplete';
  #dead = false;
  #changes = 0;
  /** Begun and not yet done: what `gate` holds back. */
  readonly #underWay = new Set<() => void>();
  #failure: { readonly at: number; readonly afterwards: boolean } | null = null;

  constructor(gates: DiskGates = {}) {
    this.#gates = gates;
  }

  /** Batches, creations, clears, destructions and marks so far. */
  get changeCount(): number {
    return this.#changes;
  }

  /** The change with this number (from 1) fails, and so does everything after it. */
  failAt(at: number, when: 'before' | 'after'): void {
    this.#failure = { at, afterwards: when === 'after' };
  }

  /** Ends this store; what the disk then holds. `random` gives numbers in [0, 1). */
  crash(random: () => number, gates: DiskGates = this.#gates): MemoryStore {
    this.#dead = true;
    const next = new MemoryStore(gates);
    next.#founding = this.#founding;
    for (const name of [...this.#databases.keys()].sort()) {
      const disk = this.#databases.get(name);
      if (disk !== undefined) next.#databases.set(name, disk.survive(random));
    }
    return next;
  }

  /** Right before a crash: whatever was under way reaches the disk all the same. */
  landUnderWay(): void {
    for (const apply of this.#underWay) apply();
    this.#underWay.clear();
  }

  /** The names of its databases. Like `keys`, for a store that is not in use. */
  names(): readonly string[] {
    return [...this.#databases.keys()].sort();
  }
  keysOf(name: string): readonly Uint8Array[] {
    return (
      this.#databases
        .get(name)
        ?.entries()
        .map(([key]) => key) ?? []
    );
  }

  /** For tests of damage: changes what is stored, behind everyone's back. */
  tamper(name: string, change: (entries: Map<string, Uint8Array>) => void): void {
    const disk = this.#databases.get(name);
    assert(disk !== undefined, `${name} exists`);
    disk.tamper(change);
  }

  /** For tests: what a lost mark, or one that an operator wrote, says of the founding. */
  setFounding(founding: Founding): void {
    this.#founding = founding;
  }

  async founding(): Promise<Founding> {
    this.check();
    await this.reading();
    return this.#founding;
  }

  async completeFounding(): Promise<void> {
    await this.change('member', true, () => {
      this.#founding = 'complete';
    });
  }

  async list(): Promise<readonly string[]> {
    this.check();
    return [...this.#databases.keys()].sort();
  }

  async open(name: string): Promise<KeyValueDatabase> {
    this.check();
    await this.reading();
    let disk = this.#databases.get(name);
    if (disk === undefined) {
      disk = new MemoryDisk();
      const created = disk;
      await this.change(name, true, () => this.#databases.set(name, created));
    }
    assert(!disk.opened, `${name} is opened once at a time`);
    disk.opened = true;
    return new MemoryDatabase(disk, name, this);
  }

  async destroy(name: string): Promise<void> {
    assert(this.#databases.get(name)?.opened !== true, `${name} is closed before it is destroyed`);
    await this.change(name, true, () => this.#databases.delete(name));
  }

  async close(): Promise<void> {
    for (const disk of this.#databases.values()) disk.opened = false;
    this.#dead = true;
  }

  /** Used by the databases only. */
  async change(name: string, sync: boolean, apply: () => void): Promise<void> {
    this.check();
    if (this.#gates.gate !== undefined) {
      this.#underWay.add(apply);
      try {
        await this.#gates.gate({ name, sync });
      } finally {
        this.#underWay.delete(apply);
      }
    }
    this.check();
    this.#changes += 1;
    const failing = this.#failure?.at === this.#changes ? this.#failure : null;
    if (failing !== null) this.#dead = true;
    if (failing === null || failing.afterwards) apply();
    if (failing !== null) this.check();
  }

  /** Used by the databases only. */
  async reading(): Promise<void> {
    await this.#gates.readGate?.();
    this.check();
  }

  check(): void {
    if (this.#dead) throw new StorageFault('input/output', 'the store has crashed', null);
  }
}

class MemoryDatabase implements KeyValueDatabase {
  readonly #disk: MemoryDisk;
  readonly #name: string;
  readonly #store: MemoryStore;

  constructor(disk: MemoryDisk, name: string, store: MemoryStore) {
    this.#disk = disk;
    this.#name = name;
    this.#store = store;
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    this.#check();
    await this.#store.reading();
    return this.#disk.get(key);
  }

  async batch(operations: readonly KeyValueOperation[], options: BatchOptions): Promise<void> {
    this.#check();
    const copies = operations.map(copyOperation);
    await this.#store.change(this.#name, options.sync, () => {
      this.#disk.write(copies, options.sync);
    });
  }

  iterate(range: KeyRange): AsyncIterable<readonly Entry[]> {
    this.#check();
    return this.#select(this.#disk.entries(), range);
  }

  snapshot(): KeyValueSnapshot {
    this.#check();
    const entries = this.#disk.entries();
    return {
      iterate: (range) => this.#select(entries, range),
      close: async () => {},
    };
  }

  /** Nothing here is a file. */
  async *checkFiles(): AsyncGenerator<number> {
    this.#check();
    await this.#store.reading();
    yield 0;
  }

  async close(): Promise<void> {
    this.#disk.opened = false;
  }

  #check(): void {
    this.#store.check();
    assert(this.#disk.opened, `${this.#name} is open while it is used`);
  }

  async *#select(entries: readonly Entry[], range: KeyRange): AsyncGenerator<readonly Entry[]> {
    const limit = range.limit ?? Number.POSITIVE_INFINITY;
    const selected = entries.filter(([key]) => inRange(key, range)).slice(0, limit);
    for (let i = 0; i < selected.length; i += ITERATE_COUNT) {
      await this.#store.reading();
      this.#check();
      yield selected.slice(i, i + ITERATE_COUNT);
    }
  }
}

/** The contents of one database and what of them would survive a loss of power. */
class MemoryDisk {
  opened = false;
  readonly #synced = new Map<string, Uint8Array>();
  readonly #current = new Map<string, Uint8Array>();
  #unsynced: (readonly KeyValueOperation[])[] = [];
  #sorted: readonly Entry[] | null = null;

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#current.get(keyText(key));
  }

  write(operations: readonly KeyValueOperation[], sync: boolean): void {
    applyTo(this.#current, operations);
    this.#sorted = null;
    this.#unsynced.push(operations);
    if (!sync) return;
    for (const batch of this.#unsynced) applyTo(this.#synced, batch);
    this.#unsynced = [];
  }

  entries(): readonly Entry[] {
    this.#sorted ??= [...this.#current.keys()]
      .sort()
      .map((text): Entry => [keyFromText(text), this.#current.get(text) ?? new Uint8Array(0)]);
    return this.#sorted;
  }

  survive(random: () => number): MemoryDisk {
    const next = new MemoryDisk();
    for (const [key, value] of this.#synced) next.#synced.set(key, value);
    const kept = Math.floor(random() * (this.#unsynced.length + 1));
    for (const batch of this.#unsynced.slice(0, kept)) applyTo(next.#synced, batch);
    for (const [key, value] of next.#synced) next.#current.set(key, value);
    return next;
  }

  tamper(change: (entries: Map<string, Uint8Array>) => void): void {
    change(this.#synced);
    this.#current.clear();
    for (const [key, value] of this.#synced) this.#current.set(key, value);
    this.#sorted = null;
  }
}

function applyTo(target: Map<string, Uint8Array>, operations: readonly KeyValueOperation[]): void {
  for (const operation of operations) {
    if (operation.type === 'put') target.set(keyText(operation.key), operation.value);
    else target.delete(keyText(operation.key));
  }
}

function copyOperation(operation: KeyValueOperation): KeyValueOperation {
  const key = Uint8Array.from(operation.key);
  if (operation.type === 'del') return { type: 'del', key };
  return { type: 'put', key, value: Uint8Array.from(operation.value) };
}

function inRange(key: Uint8Array, range: KeyRange): boolean {
  const text = keyText(key);
  if (range.gt !== undefined && text <= keyText(range.gt)) return false;
  return range.lt === undefined || text < keyText(range.lt);
}
