/**
 * How tests change by what members authenticate each other.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ensemble } from './ensemble.js';
import type { Member } from './member.js';

/** Changes the member's config file; it is read at the next start. */
export function configurePeerAuth(
  { directory }: Ensemble,
  { id }: Member,
  peerAuth: object | string,
): void {
  const path = join(directory, `config-${id}.json`);
  const config = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...config, peerAuth }));
}
