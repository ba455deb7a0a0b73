/**
 * The content of a directory: its size, and whether anything in it changed.
 *
 * Files may vanish while a running member works; those take no space. Anything else that cannot be
 * read is an error, so that a fingerprint of nothing means that nothing exists.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The bytes that the files below `directory` occupy on the disk, without holes. */
export function bytesOnDisk(directory: string): number {
  return filesBelow(directory).reduce((sum, file) => {
    return sum + (statSync(file, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  }, 0);
}

/**
 * A line for every file with a hash of its content; equal fingerprints mean that nothing was
 * touched.
 */
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
    // The file does not exist, or disappeared while it was read.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
