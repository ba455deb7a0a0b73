/**
 * Reads how many files this process may have open, and how many are open.
 *
 * Node raises the soft limit to the hard one at its start, so both are the same. Never fails.
 * Called by the composition root, which divides them, and by the status of a member.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** The soft limit of open files; infinite if the system does not tell. */
export function openFilesMax(): number {
  let limits: string;
  try {
    limits = readFileSync('/proc/self/limits', 'latin1');
  } catch {
    // Other systems than Linux have no such file.
    return Number.POSITIVE_INFINITY;
  }
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

/** The number of open files of this process; 0 if the system does not tell. */
export function openFilesCount(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    // Not Linux.
    return 0;
  }
}
