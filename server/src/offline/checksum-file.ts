/**
 * The SHA-256 of a backup, in a file beside it that `sha256sum -c` reads.
 *
 * The checksums within a snapshot cover all of its content, but not the header of a compressed
 * file, where a changed byte changes nothing. A backup without such a file is accepted as it is.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openNewFile } from '../security/own-file.js';
import { FileError } from '../zookeeper-files/index.js';

export function checksumPath(path: string): string {
  return `${path}.sha256`;
}

/** The file is durable when this resolves. `name` is that of the file which has the checksum. */
export async function writeChecksum(to: string, sha256: string, name: string): Promise<void> {
  const file = await openNewFile(to);
  try {
    await file.write(`${sha256}  ${basename(name)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Throws FileError where the file beside the backup contains another checksum. */
export async function checkChecksum(path: string): Promise<'equal' | 'none'> {
  let text: string;
  try {
    text = await readFile(checksumPath(path), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'none';
    throw error;
  }
  const [written = ''] = text.split(/\s/, 1);
  const computed = await sha256Of(path);
  if (written === computed) return 'equal';
  throw new FileError(`${checksumPath(path)} says ${written}, the file has ${computed}`, null);
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
