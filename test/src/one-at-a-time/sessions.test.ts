/**
 * Sessions and their ephemerals: a client that vanishes loses them after the timeout and not
 * before, one that keeps pinging keeps them whatever happens to members, and a session can move at
 * any time.
 */
import { CreateFlag, EventType } from '@rookery/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { sharedEnsemble } from '../client/shared-ensemble.js';
import { KeptSession } from '../harness/kept-session.js';
import { create, exists, getData, sync } from '../harness/operations.js';
import { Random } from '../harness/random.js';
import { connectTo, useClient } from '../harness/use-client.js';
import { never, within } from '../harness/wait.js';
import { SessionExpired, WireClient } from '../harness/wire-client.js';

const TIMEOUT_MS = 2_000;
/** The time from the end of the timeout to the deletion: heartbeats, a commit, a loaded machine. */
const EXPIRY_SLACK_MS = 8_000;
const RESUMES = 150;
const CLOSED_DEADLINE_MS = 10_000;
const TEST_DEADLINE_MS = 120_000;
/** As in production: nothing here may depend on members that are patient with each other. */
const shared = sharedEnsemble({ settings: { peerTimeoutMs: 1_000 } });

it(
  'the ephemerals of vanished clients are deleted everywhere after the timeout and not before',
  async () => {
    const ensemble = shared();
    const ages: Promise<number>[] = [];
    for (const id of ensemble.ids) {
      const path = `/vanishing-${id}`;
      const port = ensemble.member(id).clientPort;
      const client = await WireClient.connect({ port, timeoutMs: TIMEOUT_MS, pings: false });
      await create(client, path, '', CreateFlag.ephemeral);
      const observers = await Promise.all(
        ensemble.ids.map((other) => useClient(ensemble.member(other))),
      );
      for (const observer of observers) {
        await sync(observer);
        expect(await exists(observer, path, true), path).toBeDefined();
      }
      // The member learns of this after `sentMs`: nothing may expire before that plus the timeout.
      const sentMs = performance.now();
      await exists(client, path);
      await client.drop();
      ages.push(...observers.map((observer) => ageAtDeletion(observer, path, sentMs)));
    }
    const youngest = Math.min(...(await Promise.all(ages)));
    expect(youngest, 'ms from the last request to a deletion').toBeGreaterThanOrEqual(TIMEOUT_MS);
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

it(
  'the ephemerals of clients that keep pinging stay through two changes of the leader',
  async () => {
    const ensemble = shared();
    const kept: KeptSession[] = [];
    for (const id of ensemble.ids) {
      // Each client starts at another member.
      const ports = [...ensemble.ports.slice(id - 1), ...ensemble.ports.slice(0, id - 1)];
      const session = await KeptSession.open(ports, TIMEOUT_MS);
      onTestFinished(() => session.stop());
      await create(await session.connected(), `/kept-${id}`, '', CreateFlag.ephemeral);
      kept.push(session);
    }
    for (let change = 0; change < 2; change++) {
      const leader = await ensemble.leader();
      await leader.kill();
      await ensemble.leader();
      ensemble.start([leader.id]);
      await ensemble.serving([leader.id]);
    }
    // Longer than the new leader would wait for a session from which it hears nothing.
    await never('a session expires', TIMEOUT_MS * 2.5, () => {
      return kept.some((session) => session.expired)
        ? 'a client is told that its session has expired'
        : undefined;
    });
    expect(Math.max(...kept.map((session) => session.moves))).toBeGreaterThan(0);
    for (const member of ensemble.ids) {
      const client = await useClient(ensemble.member(member));
      await sync(client);
      for (const [index, session] of kept.entries()) {
        const path = `/kept-${index + 1}`;
        expect((await exists(client, path))?.ephemeralOwner, path).toBe(session.id);
      }
    }
  },
  TEST_DEADLINE_MS,
);

it(
  'a session that is resumed on another member right after its creation is never reported as expired',
  async () => {
    const random = Random.forTest('early resume');
    const ensemble = shared();
    for (let round = 0; round < RESUMES; round++) {
      const [from, to] = random.shuffle(ensemble.members);
      if (from === undefined || to === undefined) throw new Error('two members are needed');
      const client = await connectTo(from);
      // Half of the time the old connection still exists when the session appears elsewhere.
      if (round % 2 === 0) await client.drop();
      const { session, lastZxid } = client;
      const resumed = await connectTo(to, { session, lastZxidSeen: lastZxid });
      expect(resumed.session.id).toBe(client.session.id);
      await within('the end of the older connection', CLOSED_DEADLINE_MS, client.closed);
      await sync(resumed);
      await resumed.close();
    }
  },
  TEST_DEADLINE_MS,
);

it(
  'a closed session is expired on every member and its ephemerals are gone',
  async () => {
    const ensemble = shared();
    const client = await useClient(ensemble.member(1));
    await create(client, '/closing', '', CreateFlag.ephemeral);
    const { session } = client;
    await client.close();
    for (const id of ensemble.ids) {
      const port = ensemble.member(id).clientPort;
      await expect(WireClient.connect({ port, session })).rejects.toBeInstanceOf(SessionExpired);
      const other = await useClient(ensemble.member(id));
      await sync(other);
      expect(await exists(other, '/closing')).toBeUndefined();
    }
  },
  TEST_DEADLINE_MS,
);

it(
  'a wrong password for a session is refused, and the session continues undisturbed',
  async () => {
    const ensemble = shared();
    const client = await useClient(ensemble.member(1));
    await create(client, '/guarded', 'x', CreateFlag.ephemeral);
    const session = { ...client.session, password: new Uint8Array(16).fill(7) };
    for (const port of ensemble.ports) {
      await expect(WireClient.connect({ port, session })).rejects.toBeInstanceOf(SessionExpired);
    }
    expect((await getData(client, '/guarded')).data).toBe('x');
    expect(client.open).toBe(true);
  },
  TEST_DEADLINE_MS,
);

async function ageAtDeletion(observer: WireClient, path: string, sentMs: number): Promise<number> {
  await observer.event(`of the deletion of ${path}`, TIMEOUT_MS + EXPIRY_SLACK_MS, (event) => {
    return event.type === EventType.deleted && event.path === path;
  });
  return performance.now() - sentMs;
}
