/**
 * Random faults, from a seed, between clients and an in-memory server. A session is lost for its
 * client some time before the server expires it, as the client's safety margin ensures.
 * Deterministic; only for tests.
 */
import type { FakeClient } from './fake-client.js';
import type { FakeServer } from './fake-server.js';
import type { FakeSurroundings } from './fake-surroundings.js';

export type Random = () => number;

/** The mulberry32 generator. */
export function randomFrom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pick<T>(from: readonly T[], random: Random): T | undefined {
  return from[Math.floor(random() * from.length)];
}

export interface Victim {
  readonly server: FakeServer;
  readonly client: FakeClient;
  readonly random: Random;
}

const OPS = ['create', 'delete', 'getChildren', 'getData', 'exists', 'setData', 'sync', 'multi'];

/** Loses a request or a reply, the connection for a moment or a while, or the session. */
export function strike({ server, client, random }: Victim): void {
  switch (Math.floor(random() * 9)) {
    case 0:
    case 1:
    case 2:
    case 3:
      client.failNext(pick(OPS, random) ?? '', random() < 0.5 ? 'request-lost' : 'reply-lost');
      return;
    case 4:
    case 5:
      client.loseConnection();
      return;
    case 6:
      client.expire();
      return;
    case 7: {
      const { session } = client;
      client.loseSession();
      if (session !== null) client.surroundings.setTimer(100, () => server.endSession(session.id));
      return;
    }
    default:
      client.comesBack = false;
      client.loseConnection();
      client.surroundings.setTimer(random() * 60, () => {
        client.comesBack = true;
        client.comeBack();
      });
  }
}

export interface Schedule {
  readonly surroundings: FakeSurroundings;
  readonly random: Random;
  /** The number of steps in which faults may happen; after them there are none. */
  readonly faultySteps: number;
  readonly fault: () => void;
  readonly check: () => void;
}

/**
 * Runs the tasks to their end, with a check at each step. Rejects as soon as one of them does, or
 * if they do not finish within a bounded number of steps without faults.
 */
export async function runToEnd(
  tasks: readonly Promise<void>[],
  { surroundings, random, faultySteps, fault, check }: Schedule,
): Promise<void> {
  let unfinished = tasks.length;
  let failed = false;
  for (const task of tasks) {
    task.then(
      () => unfinished--,
      () => {
        failed = true;
      },
    );
  }
  for (let step = 0; unfinished > 0 && !failed; step++) {
    const isCalm = step >= faultySteps;
    if (step > faultySteps + STEPS_CALM_MAX) throw new Error(`${unfinished} tasks do not end`);
    if (!isCalm && random() < 0.15) fault();
    if (isCalm || random() < 0.3) surroundings.advance(20);
    await new Promise(setImmediate);
    check();
  }
  await Promise.all(tasks);
}

const STEPS_CALM_MAX = 20_000;

/** The seeds from 1 on. ROOKERY_RECIPE_SEEDS overrides their number, for a longer search. */
export function seeds(count: number): number[] {
  const length = Number(process.env['ROOKERY_RECIPE_SEEDS'] ?? count);
  return Array.from({ length }, (_, index) => index + 1);
}
