/**
 * Many tasks on a few clients contend for one right while requests, replies, connections, sessions
 * and waiters' znodes are lost at random. At every step the live leases must be such as the recipe
 * allows; exclusive tokens must grow; and when the faults have stopped everybody must get in, and
 * nothing must be left: no znode, no watcher, no listener, no timer.
 *
 * A failure names its seed. What is lost is so at the moment of the request, before or after it was
 * applied; a session is lost for its client some time before it is for the server.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Client } from '../api/client.js';
import { LeaseLostError } from '../api/errors.js';
import type { Lease } from '../api/lease.js';
import { FakeClient } from '../testing/fake-client.js';
import { FakeServer } from '../testing/fake-server.js';
import { FakeSurroundings } from '../testing/fake-surroundings.js';
import { Lock } from './lock.js';
import { Mutex } from './mutex.js';
import { ReadWriteLock } from './read-write-lock.js';
import { Semaphore } from './semaphore.js';
import { SimpleLock } from './simple-lock.js';

const CLIENTS = 4;
const TASKS_PER_CLIENT = 3;
const ROUNDS = 3;
const FAULTY_STEPS = 400;
const STEPS_MAX = 20_000;
const RUNS = Number(process.env['ROOKERY_CONTENTION_RUNS'] ?? 25);

interface Right {
  /** Where its znodes are. */
  readonly directories: readonly string[];
  readonly isExclusive: boolean;
  acquire(task: number, signal: AbortSignal): Promise<readonly Lease[]>;
}

interface Contest {
  /** A right of one client. */
  readonly open: (client: Client) => Right;
  readonly mayCoexist: (live: readonly Lease[]) => boolean;
}

const one = async (lease: Promise<Lease>) => [await lease];
const isAlone = (live: readonly Lease[]) => live.length <= 1;
const options = { onSessionLost: 'rejoin', data: null } as const;

const CONTESTS: Record<string, Contest> = {
  Lock: {
    open: (client) => {
      const lock = new Lock(client, '/a/lock', options);
      const acquire = (_: number, signal: AbortSignal) => one(lock.acquire({ signal }));
      return { directories: ['/a/lock'], isExclusive: true, acquire };
    },
    mayCoexist: isAlone,
  },
  'Lock that aborts when suspended': {
    open: (client) => {
      const lock = new Lock(client, '/a/lock', { ...options, onSuspended: 'abort' });
      const acquire = (_: number, signal: AbortSignal) => one(lock.acquire({ signal }));
      return { directories: ['/a/lock'], isExclusive: true, acquire };
    },
    mayCoexist: isAlone,
  },
  SimpleLock: {
    open: (client) => {
      const lock = new SimpleLock(client, '/a/simple', options);
      const acquire = (_: number, signal: AbortSignal) => one(lock.acquire({ signal }));
      return { directories: ['/a'], isExclusive: true, acquire };
    },
    mayCoexist: isAlone,
  },
  Mutex: {
    open: (client) => {
      const mutex = new Mutex(client, '/a/mutex', options);
      const acquire = (_: number, signal: AbortSignal) => one(mutex.acquire({ signal }));
      const directories = ['/a/mutex/locks', '/a/mutex/leases'];
      return { directories, isExclusive: true, acquire };
    },
    mayCoexist: isAlone,
  },
  Semaphore: {
    open: (client) => {
      const semaphore = new Semaphore(client, '/a/semaphore', { ...options, maxLeases: 3 });
      const acquire = (task: number, signal: AbortSignal) =>
        semaphore.acquireMany((task % 3) + 1, { signal });
      const directories = ['/a/semaphore/locks', '/a/semaphore/leases'];
      return { directories, isExclusive: false, acquire };
    },
    mayCoexist: (live) => live.length <= 3,
  },
  ReadWriteLock: {
    open: (client) => {
      const lock = new ReadWriteLock(client, '/a/rw', options);
      const acquire = (task: number, signal: AbortSignal) => {
        if (task % 3 === 0) return one(lock.write.acquire({ signal }));
        if (task % 3 === 1) return one(lock.read.acquire({ signal }));
        const downgraded = async () => {
          const lease = await lock.write.acquire({ signal });
          try {
            return await lock.downgrade(lease, { signal });
          } catch (error) {
            await lease.release();
            throw error;
          }
        };
        return one(downgraded());
      };
      return { directories: ['/a/rw'], isExclusive: false, acquire };
    },
    mayCoexist: (live) => live.length <= 1 || live.every(({ path }) => path.includes('__READ__')),
  },
};

describe.each(Object.entries(CONTESTS))('%s under random faults', (_, contest) => {
  it('lets in whom it may, everybody in the end, and leaves nothing', {
    timeout: 60_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (seed) => run(contest, seed)),
      { numRuns: RUNS, endOnFailure: true },
    );
  });
});

async function run(contest: Contest, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const server = new FakeServer();
  const surroundings = new FakeSurroundings();
  const clients = Array.from({ length: CLIENTS }, () => new FakeClient(server, { surroundings }));
  const rights = clients.map((client) => contest.open(client));
  const ledger = new Ledger(contest, rights[0]?.isExclusive === true);
  const aborts = new Set<AbortController>();
  let isCalm = false;
  const tasks = rights.flatMap((right) =>
    Array.from({ length: TASKS_PER_CLIENT }, (_, task) =>
      acquireRepeatedly({ right, task, random, ledger, aborts, isCalm: () => isCalm }),
    ),
  );
  let unfinished = tasks.length;
  const stop = () => {
    unfinished = 0;
  };
  for (const task of tasks) task.then(() => unfinished--, stop);
  const directories = rights[0]?.directories ?? [];
  for (let step = 0; unfinished > 0; step++) {
    expect(step, `steps of seed ${seed}, ${ledger.describe()}`).toBeLessThan(STEPS_MAX);
    isCalm = step >= FAULTY_STEPS;
    if (!isCalm && random() < 0.15) strike({ random, server, clients, directories, aborts });
    if (isCalm || random() < 0.3) surroundings.advance(20);
    await new Promise(setImmediate);
    ledger.check();
  }
  await Promise.all(tasks);
  await surroundings.settle();
  for (const directory of directories) {
    const left = server.stat(directory) === null ? [] : server.children(directory);
    expect(left, `znodes left by seed ${seed}`).toEqual([]);
  }
  const traces = clients.map(({ watchCount, listenerCount }) => ({ watchCount, listenerCount }));
  expect(traces).toEqual(clients.map(() => ({ watchCount: 0, listenerCount: 0 })));
  expect(surroundings.timerCount).toBe(0);
}

interface TaskContext {
  readonly right: Right;
  readonly task: number;
  readonly random: () => number;
  readonly ledger: Ledger;
  readonly aborts: Set<AbortController>;
  readonly isCalm: () => boolean;
}

/** Acquires and releases ROUNDS times; an attempt that fails by a fault is made again. */
async function acquireRepeatedly(context: TaskContext): Promise<void> {
  const { right, task, random, ledger, aborts } = context;
  for (let round = 0; round < ROUNDS; ) {
    const controller = new AbortController();
    aborts.add(controller);
    try {
      const leases = await right.acquire(task, controller.signal);
      ledger.add(leases);
      const turnsHeld = Math.floor(random() * 8);
      for (let turn = 0; turn < turnsHeld; turn++) await new Promise(setImmediate);
      await Promise.all(leases.map((lease) => lease.release()));
      round++;
    } catch (error) {
      if (!controller.signal.aborted && !(error instanceof LeaseLostError)) throw error;
    } finally {
      aborts.delete(controller);
    }
  }
}

/** All leases ever given, and what must be true of them. */
class Ledger {
  readonly #contest: Contest;
  readonly #isExclusive: boolean;
  #leases: Lease[] = [];
  #given = 0;
  #lastToken = 0n;

  constructor(contest: Contest, isExclusive: boolean) {
    this.#contest = contest;
    this.#isExclusive = isExclusive;
  }

  add(leases: readonly Lease[]): void {
    for (const lease of leases) {
      if (this.#isExclusive) expect(lease.fencingToken).toBeGreaterThan(this.#lastToken);
      this.#lastToken = lease.fencingToken;
      this.#leases.push(lease);
      this.#given++;
    }
    this.check();
  }

  check(): void {
    this.#leases = this.#leases.filter(({ held }) => held);
    const paths = this.#leases.map(({ path }) => path);
    expect(this.#contest.mayCoexist(this.#leases), `held at once: ${paths}`).toBe(true);
  }

  describe(): string {
    return `${this.#given} given, ${this.#leases.length} held`;
  }
}

interface Field {
  readonly random: () => number;
  readonly server: FakeServer;
  readonly clients: readonly FakeClient[];
  readonly directories: readonly string[];
  readonly aborts: ReadonlySet<AbortController>;
}

const OPS = ['create', 'delete', 'getChildren', 'getData', 'sync'];

function strike({ random, server, clients, aborts }: Field): void {
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
  const client = pick(clients);
  if (client === undefined) return;
  const kind = Math.floor(random() * 10);
  if (kind < 4) {
    client.failNext(pick(OPS) ?? '', random() < 0.5 ? 'request-lost' : 'reply-lost');
  } else if (kind < 6) {
    client.loseConnection();
  } else if (kind === 6) {
    client.expire();
  } else if (kind === 7) {
    const { session } = client;
    client.loseSession();
    // The server learns it later: that is what the client's margin is for.
    if (session !== null) client.surroundings.setTimer(100, () => server.endSession(session.id));
  } else if (kind === 8) {
    pick([...aborts])?.abort();
  } else {
    client.comesBack = false;
    client.loseConnection();
    client.surroundings.setTimer(random() * 60, () => {
      client.comesBack = true;
      client.comeBack();
    });
  }
}

/** mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
