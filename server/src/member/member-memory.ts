/**
 * What a member may use of memory: what tuning says, else what the system does, shared out to its
 * parts; what the operator has set of a part counts in place of its share. Called by Member, once.
 */
import type { Config } from '../config/config.js';
import type { MemberOptions } from './member-options.js';
import { AMPLE_MEMORY, type MemoryBudget, memoryBudgetOf } from './memory-budget.js';
import type { MemoryLimit } from './memory-limit.js';

/** And tells it in the log. */
export function budgetOf(
  config: Config,
  { tuning, logger }: MemberOptions,
  system: MemoryLimit = AMPLE_MEMORY,
): MemoryBudget {
  const told = tuning?.memoryBytes;
  const memory: MemoryLimit =
    told === undefined ? system : { ...system, bytes: told, source: 'setting' };
  const budget = { ...memoryBudgetOf(memory), ...configured(config) };
  logger.info({ ...memory, ...budget }, 'memory.budget');
  const { bytes, heapBytes } = memory;
  if (heapBytes > bytes) {
    logger.warn(
      { bytes, heapBytes },
      'memory.heap_beyond_limit: V8 may use more than the process; set --max-old-space-size',
    );
  }
  return budget;
}

function configured({ inputBytesMax, outputBytesMax }: Config): Partial<MemoryBudget> {
  return {
    ...(inputBytesMax === null ? {} : { inputBytesMax }),
    ...(outputBytesMax === null ? {} : { outputBytesMax }),
  };
}
