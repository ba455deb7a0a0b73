/**
 * How many files this process may have open, and how many it has.
 *
 * Node raises the soft limit to the hard one when it starts, so what is read here is both. Never
 * fails. Called by the composition root, which shares them out, and by the status of a member.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** The soft limit of open files; infinite where the system does not tell. */
export function openFilesMax(): number {
  let limits: string;
  try {
    limits = readFileSync('/proc/self/limits', 'latin1');
  } catch {
    // Not Linux: there is no such file, and accept has to do without the early warning.
    return Number.POSITIVE_INFINITY;
  }
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Open files of this process; 0 where the system does not tell. */
export function openFilesCount(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    // Not Linux.
    return 0;
  }
}
