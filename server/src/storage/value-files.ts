/**
 * The files that hold the large values of one database, one value behind the other.
 *
 * LevelDB writes each value about four times: into its write-ahead file, into a table, and with
 * each compaction. Here a value is written once, and once more for each time that the file it is in
 * becomes mostly dead. The database refers to it by a `Location`. Nothing that is referred to is
 * ever overwritten, and only files that this process began are appended to, so what a crash leaves
 * behind the last referenced value is garbage. A file that nothing refers to is used again under
 * another name, because a write that makes no file longer is cheaper to sync. The files are in the
 * database's own directory and go with it. Used by value-database.ts only.
 */
import { join } from 'node:path';
import { assert } from '@rookery/protocol';
import { codesOf, orFault, textOf } from './disk-errors.js';
import { DamagedError } from './errors.js';
import type { DiskFile, LogDisk } from './log-disk.js';
import { SharedResource } from './shared-resource.js';

/** Where a value is: the number of the file, and bytes. */
export interface Location {
  readonly file: number;
  readonly offset: number;
  readonly length: number;
}

export interface ValueHome {
  /** The directory of the database. */
  readonly path: string;
  readonly disk: LogDisk;
  /** Removes a file of the directory. Resolves when it cannot come back. */
  discard(name: string): Promise<void>;
}

export interface ValueLimits {
  /** A new file is begun when one has so many bytes. */
  readonly fileBytesMax: number;
  /** As many dead bytes as there are live ones stay, and these. */
  readonly deadBytesMax: number;
  /** Bytes of one write, so that syncs of the log come in between. */
  readonly writeBytes: number;
}

export const VALUE_LIMITS: ValueLimits = {
  fileBytesMax: 16 << 20,
  deadBytesMax: 32 << 20,
  writeBytes: 512 << 10,
};

/** Files beyond those that the live bytes fill once: each start begins a file of its own. */
const SPARE_FILES = 16;
/** Files that nothing refers to and that are kept to be used again. */
const EMPTY_FILES = 2;
const PREFIX = 'values-';
const NAME = /^values-(\d+)$/;

interface ValueFile {
  readonly number: number;
  readonly open: SharedResource<DiskFile>;
  size: number;
  liveBytes: number;
  /** The live values by key. */
  readonly values: Map<string, { readonly offset: number; readonly length: number }>;
  /** The count of batches when the last value died. */
  deadSince: number | null;
}

export class ValueFiles {
  private readonly home: ValueHome;
  private readonly limits: ValueLimits;
  private readonly files = new Map<number, ValueFile>();
  private readonly fileOf = new Map<string, ValueFile>();
  /** The file that is appended to. */
  private active: ValueFile | null = null;
  private lastNumber = 0;
  /** The names of files to be used again. */
  private readonly empty: string[] = [];
  private totalBytes = 0;
  private liveBytes = 0;
  private batches = 0;
  /** The count of batches when each reader began. */
  private readonly readers = new Set<{ readonly since: number }>();

  private constructor(home: ValueHome, limits: ValueLimits) {
    this.home = home;
    this.limits = limits;
  }

  /** Finds the files that are there. `refer` follows for each reference, then `settle`. */
  static async open(home: ValueHome, limits: ValueLimits): Promise<ValueFiles> {
    const files = new ValueFiles(home, limits);
    const names = await orFault(home.path, () => home.disk.list(home.path));
    for (const name of names) {
      const match = NAME.exec(name);
      if (match === null) continue;
      const file = files.added(Number(match[1]), new SharedResource(files.owner, name));
      file.size = await file.open.use(async ({ size }) => size);
      files.totalBytes += file.size;
    }
    return files;
  }

  get isEmpty(): boolean {
    return this.files.size === 0;
  }

  /** Bytes of all files, the dead ones included. */
  get bytes(): number {
    return this.totalBytes;
  }

  /** Writes values and returns where they are. Durable when resolved; nothing refers to them. */
  async append(values: readonly Uint8Array[]): Promise<readonly Location[]> {
    const locations: Location[] = [];
    while (locations.length < values.length) {
      const file = await this.writable();
      const parts: Uint8Array[] = [];
      let end = file.size;
      const endMax = Math.min(file.size + this.limits.writeBytes, this.limits.fileBytesMax);
      for (const value of values.slice(locations.length)) {
        if (end >= endMax) break;
        locations.push({ file: file.number, offset: end, length: value.length });
        parts.push(value);
        end += value.length;
      }
      await this.guarded(file, (open) => open.write(file.size, parts));
      this.totalBytes += end - file.size;
      file.size = end;
    }
    return locations;
  }

  /**
   * When too much is dead: writes values of the file with the fewest live bytes again, about as
   * many bytes as are `written` besides, and returns where they are now. Durable when resolved.
   */
  async move(written: number): Promise<readonly (readonly [key: string, at: Location])[]> {
    const from = this.mostlyDead();
    if (from === null) return [];
    const bytesMax = Math.max(written, this.limits.writeBytes);
    const moved: (readonly [key: string, at: Location])[] = [];
    const waiting = [...from.values];
    for (let bytes = 0; bytes < bytesMax && waiting.length > 0; ) {
      const keys: string[] = [];
      const values: Uint8Array[] = [];
      for (let part = 0; part < this.limits.writeBytes && bytes < bytesMax; ) {
        const next = waiting.shift();
        if (next === undefined) break;
        const [key, { offset, length }] = next;
        keys.push(key);
        values.push(await this.read({ file: from.number, offset, length }));
        part += length;
        bytes += length;
      }
      const locations = await this.append(values);
      for (const [index, at] of locations.entries()) moved.push([keys[index] ?? '', at]);
    }
    return moved;
  }

  /** The database refers to `at` for this key from now on; null: to no file. */
  refer(key: string, at: Location | null): void {
    const before = this.fileOf.get(key);
    const length = before?.values.get(key)?.length ?? 0;
    if (before !== undefined) {
      before.values.delete(key);
      before.liveBytes -= length;
      this.liveBytes -= length;
      this.fileOf.delete(key);
    }
    if (at === null) return;
    const file = this.fileAt(at);
    file.values.set(key, { offset: at.offset, length: at.length });
    file.liveBytes += at.length;
    this.liveBytes += at.length;
    this.fileOf.set(key, file);
  }

  /** The references of a batch are durable: removes files that nothing refers to any more. */
  async settle(): Promise<void> {
    this.batches += 1;
    for (const file of this.files.values()) {
      if (file.values.size === 0 && file !== this.active) file.deadSince ??= this.batches;
    }
    await this.discardDead();
  }

  /** Throws DamagedError if the value is not there. */
  async read(at: Location): Promise<Uint8Array> {
    const file = this.fileAt(at);
    const bytes = await this.guarded(file, (open) => open.read(at.offset, at.length));
    if (bytes.length === at.length) return bytes;
    throw new DamagedError(`${this.pathOf(file.number)} ends within a value`);
  }

  /** Whatever is referred to now can be read until the returned function is called. */
  keep(): () => Promise<void> {
    const reader = { since: this.batches };
    this.readers.add(reader);
    return async () => {
      this.readers.delete(reader);
      await this.discardDead();
    };
  }

  async close(): Promise<void> {
    await this.active?.open.unpin();
    this.active = null;
  }

  private readonly owner = {
    open: (name: string) => {
      const path = join(this.home.path, name);
      return orFault(path, () => this.home.disk.open(path));
    },
    destroy: (name: string) => this.home.discard(name),
  };

  private added(number: number, open: SharedResource<DiskFile>): ValueFile {
    const file = { number, open, size: 0, liveBytes: 0, values: new Map(), deadSince: null };
    this.files.set(number, file);
    this.lastNumber = Math.max(this.lastNumber, number);
    return file;
  }

  private async writable(): Promise<ValueFile> {
    if (this.active !== null && this.active.size < this.limits.fileBytesMax) return this.active;
    await this.close();
    const name = `${PREFIX}${this.lastNumber + 1}`;
    const { disk, path } = this.home;
    const again = this.empty.pop();
    const opened = await orFault(join(path, name), async () => {
      if (again !== undefined) await disk.rename(join(path, again), join(path, name));
      const file = await disk[again === undefined ? 'create' : 'open'](join(path, name));
      await disk.syncDirectory(path);
      return file;
    });
    const open = SharedResource.pinned(this.owner, name, opened);
    this.active = this.added(this.lastNumber + 1, open);
    return this.active;
  }

  /** The file to be emptied next, if one should be. */
  private mostlyDead(): ValueFile | null {
    const { fileBytesMax, deadBytesMax } = this.limits;
    const filesMax = SPARE_FILES + (2 * this.liveBytes) / fileBytesMax;
    const deadBytes = this.totalBytes - this.liveBytes;
    if (deadBytes <= this.liveBytes + deadBytesMax && this.files.size <= filesMax) return null;
    let found: ValueFile | null = null;
    for (const file of this.files.values()) {
      if (file === this.active || file.values.size === 0) continue;
      if (found === null || file.liveBytes < found.liveBytes) found = file;
    }
    return found;
  }

  private async discardDead(): Promise<void> {
    const oldest = Math.min(...[...this.readers].map(({ since }) => since));
    for (const file of [...this.files.values()]) {
      if (file.deadSince === null || file.deadSince > oldest) continue;
      this.files.delete(file.number);
      this.totalBytes -= file.size;
      const isLong = file.size >= this.limits.fileBytesMax;
      if (isLong && this.empty.length < EMPTY_FILES) this.empty.push(file.open.name);
      else await file.open.markForDeletion();
    }
  }

  private fileAt({ file: number, offset, length }: Location): ValueFile {
    const file = this.files.get(number);
    if (file === undefined) throw new DamagedError(`${this.pathOf(number)} is missing`);
    if (offset + length <= file.size) return file;
    throw new DamagedError(`${this.pathOf(number)} ends within a value`);
  }

  private pathOf(number: number): string {
    return join(this.home.path, `${PREFIX}${number}`);
  }

  private async guarded<T>(file: ValueFile, action: (open: DiskFile) => Promise<T>): Promise<T> {
    assert(file.deadSince === null || this.readers.size > 0, 'a dead file has readers only');
    const path = this.pathOf(file.number);
    try {
      return await orFault(path, () => file.open.use(action));
    } catch (error) {
      if (!codesOf(error).includes('EIO')) throw error;
      throw new DamagedError(`${path} cannot be read: ${textOf(error)}`, { cause: error });
    }
  }
}
