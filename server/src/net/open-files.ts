/**
 * How many sockets this process may hold before the kernel refuses it files.
 *
 * libuv accepts and closes at once what comes in without a free file descriptor, and tells nobody
 * (the silence of ZOOKEEPER-4203), so the transport stops short of the limit and says so.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Left for the two databases, their logs and the peers. */
const RESERVED_FILES = 2048;

/** Sockets that fit below a limit of open files, at least one. */
export function streamsWithin(openFilesMax: number): number {
  return Math.max(1, openFilesMax - Math.min(RESERVED_FILES, Math.ceil(openFilesMax / 2)));
}

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
