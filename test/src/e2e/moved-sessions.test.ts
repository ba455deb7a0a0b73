/**
 * If a session moves to another member and back while its first connection still sends, the session
 * finds a prefix of what that connection sent, and nothing more of it ever appears. Real processes
 * run under load, so that connections are read at different times. The first connection sends
 * numbered znodes: `sync` and a listing on the last connection show them all.
 */
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../harness/ensemble.js';
import type { Member } from '../harness/member.js';
import { create, getChildren, sendCreate, sendSetData, sync } from '../harness/operations.js';
import { Random } from '../harness/random.js';
import { connectTo, useClient } from '../harness/use-client.js';
import { until, within } from '../harness/wait.js';
import { ConnectionLost, type Session, type WireClient } from '../harness/wire-client.js';

const MOVES = 100;
const LOAD_CLIENTS = 4;
const LOAD_PIPELINE = 24;
/** They are written together, so that a member may learn of the move between two of them. */
const WRITES_AT_ONCE = 8;
const WRITES_MAX = 4_000;
const CLOSED_DEADLINE_MS = 10_000;
const TEST_DEADLINE_MS = 170_000;

it(
  'of the writes of an abandoned connection a prefix is done, and none appears later',
  async () => {
    const random = Random.forTest('moves');
    // A busy machine must not change the leader, which ends all connections: another test covers
    // that.
    const ensemble = await useServingEnsemble({ settings: { peerTimeoutMs: 8_000 } });
    const root = await useClient(ensemble.member(1));
    const load = await Promise.all(
      Array.from({ length: LOAD_CLIENTS }, (_, at) => startLoad(ensemble.member(1 + (at % 3)))),
    );
    const [leader] = [await ensemble.leader()];
    for (let move = 0; move < MOVES; move++) {
      const parent = `/moves-${move}`;
      await create(root, parent);
      // Half of the time it is the member where the load makes turns longest.
      const [one, other] = random.shuffle(ensemble.members.filter(({ id }) => id !== leader.id));
      if (one === undefined || other === undefined) throw new Error('two followers are needed');
      const [home, away] = [one, move % 2 === 0 ? other : leader];
      const first = await connectTo(home);
      const writing = writeOn(first, parent);
      await pause(random.below(4));
      // The session is still on its way there when it comes back: nobody waits for the connect
      // response.
      const gone = connectTo(away, { session: first.session }).catch(() => undefined);
      await pause(random.below(3));
      const { back, shown } = await backAndSynced(home, first.session, parent);
      await writing;
      await within('the end of the first', CLOSED_DEADLINE_MS, first.closed);
      await (await gone)?.drop();
      await sync(root);
      const later = numbersOf(await getChildren(root, parent));
      const beginning = Array.from({ length: shown.length }, (_, at) => at);
      expect(shown, `move ${move}: what was done is a prefix`).toEqual(beginning);
      expect(later, `move ${move}: nothing is done after the sync`).toEqual(shown);
      await back.drop();
    }
    for (const { stop } of load) await stop();
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

/**
 * The session's newest connection, once it can send; the other one may have been established after
 * it.
 */
async function backAndSynced(home: Member, session: Session, parent: string) {
  return await until('the session is back', CLOSED_DEADLINE_MS, async () => {
    try {
      const back = await connectTo(home, { session });
      await sync(back);
      return { back, shown: numbersOf(await getChildren(back, parent)) };
    } catch (error) {
      if (error instanceof ConnectionLost) return undefined;
      throw error;
    }
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Continues until the connection is ended; nobody waits for the outcome of a write. */
async function writeOn(client: WireClient, parent: string): Promise<void> {
  for (let first = 0; client.open && first < WRITES_MAX; first += WRITES_AT_ONCE) {
    client.pipeline(() => {
      for (let at = first; at < first + WRITES_AT_ONCE; at++) {
        sendCreate(client, `${parent}/${at}`).catch(() => undefined);
      }
    });
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Writes without end, many at a time. */
async function startLoad(member: Member) {
  const client = await connectTo(member, { recording: false });
  const path = await create(client, '/load-', 'x', 2);
  let isStopping = false;
  const run = async (): Promise<void> => {
    while (!isStopping) await sendSetData(client, path, 'y'.repeat(1_000));
  };
  const runs = Array.from({ length: LOAD_PIPELINE }, run);
  const stop = async (): Promise<void> => {
    isStopping = true;
    await Promise.all(runs);
    await client.close();
  };
  return { stop };
}

function numbersOf(names: readonly string[]): readonly number[] {
  return names.map(Number).sort((one, other) => one - other);
}
