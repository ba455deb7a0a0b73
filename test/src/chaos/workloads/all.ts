/**
 * Makes all workloads anew for each run, because they keep what their clients share.
 */
import { casRegisterWorkload } from './cas-register.js';
import { counterWorkload } from './counter.js';
import { ephemeralsWorkload } from './ephemerals.js';
import { locksWorkload } from './locks.js';
import { plainReadsWorkload } from './plain-reads.js';
import { linearQueueWorkload, totalQueueWorkload } from './queues.js';
import { setWorkload } from './set.js';
import { uniqueIdsWorkload } from './unique-ids.js';
import { watchesWorkload } from './watches.js';
import type { Workload } from './workload.js';

export function allWorkloads(): Workload[] {
  return [
    casRegisterWorkload(),
    setWorkload(),
    counterWorkload(),
    uniqueIdsWorkload(),
    totalQueueWorkload(),
    linearQueueWorkload(),
    locksWorkload(),
    watchesWorkload(),
    ephemeralsWorkload(),
    plainReadsWorkload(),
  ];
}
