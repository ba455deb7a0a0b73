/**
 * Refuses data of an ensemble level that this release does not know, before they are touched.
 *
 * Called at start with what the meta record and the checkpoint say, before an installed snapshot
 * becomes the member's data, and before a transaction that raises the level is applied.
 */
import { LEVEL } from '../state/level.js';
import { FormatError } from './errors.js';

/** Throws FormatError for an unknown level. Data without a level are older than levels. */
export function refuseHigherLevel(level: number | undefined, levelMax: number): void {
  const needed = level ?? LEVEL.first;
  if (needed <= levelMax) return;
  throw new FormatError(
    `the ensemble is at level ${needed}, this release knows levels up to ${levelMax}: ` +
      'start this member with the release that the others run, or a newer one',
  );
}
