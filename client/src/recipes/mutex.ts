/**
 * Mutex: an exclusive lock that is not reentrant, and that whoever has its lease may release.
 *
 * **Guarantee.** As of a Semaphore with one lease: at most one lease with an unaborted signal, in
 * the order of asking; `fencingToken` grows strictly from holder to holder.
 *
 * **Znodes.** Curator's InterProcessSemaphoreMutex: those of its InterProcessSemaphoreV2 with one
 * lease, `<path>/locks` and `<path>/leases`.
 *
 * **Suspended, lost.** As of Lock.
 */
import type { Client } from '../api/client.js';
import { Semaphore, type SemaphoreOptions } from './semaphore.js';

export type MutexOptions = Omit<SemaphoreOptions, 'maxLeases'>;

export class Mutex extends Semaphore {
  constructor(client: Client, path: string, options: MutexOptions = {}) {
    super(client, path, { ...options, maxLeases: 1 });
  }
}
