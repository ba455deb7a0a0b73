/**
 * A LogDisk in memory, and what becomes of it when the power fails at any moment of a history.
 *
 * The history is that of a WatchedDisk. A write that was done is durable; of one that was under way
 * any sector may have reached the disk. A name is durable once its directory was synced after it
 * changed; of the changes since then, any may have reached the disk.
 */
import { join } from 'node:path';
import type { LogHome } from '../../storage/file-log.js';
import type { DiskFile, LogDisk } from '../../storage/log-disk.js';
import type { DiskChange, OnChange } from './watched-disk.js';

const SECTOR_BYTES = 512;

/** Chooses what reaches the disk. */
export type Chance = () => boolean;

type NameChange = Extract<DiskChange, { kind: 'create' | 'rename' }>;
type Write = Extract<DiskChange, { kind: 'write' }>;

/** What is on a disk for certain, and what may be; grows with each change that is made. */
export class DiskHistory {
  readonly #files = new Map<number, Uint8Array>();
  readonly #names = new Map<string, number>();
  readonly #writing = new Set<Write>();
  /** Changes of names that are not durable, in order. */
  #renaming: { readonly change: NameChange; done: boolean }[] = [];

  /** For a WatchedDisk; `onMoment` is called during each change, and behind it. */
  onChange(onMoment: () => void): OnChange {
    return async (change, action) => {
      const finish = this.#begin(change);
      onMoment();
      const result = await action();
      finish();
      onMoment();
      return result;
    };
  }

  /** Whatever the chance, the image is the same. */
  get isCertain(): boolean {
    return this.#writing.size + this.#renaming.length === 0;
  }

  /** The disk as it may be found if the power fails now. */
  image(chance: Chance): MemoryDisk {
    const files = new Map(this.#files);
    for (const { file, offset, bytes } of this.#writing) {
      files.set(file, torn(files.get(file), { offset, bytes }, chance));
    }
    const names = new Map(this.#names);
    for (const { change } of this.#renaming) if (chance()) applyTo(names, change);
    return new MemoryDisk(
      [...names].map(([path, file]) => [path, files.get(file) ?? new Uint8Array(0)]),
    );
  }

  #begin(change: DiskChange): () => void {
    if (change.kind === 'write') {
      this.#writing.add(change);
      return () => {
        this.#writing.delete(change);
        const { file, offset, bytes } = change;
        this.#files.set(
          file,
          torn(this.#files.get(file), { offset, bytes }, () => true),
        );
      };
    }
    if (change.kind === 'sync directory') {
      const durable = this.#renaming.filter(({ done }) => done);
      return () => {
        for (const one of durable) {
          if (this.#renaming.includes(one)) applyTo(this.#names, one.change);
        }
        this.#renaming = this.#renaming.filter((one) => !durable.includes(one));
      };
    }
    if (change.kind === 'truncate') throw new Error('no file is cut while the disk has room');
    const renaming = { change, done: false };
    this.#renaming.push(renaming);
    return () => {
      renaming.done = true;
    };
  }
}

function applyTo(names: Map<string, number>, change: NameChange): void {
  if (change.kind === 'create') {
    names.set(change.path, change.file);
    return;
  }
  const file = names.get(change.from);
  if (file === undefined) return;
  names.delete(change.from);
  names.set(change.to, file);
}

/** The file with those sectors of a write that `chance` chooses; it may be longer than they are. */
function torn(
  before: Uint8Array = new Uint8Array(0),
  { offset, bytes }: { readonly offset: number; readonly bytes: Uint8Array },
  chance: Chance,
): Uint8Array {
  const end = offset + bytes.length;
  const isLonger = end > before.length && chance();
  const after = new Uint8Array(isLonger ? end : before.length);
  after.set(before);
  const first = Math.floor(offset / SECTOR_BYTES) * SECTOR_BYTES;
  for (let sector = first; sector < end; sector += SECTOR_BYTES) {
    if (!chance()) continue;
    const from = Math.max(sector, offset);
    const to = Math.min(sector + SECTOR_BYTES, end, after.length);
    if (from < to) after.set(bytes.subarray(from - offset, to - offset), from);
  }
  return after;
}

export class MemoryDisk implements LogDisk {
  readonly #files: Map<string, { bytes: Uint8Array }>;

  constructor(files: Iterable<readonly [path: string, bytes: Uint8Array]>) {
    this.#files = new Map([...files].map(([path, bytes]) => [path, { bytes: bytes.slice() }]));
  }

  async list(directory: string): Promise<readonly string[]> {
    const prefix = `${directory}/`;
    return [...this.#files.keys()]
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length));
  }

  async open(path: string): Promise<DiskFile> {
    const file = this.#files.get(path);
    if (file === undefined) throw new Error(`${path} is not there`);
    return new MemoryFile(file);
  }

  async create(path: string): Promise<DiskFile> {
    if (this.#files.has(path)) throw new Error(`${path} is there`);
    const file = { bytes: new Uint8Array(0) };
    this.#files.set(path, file);
    return new MemoryFile(file);
  }

  async rename(from: string, to: string): Promise<void> {
    const file = this.#files.get(from);
    if (file === undefined) throw new Error(`${from} is not there`);
    this.#files.delete(from);
    this.#files.set(to, file);
  }

  async syncDirectory(): Promise<void> {
    await Promise.resolve();
  }

  async freeBytes(): Promise<number> {
    return Number.MAX_SAFE_INTEGER;
  }

  remove(path: string): void {
    this.#files.delete(path);
  }
}

/** A directory on a disk that nobody else has. */
export function homeOn(disk: MemoryDisk, path: string): LogHome {
  return {
    path,
    disk,
    isOwn: (name) => name.startsWith('trash-'),
    discard: async (name) => disk.remove(join(path, name)),
    close: async () => undefined,
  };
}

class MemoryFile implements DiskFile {
  readonly copies = 0;
  readonly #file: { bytes: Uint8Array };

  constructor(file: { bytes: Uint8Array }) {
    this.#file = file;
  }

  get size(): number {
    return this.#file.bytes.length;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    return this.#file.bytes.slice(offset, offset + length);
  }

  async write(offset: number, parts: readonly Uint8Array[]): Promise<void> {
    const bytes = Buffer.concat(parts);
    this.#file.bytes = torn(this.#file.bytes, { offset, bytes }, () => true);
  }

  async truncate(size: number): Promise<void> {
    this.#file.bytes = this.#file.bytes.slice(0, size);
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }
}
