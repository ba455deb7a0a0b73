/**
 * How much of a file system is free, as this machine says. Never fails, and changes nothing: what
 * is not known is null.
 */
import { statfs } from 'node:fs/promises';
import type { Space } from '../driver/disk-space.js';

/** Returns the space of the file system that the directory is in. */
export async function spaceOf(directory: string): Promise<Space | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(directory);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return null;
  }
}
