/**
 * Files in the data directory that are kept for the operator: what a member had to discard.
 *
 * Each is written beside its name first, so that a file is whole or not there. Only the newest are
 * kept. Nothing is ever read back.
 */
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

const FILES_MAX = 8;
const DIRECTORY = 'discarded';

/** Resolves with the file's path when it is durable. `directory` is the member's. */
export async function keepAside(
  directory: string,
  name: string,
  lines: AsyncIterable<string>,
): Promise<string> {
  const folder = join(directory, DIRECTORY);
  await mkdir(folder, { recursive: true });
  const kept = (await readdir(folder)).sort();
  for (const old of kept.slice(0, Math.max(0, kept.length - FILES_MAX + 1))) {
    await rm(join(folder, old), { force: true });
  }
  const path = join(folder, name);
  const file = await open(`${path}.part`, 'w');
  try {
    for await (const line of lines) await file.write(line);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.part`, path);
  return path;
}
