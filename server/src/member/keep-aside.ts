/**
 * Keeps files for the operator in the data directory, with whatever the member had to discard.
 *
 * Each is written beside its name first, so that a file is whole or not there. Of each kind, which
 * is what a name has before its first '-', only the newest are kept. Nothing is ever read back.
 */
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openNewFile } from '../security/own-file.js';

const DIRECTORY = 'discarded';

/**
 * Resolves with the file's path when it is durable. `directory` is the member's; at most `filesMax`
 * files of the kind are there afterwards, and those that cannot be removed. Rejects with what the
 * file system or the lines throw.
 */
export async function keepAside(
  directory: string,
  name: string,
  lines: AsyncIterable<string>,
  filesMax: number,
): Promise<string> {
  const folder = join(directory, DIRECTORY);
  await mkdir(folder, { recursive: true });
  const kind = name.slice(0, name.indexOf('-') + 1);
  const kept = (await readdir(folder)).filter((other) => other.startsWith(kind)).sort();
  // One that cannot be removed costs neither this file nor the removal of others.
  const surplus = kept.slice(0, Math.max(0, kept.length - filesMax + 1));
  await Promise.allSettled(surplus.map((old) => rm(join(folder, old), { force: true })));
  const path = join(folder, name);
  const file = await openNewFile(`${path}.part`);
  try {
    for await (const line of lines) await file.write(line);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.part`, path);
  return path;
}
