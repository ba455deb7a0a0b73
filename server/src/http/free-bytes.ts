/**
 * What is free on the disks of a member's directories, measured when it is asked.
 *
 * Never in anybody's way: a disk that hangs leaves the answer out, and one question at a time is
 * put to it.
 */
import { statfs } from 'node:fs/promises';

const ANSWER_MS_MAX = 1000;

export interface DirectoryBytes {
  readonly data: number | null;
  readonly log: number | null;
}

export class FreeBytes {
  readonly #directories: { readonly data: string; readonly log: string };
  #asked: Promise<DirectoryBytes> | null = null;

  constructor(directories: { readonly data: string; readonly log: string }) {
    this.#directories = directories;
  }

  /** Null for what was not answered within a second. */
  async read(): Promise<DirectoryBytes> {
    this.#asked ??= this.#ask().finally(() => {
      this.#asked = null;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<DirectoryBytes>((resolve) => {
      timer = setTimeout(() => resolve({ data: null, log: null }), ANSWER_MS_MAX);
    });
    try {
      return await Promise.race([this.#asked, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #ask(): Promise<DirectoryBytes> {
    const { data, log } = this.#directories;
    return { data: await freeBytesOf(data), log: await freeBytesOf(log) };
  }
}

/** What others than the superuser may still write; null where there is no such directory. */
async function freeBytesOf(directory: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  } catch {
    return null;
  }
}
