/**
 * Manages the files that hold the large values of one database, one value after the other.
 *
 * LevelDB writes each value about four times: into its write-ahead file, into a table, and with
 * each compaction. Here a value is written once, and once more whenever most of its file is dead.
 * The database refers to a value by its `Location`. What is referred to is never overwritten. Only
 * files that this process created are appended to, so whatever a crash leaves behind the last
 * referenced value of a file is garbage. The directory makes bytes durable and uses the space of
 * removed files again. Used by value-database.ts only.
 */
import { join } from 'node:path';
import { DamagedError } from './errors.js';
import type { LogDirectory, LogFile } from './key-value.js';
import { ownerOf } from './log-segment.js';
import { SharedResource } from './shared-resource.js';

/** Where a value is: the number of its file, and its offset and length there in bytes. */
export interface Location {
  readonly file: number;
  readonly offset: number;
  readonly length: number;
}

export interface ValueHome {
  /** The directory of the database, for messages. */
  readonly path: string;
  /** The same, as a directory of files. */
  readonly directory: LogDirectory;
}

export interface ValueLimits {
  /** The next file is begun when the active one has at least so many bytes. */
  readonly fileBytesMax: number;
  /** Files are emptied when the dead bytes exceed the live ones by more than this. */
  readonly deadBytesMax: number;
  /** The bytes of one write. It is small, so that syncs of the log come between two of them. */
  readonly writeBytes: number;
}

export const VALUE_LIMITS: ValueLimits = {
  fileBytesMax: 16 << 20,
  deadBytesMax: 32 << 20,
  writeBytes: 512 << 10,
};

/**
 * Files are also emptied when there are more of them than this and twice the number that the live
 * bytes would fill, because each start of a process begins another file.
 */
const SHORT_FILES_MAX = 16;
const NAME = /^values-(\d+)$/;

interface ValueFile {
  readonly number: number;
  readonly shared: SharedResource<LogFile>;
  /** Where the next value begins. Behind it may be what the file held before it was used again. */
  size: number;
  liveBytes: number;
  /** The live values by key. */
  readonly values: Map<string, Location>;
  /** How many batches had been written when the last value died; null while one is live. */
  deadSince: number | null;
}

export class ValueFiles {
  readonly #home: ValueHome;
  readonly #limits: ValueLimits;
  readonly #files = new Map<number, ValueFile>();
  /** The file with the live value of each key. */
  readonly #fileOf = new Map<string, ValueFile>();
  /** The file that is appended to. */
  #active: ValueFile | null = null;
  #lastNumber = 0;
  #batches = 0;
  /** For each `protect`, how many batches had been written when it was called. */
  readonly #protections = new Set<{ readonly since: number }>();

  private constructor(home: ValueHome, limits: ValueLimits) {
    this.#home = home;
    this.#limits = limits;
  }

  /**
   * Finds the files that are there. The caller then calls `refer` for each reference that the
   * database has, and `endBatch`. Closes the directory when it is closed.
   */
  static async open(home: ValueHome, limits: ValueLimits): Promise<ValueFiles> {
    const files = new ValueFiles(home, limits);
    for (const name of await home.directory.list()) {
      const match = NAME.exec(name);
      if (match === null) continue;
      const shared = new SharedResource(ownerOf(home.directory), name);
      files.#add(Number(match[1]), shared).size = await shared.use(async ({ size }) => size);
    }
    return files;
  }

  get isEmpty(): boolean {
    return this.#files.size === 0;
  }

  /** Writes values and returns where they are. Durable when resolved; nothing refers to them. */
  async append(values: readonly Uint8Array[]): Promise<readonly Location[]> {
    const locations: Location[] = [];
    for (const parts of groupsOf(values, this.#limits.writeBytes, ({ length }) => length)) {
      const file = await this.#writable();
      const start = file.size;
      await file.shared.use((open) => open.write(start, parts));
      for (const { length } of parts) {
        locations.push({ file: file.number, offset: file.size, length });
        file.size += length;
      }
    }
    return locations;
  }

  /**
   * When too many bytes are dead or there are too many files: writes values of the file with the
   * fewest live bytes again, about as many bytes as are `written` besides, and returns where they
   * are now. Durable when resolved.
   */
  async move(written: number): Promise<readonly (readonly [key: string, at: Location])[]> {
    const from = this.#fileToEmpty();
    if (from === null) return [];
    const moved: (readonly [key: string, at: Location])[] = [];
    const bytesMax = Math.max(written, this.#limits.writeBytes);
    let bytes = 0;
    for (const group of groupsOf(from.values, this.#limits.writeBytes, ([, at]) => at.length)) {
      const locations = await this.append(await Promise.all(group.map(([, at]) => this.read(at))));
      for (const [index, at] of locations.entries()) {
        moved.push([group[index]?.[0] ?? '', at]);
        bytes += at.length;
      }
      if (bytes >= bytesMax) break;
    }
    return moved;
  }

  /** The database refers to `at` for this key from now on, or to no file if it is null. */
  refer(key: string, at: Location | null): void {
    const before = this.#fileOf.get(key);
    if (before !== undefined) {
      before.liveBytes -= before.values.get(key)?.length ?? 0;
      before.values.delete(key);
      this.#fileOf.delete(key);
    }
    if (at === null) return;
    const file = this.#fileAt(at);
    file.values.set(key, at);
    file.liveBytes += at.length;
    this.#fileOf.set(key, file);
  }

  /** A batch is durable, and its references are known: removes files that are dead. */
  async endBatch(): Promise<void> {
    this.#batches += 1;
    for (const file of this.#files.values()) {
      if (file.values.size === 0 && file !== this.#active) file.deadSince ??= this.#batches;
    }
    await this.#removeDead();
  }

  /** Throws DamagedError if the value is not there. */
  async read(at: Location): Promise<Uint8Array> {
    const bytes = await this.#fileAt(at).shared.use((open) => open.read(at.offset, at.length));
    if (bytes.length < at.length) throw this.#damaged(at, 'ends within a value');
    return bytes;
  }

  /** Whatever is referred to now can be read until the returned function is called. */
  protect(): () => Promise<void> {
    const protection = { since: this.#batches };
    this.#protections.add(protection);
    return async () => {
      this.#protections.delete(protection);
      await this.#removeDead();
    };
  }

  async close(): Promise<void> {
    await this.#active?.shared.unpin();
    await this.#home.directory.close();
  }

  #add(number: number, shared: SharedResource<LogFile>): ValueFile {
    const file = { number, shared, size: 0, liveBytes: 0, values: new Map(), deadSince: null };
    this.#files.set(number, file);
    this.#lastNumber = Math.max(this.#lastNumber, number);
    return file;
  }

  async #writable(): Promise<ValueFile> {
    if (this.#active !== null && this.#active.size < this.#limits.fileBytesMax) return this.#active;
    await this.#active?.shared.unpin();
    const number = this.#lastNumber + 1;
    const name = nameOf(number);
    const { directory } = this.#home;
    const file = await directory.create(name);
    this.#active = this.#add(number, SharedResource.pinned(ownerOf(directory), name, file));
    return this.#active;
  }

  #fileToEmpty(): ValueFile | null {
    const { fileBytesMax, deadBytesMax } = this.#limits;
    let bytes = 0;
    let liveBytes = 0;
    let found: ValueFile | null = null;
    for (const file of this.#files.values()) {
      bytes += file.size;
      liveBytes += file.liveBytes;
      if (file === this.#active || file.values.size === 0) continue;
      if (found === null || file.liveBytes < found.liveBytes) found = file;
    }
    const filesMax = SHORT_FILES_MAX + (2 * liveBytes) / fileBytesMax;
    const isFull = bytes - liveBytes > liveBytes + deadBytesMax || this.#files.size > filesMax;
    return isFull ? found : null;
  }

  async #removeDead(): Promise<void> {
    const oldest = Math.min(...[...this.#protections].map(({ since }) => since));
    for (const file of [...this.#files.values()]) {
      if (file.deadSince === null || file.deadSince > oldest) continue;
      // Another reader may have ended, or a batch, while the file before was removed.
      if (!this.#files.delete(file.number)) continue;
      await file.shared.markForDeletion();
    }
  }

  #fileAt(at: Location): ValueFile {
    const file = this.#files.get(at.file);
    if (file === undefined) throw this.#damaged(at, 'is missing');
    if (at.offset + at.length > file.size) throw this.#damaged(at, 'ends within a value');
    return file;
  }

  #damaged({ file }: Location, what: string): DamagedError {
    return new DamagedError(`${join(this.#home.path, nameOf(file))} ${what}`);
  }
}

/** The items in order, in groups that end once they have `bytesMax` bytes. */
export function* groupsOf<T>(
  items: Iterable<T>,
  bytesMax: number,
  bytesOf: (item: T) => number,
): Generator<readonly T[]> {
  let group: T[] = [];
  let bytes = 0;
  for (const item of items) {
    group.push(item);
    bytes += bytesOf(item);
    if (bytes < bytesMax) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}

function nameOf(number: number): string {
  return `values-${number}`;
}
