/**
 * The modes of a znode as the small numbers that rows, checkpoint records and transactions hold.
 */
import type { NodeMode } from './txn.js';

/** Indexed by number. Never reorder them: the numbers are on disk. */
export const NODE_MODES: readonly NodeMode[] = ['persistent', 'ephemeral', 'container', 'ttl'];

export const MODE = { persistent: 0, ephemeral: 1, container: 2, ttl: 3 } as const;

/** Whether the reaper looks at znodes of this mode. */
export function isTimed(mode: number): boolean {
  return mode === MODE.container || mode === MODE.ttl;
}
