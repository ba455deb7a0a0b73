/** Whether directories of members can be made and written on this machine. Changes nothing. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Config, memberDirectories, OperatorError } from '@rookery/server';
import { codeOf } from './error-code.js';

/** A path of a directory that is there already. */
export interface Place {
  readonly path: string;
  /** The system's error code if nothing can be written in it, ENOTDIR for a file; or null. */
  readonly code: string | null;
}

/** Returns the directory itself, or the nearest one above it that exists. */
export async function placeOf(directory: string): Promise<Place> {
  let path = directory;
  for (;;) {
    try {
      if (!(await stat(path)).isDirectory()) return { path, code: 'ENOTDIR' };
      await access(path, constants.W_OK | constants.X_OK);
      return { path, code: null };
    } catch (error) {
      const code = codeOf(error);
      const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
      if (!isMissing || dirname(path) === path) return { path, code };
      path = dirname(path);
    }
  }
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
