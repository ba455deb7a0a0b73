/**
 * Measures the free space on the disks of a member's directories on demand.
 *
 * It never holds up its caller: the space of a disk that hangs is left out, and each disk has at
 * most one question under way.
 */
import { statfs } from 'node:fs/promises';

const ANSWER_MS_MAX = 1000;

/** What others than the superuser may still write to a file system. */
export interface Space {
  readonly bytes: number;
  /** How many more files it can hold (its free inodes); null where it has no bound, as btrfs. */
  readonly files: number | null;
}

export interface DirectorySpaces {
  readonly data: Space | null;
  readonly log: Space | null;
}

export class FreeSpace {
  readonly #directories: { readonly data: string; readonly log: string };
  #asked: Promise<DirectorySpaces> | null = null;

  constructor(directories: { readonly data: string; readonly log: string }) {
    this.#directories = directories;
  }

  /** Null for what was not answered within a second. */
  async read(): Promise<DirectorySpaces> {
    this.#asked ??= this.#ask().finally(() => {
      this.#asked = null;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<DirectorySpaces>((resolve) => {
      timer = setTimeout(() => resolve({ data: null, log: null }), ANSWER_MS_MAX);
    });
    try {
      return await Promise.race([this.#asked, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #ask(): Promise<DirectorySpaces> {
    const { data, log } = this.#directories;
    return { data: await freeSpaceOf(data), log: await freeSpaceOf(log) };
  }
}

/** Null where there is no such directory. */
async function freeSpaceOf(directory: string): Promise<Space | null> {
  try {
    const { bavail, bsize, ffree, files } = await statfs(directory);
    return { bytes: bavail * bsize, files: files === 0 ? null : ffree };
  } catch {
    return null;
  }
}
