/**
 * Two replicas of a few znodes kept by watches alone, one by a recursive stream that reads again on
 * 'resync', one by a one-shot watch on each path, while a writer changes them at random and the
 * connections are cut and the session is ended. However the events fell: both end equal to the
 * truth. Seeded; what is random is who changes what, and between which changes it is cut.
 */
import {
  type Client,
  ConnectionLossError,
  NodeExistsError,
  NoNodeError,
  SessionExpiredError,
  type WatchEvent,
  type Watcher,
} from '@rookery/client';
import { expect, test } from 'vitest';
import { Random } from '../harness/random.js';
import { type Deferred, deferred, within } from '../harness/wait.js';
import { CuttableClient, LONG_SESSIONS, useDirectClient } from './cuttable-client.js';
import { caughtUp, sharedEnsemble } from './shared-ensemble.js';

const ROOT = '/replica';
const PATHS = Array.from({ length: 8 }, (_, index) => `${ROOT}/${index}`);
const CHANGES = 400;
/** One in so many changes is followed by a cut; every fourth cut ends the session. */
const CHANGES_PER_CUT = 25;
const EQUAL_DEADLINE_MS = 60_000;
const TEST_DEADLINE_MS = 150_000;

const ensemble = sharedEnsemble({ settings: LONG_SESSIONS });

/** Path to the mzxid of its znode; those that are not there are left out. */
class Replica {
  readonly nodes = new Map<string, bigint>();
  #equal: { readonly to: ReadonlyMap<string, bigint>; readonly reached: Deferred<void> } | null =
    null;

  set(path: string, mzxid: bigint | null): void {
    if (mzxid === null) this.nodes.delete(path);
    else this.nodes.set(path, mzxid);
    this.#look();
  }

  async becomes(to: ReadonlyMap<string, bigint>): Promise<void> {
    const reached = deferred<void>();
    this.#equal = { to, reached };
    this.#look();
    await within('the replica is equal', EQUAL_DEADLINE_MS, reached.promise).catch(() => {
      expect(sorted(this.nodes)).toEqual(sorted(to));
    });
  }

  #look(): void {
    if (this.#equal === null) return;
    const { to, reached } = this.#equal;
    const same = this.nodes.size === to.size;
    if (same && [...to].every(([path, mzxid]) => this.nodes.get(path) === mzxid)) reached.resolve();
  }
}

function sorted(nodes: ReadonlyMap<string, bigint>): [string, bigint][] {
  return [...nodes].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A read is tried again, in the next session if need be; nothing else may go wrong. */
async function persist<T>(read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      const passes = error instanceof ConnectionLossError || error instanceof SessionExpiredError;
      if (!passes) throw error;
    }
  }
}

async function followStream(client: Client, replica: Replica, signal: AbortSignal): Promise<void> {
  const refresh = async (path: string) => {
    const stat = await persist(() => client.exists(path));
    replica.set(path, stat?.mzxid ?? null);
  };
  const events = client.watch(ROOT, { recursive: true, signal, capacity: 20 });
  for (const path of PATHS) await refresh(path);
  for await (const event of events) {
    if (event.type === 'resync') for (const path of PATHS) await refresh(path);
    else if (PATHS.includes(event.path)) await refresh(event.path);
  }
}

/**
 * Every call of the watcher, for whatever reason, makes one new read of the path, which leaves the
 * next watch. Resolves when the client is closed.
 */
async function followByOneShots(client: Client, replica: Replica, path: string): Promise<void> {
  for (;;) {
    const told = deferred<WatchEvent>();
    const watcher: Watcher = (event) => told.resolve(event);
    const stat = await persist(() => client.exists(path, { watcher }));
    replica.set(path, stat?.mzxid ?? null);
    const { type } = await told.promise;
    if (type === 'closed') return;
  }
}

async function change(writer: Client, random: Random): Promise<void> {
  const path = random.pick(PATHS);
  try {
    const roll = random.below(4);
    if (roll === 0) await writer.create(path);
    else if (roll === 1) await writer.delete(path);
    else await writer.setData(path, `${random.below(1_000)}`);
  } catch (error) {
    // Half of what is tried at random cannot be.
    if (!(error instanceof NodeExistsError || error instanceof NoNodeError)) throw error;
  }
}

test(
  'replicas by a recursive stream and by one-shot watches end equal to the truth',
  async () => {
    const random = Random.forTest('watch replica');
    const writer = await useDirectClient(ensemble());
    const cuttable = await CuttableClient.use(ensemble());
    const { client } = cuttable;
    await writer.create(ROOT);
    await client.sync(ROOT);
    const [byStream, byOneShots] = [new Replica(), new Replica()];
    const controller = new AbortController();
    const streaming = followStream(client, byStream, controller.signal);
    const following = PATHS.map((path) => followByOneShots(client, byOneShots, path));

    let cuts = 0;
    for (let at = 0; at < CHANGES; at++) {
      await change(writer, random);
      if (random.below(CHANGES_PER_CUT) !== 0) continue;
      await cuttable.cut();
      for (let missed = random.below(5); missed > 0; missed--) await change(writer, random);
      if (cuts++ % 4 === 3) await cuttable.expireSession();
      await cuttable.heal();
    }
    const truth = new Map<string, bigint>();
    for (const path of PATHS) {
      const stat = await writer.exists(path);
      if (stat !== null) truth.set(path, stat.mzxid);
    }
    await caughtUp(ensemble());
    await Promise.all([byStream.becomes(truth), byOneShots.becomes(truth)]);

    controller.abort();
    await streaming;
    await client.sync(ROOT);
    // One watch stands for each path, whatever happened; none was left over on the way.
    expect(client.watchCount).toBe(PATHS.length);
    await client.close();
    await Promise.all(following);
    expect(client.watchCount).toBe(0);
  },
  TEST_DEADLINE_MS,
);
