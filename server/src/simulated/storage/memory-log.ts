/**
 * LogDirectory in memory, for tests and the simulator: deterministic, and it can crash.
 *
 * Nothing here takes time but microtasks and what `gate` and `readGate` wait for. `crash` gives the
 * directory that the next process finds: what was done is there, of a write that was under way any
 * of its sectors, and what a dying process left so may be lost at a later crash until somebody
 * writes it again. `failAt` makes the process die at its n-th change. A removed file's content
 * comes back behind the first CLEARED_BYTES of a file that is created later.
 */
import { assert } from '@rookery/protocol';
import { StorageFault } from '../../storage/errors.js';
import { CLEARED_BYTES, type LogDirectory, type LogFile } from '../../storage/key-value.js';
import { MemorySectors } from './memory-sectors.js';
import type { DiskGates } from './memory-store.js';

/** Numbers in [0, 1); high ones lose nothing. */
type Random = () => number;

interface Change {
  /** All of it takes effect. */
  apply(): void;
  /** The process dies while it is under way: `random` chooses what takes effect. */
  tear(random: Random): void;
}

interface Failure {
  readonly at: number;
  readonly when: 'before' | 'after' | 'torn';
  readonly random: Random | null;
}

const SPARES_MAX = 2;

export class MemoryLogDirectory implements LogDirectory {
  readonly #gates: DiskGates;
  readonly #files = new Map<string, MemorySectors>();
  readonly #opened = new Set<string>();
  /** Contents of removed files, oldest first. */
  #spares: MemorySectors[] = [];
  #dead = false;
  #changes = 0;
  /** Begun and not done, or failed: what a crash tears. */
  readonly #underWay = new Set<Change>();
  #failure: Failure | null = null;

  constructor(gates: DiskGates = {}) {
    this.#gates = gates;
  }

  /** Creations, removals, writes and preallocations so far. */
  get changeCount(): number {
    return this.#changes;
  }

  /**
   * The change with this number (from 1) fails, and so does everything after it. A torn one has
   * reached the disk as far as `random` says, as at a crash.
   */
  failAt(at: number, when: 'before' | 'after' | 'torn', random: Random | null = null): void {
    assert(when !== 'torn' || random !== null, 'something chooses what is torn');
    this.#failure = { at, when, random };
  }

  /** Ends this directory; what the disk then holds. */
  crash(random: Random, gates: DiskGates = this.#gates): MemoryLogDirectory {
    this.#dead = true;
    for (const change of this.#underWay) change.tear(random);
    this.#underWay.clear();
    const next = new MemoryLogDirectory(gates);
    const isLost = () => random() < 0.5;
    for (const name of this.names()) next.#files.set(name, this.#contentOf(name).survive(isLost));
    next.#spares = this.#spares.map((spare) => spare.survive(isLost));
    return next;
  }

  /** Right before a crash: whatever was under way reaches the disk all the same. */
  landUnderWay(): void {
    for (const change of this.#underWay) change.tear(losesNothing);
    this.#underWay.clear();
  }

  /** The names of the files, for a directory that is not in use. */
  names(): readonly string[] {
    return [...this.#files.keys()].sort();
  }
  bytesOf(name: string): Uint8Array {
    const content = this.#contentOf(name);
    return content.read(0, content.size);
  }

  /** For tests of damage: changes what is stored, behind everyone's back. */
  tamper(name: string, change: (bytes: Uint8Array) => Uint8Array): void {
    this.#contentOf(name).replace(change(this.bytesOf(name)));
  }

  async list(): Promise<readonly string[]> {
    this.#check();
    return this.names();
  }

  async open(name: string): Promise<LogFile> {
    this.#check();
    await this.reading();
    assert(this.#files.has(name), `${name} exists`);
    return this.#opening(name);
  }

  async create(name: string): Promise<LogFile> {
    assert(!this.#files.has(name), `${name} does not exist`);
    const apply = () => {
      const content = this.#spares.shift() ?? new MemorySectors();
      content.write(0, new Uint8Array(Math.min(CLEARED_BYTES, content.size)));
      this.#files.set(name, content);
    };
    await this.change(name, { apply, tear: whole(apply) });
    return this.#opening(name);
  }

  async remove(name: string): Promise<void> {
    assert(!this.#opened.has(name), `${name} is closed before it is removed`);
    const content = this.#contentOf(name);
    const apply = () => {
      this.#files.delete(name);
      if (this.#spares.length < SPARES_MAX) this.#spares.push(content);
    };
    await this.change(name, { apply, tear: whole(apply) });
  }

  async close(): Promise<void> {
    this.#opened.clear();
    this.#dead = true;
  }

  /** Used by the files only, as all that follows. */
  async change(name: string, change: Change): Promise<void> {
    this.#check();
    this.#underWay.add(change);
    // What the gate refuses stays under way: nobody knows what of it is on the disk.
    await this.#gates.gate?.({ name, sync: true });
    this.#check();
    this.#underWay.delete(change);
    this.#changes += 1;
    const failure = this.#failure?.at === this.#changes ? this.#failure : null;
    if (failure === null || failure.when === 'after') change.apply();
    if (failure === null) return;
    this.#dead = true;
    if (failure.when === 'torn' && failure.random !== null) change.tear(failure.random);
    this.#check();
  }

  async reading(): Promise<void> {
    await this.#gates.readGate?.();
    this.#check();
  }

  closeFile(name: string): void {
    this.#opened.delete(name);
  }

  #check(): void {
    if (this.#dead) throw new StorageFault('input/output', 'the directory has crashed', null);
  }

  #opening(name: string): LogFile {
    assert(!this.#opened.has(name), `${name} is opened once at a time`);
    this.#opened.add(name);
    return new MemoryLogFile(name, this.#contentOf(name), this);
  }

  #contentOf(name: string): MemorySectors {
    const content = this.#files.get(name);
    assert(content !== undefined, `${name} exists`);
    return content;
  }
}

class MemoryLogFile implements LogFile {
  readonly #name: string;
  readonly #content: MemorySectors;
  readonly #directory: MemoryLogDirectory;
  #isOpen = true;
  #isBusy = false;

  constructor(name: string, content: MemorySectors, directory: MemoryLogDirectory) {
    this.#name = name;
    this.#content = content;
    this.#directory = directory;
  }

  get size(): number {
    return this.#content.size;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    this.#assertOpen();
    await this.#directory.reading();
    return this.#content.read(offset, length);
  }

  async write(offset: number, parts: readonly Uint8Array[]): Promise<void> {
    // Not copied before: as with a file, whoever changes them too early changes what is written.
    const put = (lands?: () => boolean) => this.#content.write(offset, Buffer.concat(parts), lands);
    await this.#alone({ apply: () => put(), tear: (random) => put(sectorChooser(random)) });
  }

  async preallocate(size: number): Promise<void> {
    const content = this.#content;
    if (content.size >= size) return;
    await this.#alone({
      apply: () => content.grow(size),
      tear: (random) => content.grow(Math.ceil(content.size + random() * (size - content.size))),
    });
  }

  async close(): Promise<void> {
    assert(!this.#isBusy, `nothing is under way when ${this.#name} is closed`);
    if (this.#isOpen) this.#directory.closeFile(this.#name);
    this.#isOpen = false;
  }

  async #alone(change: Change): Promise<void> {
    this.#assertOpen();
    assert(!this.#isBusy, `${this.#name} is changed by one operation at a time`);
    this.#isBusy = true;
    try {
      await this.#directory.change(this.#name, change);
    } finally {
      this.#isBusy = false;
    }
  }

  #assertOpen(): void {
    assert(this.#isOpen, `${this.#name} is open while it is used`);
  }
}

function losesNothing(): number {
  return 1 - Number.EPSILON;
}

/** The effect of a change that takes effect as a whole or not at all. */
function whole(apply: () => void): (random: Random) => void {
  return (random) => {
    if (random() >= 0.5) apply();
  };
}

/** All of a write, nothing, or any of its sectors. */
function sectorChooser(random: Random): () => boolean {
  const die = random();
  if (die < 0.25) return () => false;
  if (die >= 0.75) return () => true;
  return () => random() >= 0.5;
}
