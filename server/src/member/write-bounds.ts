/**
 * The bounds by which a leader refuses writes: the size of the tree, and the free space of disks.
 *
 * Called once by each member at its start, with what it is made of.
 */
import { type Config, memberDirectories, type ServerAddress } from '../config/config.js';
import { DiskSpace, type MeasureSpace } from '../driver/disk-space.js';
import { TreeBound } from '../driver/tree-bound.js';
import type { Timers } from '../net/timers.js';
import type { MemberOptions } from './member-options.js';
import type { MemoryBudget } from './memory-budget.js';

export interface WriteBoundsParts {
  readonly config: Config;
  readonly self: ServerAddress;
  readonly budget: Pick<MemoryBudget, 'treeBytesMax'>;
  readonly options: Pick<MemberOptions, 'logger'>;
  readonly surroundings: { readonly timers: Timers; readonly spaceOf?: MeasureSpace };
}

/** The disks are watched from now on, until `diskSpace.stop`. */
export function writeBoundsOf({ config, self, budget, options, surroundings }: WriteBoundsParts) {
  const { logger } = options;
  const { data, log } = memberDirectories(config, self.id);
  const diskSpace = new DiskSpace({
    directories: [...new Set([data, log])],
    reserveBytes: config.diskReserveBytes,
    timers: surroundings.timers,
    logger,
    spaceOf: surroundings.spaceOf,
  });
  const { treeBytesMax: ownBytes } = budget;
  const limits = { configuredBytes: config.treeBytesMax, ownBytes, disk: diskSpace };
  return { diskSpace, treeBound: new TreeBound(limits, logger) };
}
