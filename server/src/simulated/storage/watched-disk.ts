/**
 * A LogDisk that tells of every change before it is made, and lets a test record it, or fail it.
 *
 * Files are numbered, as they keep their identity when they are renamed.
 */
import type { DiskFile, LogDisk } from '../../storage/log-disk.js';

export type DiskChange =
  | { readonly kind: 'create'; readonly path: string; readonly file: number }
  | {
      readonly kind: 'write';
      readonly file: number;
      readonly offset: number;
      /** A copy. */
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'truncate'; readonly file: number; readonly size: number }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'sync directory' };

/** Makes the change by `action`, or does not. */
export type OnChange = <T>(change: DiskChange, action: () => Promise<T>) => Promise<T>;

export class WatchedDisk implements LogDisk {
  /** In place of what the disk says. */
  free: number | null = null;
  readonly #disk: LogDisk;
  readonly #onChange: OnChange;
  readonly #numbers = new Map<string, number>();
  #fileCount = 0;

  constructor(disk: LogDisk, onChange: OnChange) {
    this.#disk = disk;
    this.#onChange = onChange;
  }

  list(directory: string): Promise<readonly string[]> {
    return this.#disk.list(directory);
  }

  async freeBytes(directory: string): Promise<number> {
    return this.free ?? (await this.#disk.freeBytes(directory));
  }

  async open(path: string): Promise<DiskFile> {
    const file = this.#numbers.get(path) ?? this.#numbered(path);
    return new WatchedFile(await this.#disk.open(path), file, this.#onChange);
  }

  async create(path: string): Promise<DiskFile> {
    const file = this.#numbered(path);
    const made = await this.#onChange({ kind: 'create', path, file }, () =>
      this.#disk.create(path),
    );
    return new WatchedFile(made, file, this.#onChange);
  }

  async rename(from: string, to: string): Promise<void> {
    const file = this.#numbers.get(from) ?? this.#numbered(from);
    await this.#onChange({ kind: 'rename', from, to }, () => this.#disk.rename(from, to));
    this.#numbers.delete(from);
    this.#numbers.set(to, file);
  }

  syncDirectory(directory: string): Promise<void> {
    return this.#onChange({ kind: 'sync directory' }, () => this.#disk.syncDirectory(directory));
  }

  #numbered(path: string): number {
    this.#fileCount += 1;
    this.#numbers.set(path, this.#fileCount);
    return this.#fileCount;
  }
}

class WatchedFile implements DiskFile {
  readonly #disk: DiskFile;
  readonly #file: number;
  readonly #onChange: OnChange;

  constructor(disk: DiskFile, file: number, onChange: OnChange) {
    this.#disk = disk;
    this.#file = file;
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#disk.size;
  }

  get copies(): number {
    return this.#disk.copies;
  }

  read(offset: number, length: number): Promise<Uint8Array> {
    return this.#disk.read(offset, length);
  }

  write(offset: number, parts: readonly Uint8Array[]): Promise<void> {
    const change = {
      kind: 'write',
      file: this.#file,
      offset,
      bytes: Buffer.concat(parts),
    } as const;
    return this.#onChange(change, () => this.#disk.write(offset, parts));
  }

  truncate(size: number): Promise<void> {
    const change = { kind: 'truncate', file: this.#file, size } as const;
    return this.#onChange(change, () => this.#disk.truncate(size));
  }

  close(): Promise<void> {
    return this.#disk.close();
  }
}
