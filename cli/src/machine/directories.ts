/**
 * Checks whether directories of members can be made and written on this machine. Changes nothing.
 */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Config, memberDirectories, OperatorError } from '@rookery/server';
import { codeOf } from './error-code.js';

/** A path of a directory that is there already. */
interface Place {
  readonly path: string;
  /** The system's error code if nothing can be written in it, ENOTDIR for a file; or null. */
  readonly code: string | null;
}

/** What `stat` says where the fault is above: a directory is missing, closed, or none at all. */
const FAULTS_ABOVE = ['ENOENT', 'ENOTDIR', 'EACCES'];

/** Returns the directory itself, or the nearest one above it that can be found. */
export async function placeOf(directory: string): Promise<Place> {
  let path = directory;
  for (;;) {
    const found = await stat(path).catch(codeOf);
    if (typeof found !== 'string') {
      if (!found.isDirectory()) return { path, code: 'ENOTDIR' };
      return { path, code: await accessCode(path) };
    }
    if (!FAULTS_ABOVE.includes(found) || dirname(path) === path) return { path, code: found };
    path = dirname(path);
  }
}

async function accessCode(path: string): Promise<string | null> {
  return await access(path, constants.W_OK | constants.X_OK).then(() => null, codeOf);
}

/** Throws an OperatorError that names once each path that keeps members from their directories. */
export async function requireDirectories(config: Config): Promise<void> {
  const all = config.servers.flatMap(({ id }) => Object.values(memberDirectories(config, id)));
  const places = await Promise.all([...new Set(all)].map(placeOf));
  const problems = places
    .filter(({ code }) => code !== null)
    .map(({ path, code }) => `${path}, for data of members, cannot be written (${code})`);
  if (problems.length > 0) throw new OperatorError([...new Set(problems)].join('\n  '));
}
