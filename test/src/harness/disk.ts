/**
 * What lies in a directory: how much of it, and whether anything in it changed.
 *
 * Files may vanish while a running member works; those take no space. Whatever else cannot be read
 * is an error, so that a fingerprint of nothing means that nothing is there.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes that the files below `directory` take on the disk, holes not counted. */
export function bytesOnDisk(directory: string): number {
  return filesBelow(directory).reduce((sum, file) => {
    return sum + (statSync(file, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  }, 0);
}

/** A line for every file with a hash of its content: equal before and after means untouched. */
export function fingerprint(directory: string): string[] {
  return filesBelow(directory).map((file) => {
    return `${file} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`;
  });
}

function filesBelow(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch (error) {
    // It does not exist, or went away while it was read: nothing is there.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
