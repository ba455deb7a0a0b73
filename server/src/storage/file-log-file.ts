/**
 * An open file of the log. It makes one change at a time, and none after a failed one.
 *
 * It preallocates by writing zeros, and turns the system's errors into StorageFault. log-disk.ts
 * makes bytes durable. FileLogDirectory creates it.
 */
import { assert } from '@rookery/protocol';
import { codesOf, faultOf, isFull, orFault, textOf } from './disk-errors.js';
import { DamagedError } from './errors.js';
import type { DiskFile } from './log-disk.js';
import type { LogFile } from './log-files.js';

/** Zeros written at a time, so that other syncs come in between. */
const PIECE_BYTES = 512 << 10;
const ZEROS = new Uint8Array(PIECE_BYTES);

export class FileLogFile implements LogFile {
  readonly #file: DiskFile;
  readonly #path: string;
  readonly #hasRoom: (bytes: number) => Promise<boolean>;
  readonly #onClose: () => void;
  /** The number of operations under way. */
  #underWay = 0;
  /** Set while `close` waits for them. */
  #onIdle: (() => void) | null = null;
  /** Stays true after a failure. */
  #changing = false;
  #closed = false;

  constructor(
    file: DiskFile,
    given: {
      readonly path: string;
      readonly hasRoom: (bytes: number) => Promise<boolean>;
      readonly onClose: () => void;
    },
  ) {
    this.#file = file;
    this.#path = given.path;
    this.#hasRoom = given.hasRoom;
    this.#onClose = given.onClose;
  }

  get size(): number {
    return this.#file.size;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    try {
      return await this.#run(() => this.#file.read(offset, length));
    } catch (error) {
      if (!codesOf(error).includes('EIO')) throw error;
      throw new DamagedError(`${this.#path} cannot be read: ${textOf(error)}`, { cause: error });
    }
  }

  write(offset: number, parts: readonly Uint8Array[]): Promise<void> {
    return this.#change(() => this.#file.write(offset, parts));
  }

  preallocate(size: number): Promise<void> {
    return this.#change(async () => {
      const before = this.#file.size;
      if (size <= before || !(await this.#hasRoom(size - before))) return;
      try {
        for (let at = before; at < size; at += PIECE_BYTES) {
          await this.#file.write(at, [ZEROS.subarray(0, Math.min(PIECE_BYTES, size - at))]);
        }
      } catch (error) {
        if (!isFull(error)) throw error;
        await this.#file.truncate(before);
      }
    });
  }

  /**
   * Waits for operations under way: after a failure the directory closes its files although work in
   * the background, such as preallocation, may not have ended.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    await orFault(this.#path, () => this.#file.close());
    this.#onClose();
  }

  async #change(action: () => Promise<void>): Promise<void> {
    assert(!this.#changing, `one change of ${this.#path} at a time, none after a failure`);
    this.#changing = true;
    await this.#run(action);
    this.#changing = false;
  }

  async #run<T>(action: () => Promise<T>): Promise<T> {
    assert(!this.#closed, `${this.#path} is open`);
    this.#underWay += 1;
    try {
      return await action();
    } catch (error) {
      throw faultOf(this.#path, error);
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#onIdle?.();
    }
  }
}
