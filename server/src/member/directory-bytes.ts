/**
 * How many bytes the files below a directory take; for reports, so nothing here ever fails.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What cannot be read counts as nothing. */
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
