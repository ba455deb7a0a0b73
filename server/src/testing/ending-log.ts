/**
 * Wraps a member's log so that it can end as if the process were killed: ending-store.ts, for
 * files.
 *
 * After `end()` nothing new reaches the disk, and pending calls never settle. A write that was
 * already under way completes. Used by `seat.ts`.
 */
import type { LogDirectory, LogFile } from '../storage/key-value.js';
import { EndingLife } from './ending-life.js';

export class EndingLog implements LogDirectory {
  readonly #directory: LogDirectory;
  readonly #life = new EndingLife();

  constructor(directory: LogDirectory) {
    this.#directory = directory;
  }

  list(): Promise<readonly string[]> {
    return this.#life.run(() => this.#directory.list());
  }

  open(name: string): Promise<LogFile> {
    return this.#life.run(async () => {
      return new EndingFile(await this.#directory.open(name), this.#life);
    });
  }

  create(name: string): Promise<LogFile> {
    return this.#life.run(async () => {
      return new EndingFile(await this.#directory.create(name), this.#life);
    });
  }

  remove(name: string): Promise<void> {
    return this.#life.run(() => this.#directory.remove(name));
  }

  close(): Promise<void> {
    return this.#life.run(() => this.#directory.close());
  }

  /** Resolves when everything is closed and the directory is free for the next process. */
  async end(): Promise<void> {
    await this.#life.end();
    await this.#directory.close();
  }
}

class EndingFile implements LogFile {
  readonly #file: LogFile;
  readonly #life: EndingLife;

  constructor(file: LogFile, life: EndingLife) {
    this.#file = file;
    this.#life = life;
  }

  get size(): number {
    return this.#file.size;
  }

  read(offset: number, length: number): Promise<Uint8Array> {
    return this.#life.run(() => this.#file.read(offset, length));
  }

  write(offset: number, parts: readonly Uint8Array[]): Promise<void> {
    return this.#life.run(() => this.#file.write(offset, parts));
  }

  preallocate(size: number): Promise<void> {
    return this.#life.run(() => this.#file.preallocate(size));
  }

  close(): Promise<void> {
    return this.#life.run(() => this.#file.close());
  }
}
