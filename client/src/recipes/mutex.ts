/**
 * Mutex: an exclusive lock that is not reentrant, as Curator's InterProcessSemaphoreMutex.
 *
 * **Guarantee.** The same as for a Semaphore with one lease: at most one lease has an unaborted
 * signal, leases are granted in the order of requests, and `fencingToken` strictly increases from
 * holder to holder.
 *
 * **Znodes.** The same as for Curator's InterProcessSemaphoreMutex, which are those of its
 * InterProcessSemaphoreV2 with one lease: `<path>/locks` and `<path>/leases`.
 *
 * **Suspended, lost.** The same as for Lock.
 */
import type { Client } from '../api/client.js';
import { Semaphore, type SemaphoreOptions } from './semaphore.js';

export type MutexOptions = Omit<SemaphoreOptions, 'maxLeases'>;

export class Mutex extends Semaphore {
  constructor(client: Client, path: string, options: MutexOptions = {}) {
    super(client, path, { ...options, maxLeases: 1 });
  }
}
