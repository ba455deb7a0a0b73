/**
 * The only thing that the write-ahead log, and the files of large values, know of their disk: a
 * directory of plain files.
 *
 * `file-log.ts` implements it on the file system, `memory-log.ts` in memory, with crashes that lose
 * and tear writes, for tests and the simulator. Nothing here is retried: after a failed write or
 * sync nobody knows what is on the disk, so the caller must end. Every method rejects with a
 * StorageFault when the disk fails; `read` with a DamagedError for a sector that cannot be read.
 */

/** The bytes at the beginning of a file that `create` clears: two copies of a segment's header. */
export const CLEARED_BYTES = 8192;

export interface LogFile {
  /** The size of the file in bytes. */
  readonly size: number;
  /** What lies at `offset`: `length` bytes, or fewer at the end of the file. The memory is new. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /**
   * Writes the parts one after the other from `offset` on; durable when it resolves. A crash before
   * that may leave any of the write's sectors (512 bytes) written and any not. One write or
   * preallocation at a time. The parts must not change until it resolves.
   */
  write(offset: number, parts: readonly Uint8Array[]): Promise<void>;
  /**
   * Lengthens the file to `size` bytes with zeros that are written, durably, so that a later write
   * within them changes no metadata of the file system. Does nothing when it is as long already, or
   * the disk has no room to spare.
   */
  preallocate(size: number): Promise<void>;
  /** Closes the file. No operation may begin from now on; those under way end first. */
  close(): Promise<void>;
}

export interface LogDirectory {
  /** Names of the files, in no particular order. Spare files are not listed. */
  list(): Promise<readonly string[]>;
  /** Opens a file that exists. A file is opened once at a time. */
  open(name: string): Promise<LogFile>;
  /**
   * Makes a file, durably with its name, and opens it. Its first CLEARED_BYTES are zeros or do not
   * exist; behind them may lie whatever a removed file held.
   */
  create(name: string): Promise<LogFile>;
  /** Removes a closed file, durably; a later `create` may use its space again. */
  remove(name: string): Promise<void>;
  /**
   * Closes all files and releases the directory to other processes. No operation may begin from now
   * on.
   */
  close(): Promise<void>;
}
