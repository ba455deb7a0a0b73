/**
 * What tests with two languages have in common: the foreign program of a file, who goes in and out
 * of something that excludes, and the end of a session behind its owner's back.
 */
import type { Client, Lease } from '@rookery/client';
import { toInt64 } from '@rookery/protocol';
import { afterAll, beforeAll, beforeEach, expect, onTestFailed } from 'vitest';
import { type DriverCommand, type ForeignActor, ForeignDriver } from '../foreign/driver.js';
import type { Ensemble } from '../harness/ensemble.js';
import { deferred, never, until, within } from '../harness/wait.js';
import { SessionExpired, WireClient } from '../harness/wire-client.js';
import { untilNames } from './directory.js';

const START_DEADLINE_MS = 90_000;
const LOSS_DEADLINE_MS = 40_000;
const END_DEADLINE_MS = 30_000;
/** Time for somebody who does not wait for whom he should to be seen inside. */
const STAY_MS = 50;

export interface DriverProgram extends DriverCommand {
  /** Called when the program has ended. */
  readonly remove?: () => void;
}

/**
 * One program for all tests of a file, to be called at its top after sharedEnsemble(); its last
 * argument is the connect string.
 */
export function sharedDriver(
  ensemble: () => Ensemble,
  prepare: () => Promise<DriverProgram>,
): () => ForeignDriver {
  let shared: ForeignDriver | undefined;
  let remove: (() => void) | undefined;
  const driver = () => {
    if (shared === undefined) throw new Error('no driver before the first test');
    return shared;
  };
  beforeAll(async () => {
    const program = await prepare();
    remove = program.remove;
    const servers = ensemble().ports.map((port) => `127.0.0.1:${port}`);
    shared = new ForeignDriver({ ...program, args: [...program.args, servers.join(',')] });
  }, START_DEADLINE_MS);
  beforeEach(() => {
    onTestFailed(() => console.log(driver().errors));
  });
  afterAll(async () => {
    await shared?.close();
    remove?.();
  });
  return driver;
}

/** Goes in and gives what goes out. */
export type Enter = () => Promise<() => Promise<unknown>>;

/** By a recipe of ours: each time anew, and held until it is given back. */
export function entering(acquire: () => Promise<Lease>): Enter {
  return async () => {
    const lease = await acquire();
    return async () => {
      expect(lease.held).toBe(true);
      await lease.release();
    };
  };
}

/** Enters by the foreign program's operations `<kind>.acquire` and `<kind>.release`. */
export function foreignEntering(
  actor: ForeignActor,
  kind: string,
  path: string,
  ...more: readonly string[]
): Enter {
  return async () => {
    expect(await actor.call(`${kind}.acquire`, path, ...more)).toEqual(['true']);
    return async () => await actor.call(`${kind}.release`, path);
  };
}

/**
 * Lets them stand in line, each after the one before has its znode, then one after the other in and
 * out. They must get in in this order, and nobody while another is in.
 */
export async function inOrder(
  control: Client,
  path: string,
  entrants: Readonly<Record<string, Enter>>,
): Promise<void> {
  const names = Object.keys(entrants);
  const order: string[] = [];
  const complete = deferred<void>();
  const isIn = deferred<void>();
  const visits: Promise<void>[] = [];
  let inside = 0;
  for (const [name, enter] of Object.entries(entrants)) {
    const visit = async () => {
      const leave = await enter();
      order.push(name);
      inside += 1;
      isIn.resolve();
      await complete.promise;
      await never(`somebody beside ${name}`, STAY_MS, () => {
        return inside > 1 ? order.join(', ') : undefined;
      });
      inside -= 1;
      await leave();
    };
    visits.push(visit());
    await untilNames(control, path, visits.length);
  }
  await Promise.race([isIn.promise, Promise.all(visits)]);
  expect(order).toEqual(names.slice(0, 1));
  complete.resolve();
  await Promise.all(visits);
  expect(order).toEqual(names);
  await untilNames(control, path, 0);
}

/** Reads, adds and writes in three steps: right only when nobody else is in between. */
export async function countUp(client: Client, path: string): Promise<void> {
  await client.sync(path);
  const { data } = await client.getData(path);
  await client.setData(path, `${Number(data?.toString()) + 1}`);
}

export interface EndableSession {
  readonly id: bigint;
  readonly password: Uint8Array;
  readonly timeoutMs: number;
}

/** The session of an actor of the foreign program. */
export async function sessionOf(actor: ForeignActor): Promise<EndableSession> {
  const [id = '', password = '', timeoutMs = ''] = await actor.call('session');
  return {
    id: BigInt.asIntN(64, BigInt(`0x${id}`)),
    password: Buffer.from(password, 'hex'),
    timeoutMs: Number(timeoutMs),
  };
}

/**
 * Takes the session over and closes it, until it is not known any more: its owner may have taken it
 * back in between, and will be told that it has expired.
 */
export async function endSession(ensemble: Ensemble, session: EndableSession): Promise<void> {
  const { id, password, timeoutMs } = session;
  const [port = 0] = ensemble.ports;
  await until('the session has ended', END_DEADLINE_MS, async () => {
    try {
      const thief = await WireClient.connect({
        port,
        session: { id: toInt64(id), password, timeoutMs },
      });
      await thief.close();
      return undefined;
    } catch (error) {
      if (error instanceof SessionExpired) return true;
      throw error;
    }
  });
}

/** Resolves when the lease is over. */
export async function overOf(lease: Lease): Promise<void> {
  const over = deferred<void>();
  lease.signal.addEventListener('abort', () => over.resolve(), { once: true });
  if (lease.signal.aborted) return;
  await within('the lease is over', LOSS_DEADLINE_MS, over.promise);
}
