/**
 * Writes lines to a file in the background, and begins another file when it is full.
 *
 * `push` only puts a line into a bounded buffer. The file `x` becomes `x.1` when the next line
 * would make it larger than `bytesMax`, `x.1` becomes `x.2`, and files beyond `filesKept` of them
 * are removed. A line is never split between files. Lines that cannot be written are reported to
 * `onLost`, and later lines are tried again. Only the user of the process can read the files.
 */
import { closeSync } from 'node:fs';
import { type FileHandle, rename, rm } from 'node:fs/promises';
import { errorMessage } from '@rookery/protocol';
import { openContinuedFile, openContinuedFileSync } from '../security/own-file.js';

/** Where lines go, and how much of them stays. */
export interface RotatedFile {
  readonly path: string;
  readonly bytesMax: number;
  readonly filesKept: number;
  /** The bytes of lines that may wait for the disk; by default BUFFER_BYTES. */
  readonly bufferBytesMax?: number;
}

/** The writer of the lines, which hears what becomes of them. */
export interface LineOwner {
  onLost(lines: number, reason: string): void;
  onWritten(lines: number): void;
  /** A full file could not be followed by a new one. */
  onUnrotated(reason: string): void;
}

/** Some ten thousand lines: a disk may be busy for a second or two. */
const BUFFER_BYTES = 8 << 20;

/** The bytes of one write. */
const CHUNK_BYTES = 256 << 10;
const NEWLINE = 0x0a;

/** Throws what the file system says if the file cannot be opened, and refuses links. */
export function probeAuditFile(path: string): void {
  closeSync(openContinuedFileSync(path));
}

export class AuditFile {
  readonly #at: RotatedFile;
  readonly #owner: LineOwner;
  readonly #bufferBytesMax: number;
  #lines: Buffer[] = [];
  #waitingBytes = 0;
  #file: FileHandle | null = null;
  #fileBytes = 0;
  /** `bytesMax`, and more while older files stand in the way. */
  #fullAtBytes: number;
  #writing: Promise<void> | null = null;

  constructor(at: RotatedFile, owner: LineOwner) {
    this.#at = at;
    this.#owner = owner;
    this.#bufferBytesMax = at.bufferBytesMax ?? BUFFER_BYTES;
    this.#fullAtBytes = at.bytesMax;
  }

  /** The line has no newline. */
  push(text: string): void {
    const line = Buffer.from(`${text}\n`);
    if (this.#waitingBytes + line.length > this.#bufferBytesMax) {
      return this.#owner.onLost(1, 'the file does not take lines as fast as they come');
    }
    this.#lines.push(line);
    this.#waitingBytes += line.length;
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when everything is written, or reported as lost. Nothing may be pushed afterwards. */
  async close(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    await this.#closeFile();
  }

  /** Never rejects. */
  async #writeAll(): Promise<void> {
    // The lines of one turn are written together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.#lines.length > 0) {
      const lines = this.#lines;
      this.#lines = [];
      for (let at = 0; at < lines.length; ) at += await this.#writeSome(lines, at);
    }
    this.#writing = null;
  }

  /** Returns how many of the lines from `at` on are done with: at least one. */
  async #writeSome(lines: readonly Buffer[], at: number): Promise<number> {
    let count = 0;
    let bytes = 0;
    try {
      this.#file ??= await this.#openFile();
      const firstBytes = lines[at]?.length ?? 0;
      if (this.#fileBytes > 0 && this.#fileBytes + firstBytes > this.#fullAtBytes) {
        await this.#rotate();
        this.#file ??= await this.#openFile();
      }
    } catch (error) {
      return this.#lose(lines.slice(at), error);
    }
    while (at + count < lines.length) {
      const lineBytes = lines[at + count]?.length ?? 0;
      const isFull = this.#fileBytes + bytes + lineBytes > this.#fullAtBytes;
      if (count > 0 && (isFull || bytes + lineBytes > CHUNK_BYTES)) break;
      count += 1;
      bytes += lineBytes;
    }
    const chunk = lines.slice(at, at + count);
    try {
      await this.#file?.appendFile(Buffer.concat(chunk));
    } catch (error) {
      return this.#lose(chunk, error);
    }
    this.#fileBytes += bytes;
    this.#waitingBytes -= bytes;
    this.#owner.onWritten(count);
    return count;
  }

  async #lose(lines: readonly Buffer[], error: unknown): Promise<number> {
    for (const line of lines) this.#waitingBytes -= line.length;
    // The next line opens it again, and may find a part of this one at the end of the file.
    await this.#closeFile();
    this.#owner.onLost(lines.length, errorMessage(error));
    return lines.length;
  }

  async #openFile(): Promise<FileHandle> {
    const file = await openContinuedFile(this.#at.path);
    try {
      this.#fileBytes = (await file.stat()).size;
      // A crash or a full disk has left a part of a line.
      if (this.#fileBytes > 0) {
        const last = Buffer.alloc(1);
        await file.read(last, 0, 1, this.#fileBytes - 1);
        if (last[0] !== NEWLINE) {
          await file.appendFile('\n');
          this.#fileBytes += 1;
        }
      }
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /**
   * Where an older file can neither be removed nor renamed, the present one goes on: no line is
   * lost while it has the room that all of the files may take. Rejects once it has not.
   */
  async #rotate(): Promise<void> {
    const { path, bytesMax, filesKept } = this.#at;
    await this.#closeFile();
    try {
      if (filesKept === 0) await rm(path, { force: true });
      for (let number = filesKept; number > 0; number--) {
        const from = number === 1 ? path : `${path}.${number - 1}`;
        await renameIfThere(from, `${path}.${number}`);
      }
      this.#fullAtBytes = bytesMax;
    } catch (error) {
      // At least one more file's worth, so that a log without older files does not lose lines.
      const allBytes = bytesMax * Math.max(2, filesKept + 1);
      if (this.#fullAtBytes + bytesMax > allBytes) throw error;
      this.#fullAtBytes += bytesMax;
      this.#owner.onUnrotated(errorMessage(error));
    }
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    // What was written is with the system; a failure here takes nothing back.
    await file?.close().catch(() => undefined);
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isMissing) throw error;
  }
}
