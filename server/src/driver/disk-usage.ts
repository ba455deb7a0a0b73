/**
 * How much disk a member's directories take, measured now and then, for the four-letter words.
 *
 * Never in anybody's way: what cannot be read counts as nothing.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes of all files below `directory`. */
export async function directoryBytes(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch(
    () => [],
  );
  let bytes = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = await stat(join(entry.parentPath, entry.name)).catch(() => null);
    bytes += file?.size ?? 0;
  }
  return bytes;
}

export class DiskUsage {
  data = 0;
  log = 0;

  async measure(directories: { readonly data: string; readonly log: string }): Promise<void> {
    this.data = await directoryBytes(directories.data);
    this.log =
      directories.log === directories.data ? this.data : await directoryBytes(directories.log);
  }
}
