/**
 * What the clients of lease-chaos.ts contend for, and which leases may be held together there.
 */
import {
  type Client,
  type Lease,
  Lock,
  type MultiLease,
  MultiLock,
  Mutex,
  ReadWriteLock,
  Semaphore,
  SimpleLock,
} from '@rookery/client';
import type { Random } from '../harness/random.js';

export interface Wait {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ChaosKind {
  readonly name: string;
  acquire(client: Client, random: Random, wait: Wait): Promise<Lease | MultiLease>;
  /** What the lease is a lease of. */
  resourceOf(lease: Lease): string;
}

export const CHAOS_BASE = '/chaos';
const SEMAPHORE_MAX = 3;

const path = (name: string) => `${CHAOS_BASE}/${name}`;
const directoryOf = ({ path }: Lease) => path.slice(0, path.lastIndexOf('/'));

function terms(random: Random) {
  return {
    onSuspended: random.pick(['abort', 'hold-until-lost'] as const),
    onSessionLost: random.pick(['fail', 'rejoin'] as const),
  };
}

export const chaosKinds: readonly ChaosKind[] = [
  {
    name: 'lock',
    acquire: (client, random, wait) => new Lock(client, path('a'), terms(random)).acquire(wait),
    resourceOf: directoryOf,
  },
  {
    name: 'multi-lock',
    acquire: (client, random, wait) => {
      const locks = ['b', 'a'].map((name) => new Lock(client, path(name), terms(random)));
      return new MultiLock(client, locks).acquire(wait);
    },
    resourceOf: directoryOf,
  },
  {
    name: 'mutex',
    acquire: (client, random, wait) => new Mutex(client, path('m'), terms(random)).acquire(wait),
    resourceOf: directoryOf,
  },
  {
    name: 'simple lock',
    acquire: (client, random, wait) =>
      new SimpleLock(client, path('simple'), terms(random)).acquire(wait),
    resourceOf: (lease) => lease.path,
  },
  {
    name: 'semaphore',
    acquire: (client, random, wait) =>
      new Semaphore(client, path('s'), { maxLeases: SEMAPHORE_MAX, ...terms(random) }).acquire(
        wait,
      ),
    resourceOf: directoryOf,
  },
  {
    name: 'read/write lock',
    acquire: async (client, random, wait) => {
      const lock = new ReadWriteLock(client, path('rw'), terms(random));
      if (random.below(2) === 0) return await lock.read.acquire(wait);
      const write = await lock.write.acquire(wait);
      if (random.below(3) > 0) return write;
      try {
        return await lock.downgrade(write, wait);
      } catch (error) {
        await write.release();
        throw error;
      }
    },
    resourceOf: directoryOf,
  },
];

export interface ChaosRules {
  readonly isExclusive: boolean;
  mayCoexist(live: readonly Lease[]): boolean;
}

export function chaosRules(resource: string): ChaosRules {
  if (resource.startsWith(path('s/'))) {
    return { isExclusive: false, mayCoexist: (live) => live.length <= SEMAPHORE_MAX };
  }
  if (resource === path('rw')) {
    const isWriter = (lease: Lease) => lease.path.includes('__WRIT__');
    return {
      isExclusive: false,
      mayCoexist: (live) => live.length <= 1 || !live.some(isWriter),
    };
  }
  return { isExclusive: true, mayCoexist: (live) => live.length <= 1 };
}
