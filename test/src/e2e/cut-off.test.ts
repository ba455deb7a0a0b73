/**
 * Members are cut off by a network that loses everything: nobody receives anything, and no
 * connection is closed.
 *
 * A leader without its quorum acknowledges and confirms nothing; the others continue; when the cut
 * heals, what only the old leader had logged is removed everywhere. Packets from before the cut may
 * still arrive after it, so both ways of healing are tried.
 */
import { CreateFlag } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { type Ensemble, useServingEnsemble } from '../harness/ensemble.js';
import type { Member } from '../harness/member.js';
import {
  create,
  exists,
  getChildren,
  getData,
  sendCreate,
  sendSync,
  setData,
  sync,
} from '../harness/operations.js';
import { resumeAt, useClient } from '../harness/use-client.js';
import { until, within } from '../harness/wait.js';
import type { Reply } from '../harness/wire-client.js';

const DEADLINE_MS = 20_000;
const TEST_DEADLINE_MS = 120_000;
/** In each direction. */
const LINK_DELAY_MS = 50;
const LONE_WRITES = 20;

const CUTS = [
  {
    how: 'that neither receives nor is received',
    logsAlone: true,
    cut: (ensemble: Ensemble, id: number) => ensemble.network.isolate(id),
    heal: (ensemble: Ensemble, id: number) => ensemble.network.heal(id),
  },
  {
    how: 'whose connections finally break',
    logsAlone: true,
    cut: (ensemble: Ensemble, id: number) => ensemble.network.isolate(id),
    heal: (ensemble: Ensemble, id: number) => ensemble.network.healWithReset(id),
  },
  {
    how: 'that is received but receives nothing',
    // The others have logged its writes, so these may well survive, although it never knew of that.
    logsAlone: false,
    cut: (ensemble: Ensemble, id: number) => {
      for (const other of ensemble.ids.filter((o) => o !== id)) {
        ensemble.network.holdOneWay(other, id);
      }
    },
    heal: (ensemble: Ensemble, id: number) => ensemble.network.heal(id),
  },
];

it.each(CUTS)(
  'a leader $how acknowledges nothing and discards what only it has logged',
  async (cut) => {
    const ensemble = await useServingEnsemble({ proxied: true });
    const old = await ensemble.leader();
    const others = ensemble.members.filter((member) => member !== old);
    const client = await useClient(old);
    await create(client, '/cut');
    await create(client, '/cut/before');

    cut.cut(ensemble, old.id);
    const lone = client.pipeline(() => [
      ...Array.from({ length: LONE_WRITES }, (_, i) => sendCreate(client, `/cut/lone-${i}`)),
      sendSync(client),
    ]);
    const leader = await leaderAmong(others);
    const survivor = await useClient(leader);
    await create(survivor, '/cut/during');
    await within('the end of the old connection', DEADLINE_MS, client.closed);
    expect(await answersOf(lone), 'answers of a leader without a quorum').toEqual([]);
    expect(await old.status(), 'it serves no clients').toBeUndefined();

    cut.heal(ensemble, old.id);
    await ensemble.serving();
    await create(survivor, '/cut/after');
    await ensemble.sameState();
    for (const member of ensemble.members) {
      const reader = await useClient(member);
      await sync(reader);
      const names = await getChildren(reader, '/cut');
      const known = cut.logsAlone ? names : names.filter((name) => !name.startsWith('lone-'));
      expect(known, `member ${member.id}`).toEqual(['after', 'before', 'during']);
    }
  },
  TEST_DEADLINE_MS,
);

it(
  'the clients of a cut-off follower move, keep their sessions and see no older state',
  async () => {
    const ensemble = await useServingEnsemble({ proxied: true });
    const [follower] = await ensemble.followers();
    if (follower === undefined) throw new Error('there is no follower');
    const writer = await useClient(await ensemble.leader());
    await create(writer, '/register', '0');
    const client = await useClient(follower);
    await create(client, '/mine', '', CreateFlag.ephemeral);

    ensemble.network.isolate(follower.id);
    let written = 0;
    let seen = 0;
    // Reads continue while the follower falls behind, until it notices and closes its clients'
    // connections.
    while (client.open) {
      written += 1;
      await setData(writer, '/register', String(written));
      const read = await getData(client, '/register').catch(() => undefined);
      if (read === undefined) break;
      expect(Number(read.data), 'reads through one session').toBeGreaterThanOrEqual(seen);
      seen = Number(read.data);
    }
    await within('the end of the connection', DEADLINE_MS, client.closed);

    const elsewhere = ensemble.members.filter((member) => member !== follower);
    for (const member of [...elsewhere, follower]) {
      if (member === follower) {
        ensemble.network.heal(follower.id);
        await ensemble.serving();
      }
      const moved = await resumeAt(member, client);
      expect(moved.session.id).toBe(client.session.id);
      expect((await exists(moved, '/mine'))?.ephemeralOwner).toBe(client.session.id);
      const read = await getData(moved, '/register');
      expect(Number(read.data), `at member ${member.id}`).toBeGreaterThanOrEqual(seen);
      seen = Number(read.data);
      await sync(moved);
      expect((await getData(moved, '/register')).data).toBe(String(written));
      await moved.drop();
    }
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

it(
  'a leader that was frozen acknowledges none of the requests that waited for it',
  async () => {
    const ensemble = await useServingEnsemble({ settings: { peerTimeoutMs: 1_000 } });
    const old = await ensemble.leader();
    const others = ensemble.members.filter((member) => member !== old);
    const client = await useClient(old);
    await create(client, '/frozen');

    const frozenAtMs = performance.now();
    old.freeze();
    const lone = client.pipeline(() => [
      ...Array.from({ length: LONE_WRITES }, (_, i) => sendCreate(client, `/frozen/lone-${i}`)),
      sendSync(client),
    ]);
    const survivor = await useClient(await leaderAmong(others));
    await create(survivor, '/frozen/during');
    console.log(
      `frozen leader: ${(performance.now() - frozenAtMs).toFixed(0)} ms to the next write`,
    );

    old.thaw();
    await within('the end of the old connection', DEADLINE_MS, client.closed);
    expect(await answersOf(lone), 'answers of a leader of the past').toEqual([]);
    await ensemble.serving();
    await ensemble.sameState();
    for (const member of ensemble.members) {
      const reader = await useClient(member);
      await sync(reader);
      expect(await getChildren(reader, '/frozen'), `member ${member.id}`).toEqual(['during']);
    }
  },
  TEST_DEADLINE_MS,
);

it(
  'writes and elections still work when every link is slow',
  async () => {
    const ensemble = await useServingEnsemble({ proxied: true });
    ensemble.network.delay(LINK_DELAY_MS);
    const writer = await useClient(await ensemble.leader());
    await create(writer, '/slow', '0');
    const startedMs = performance.now();
    for (let round = 1; round <= 10; round++) await setData(writer, '/slow', String(round));
    // A quorum is one link away, there and back; timers may fire slightly early.
    const tookMs = performance.now() - startedMs;
    expect(tookMs, 'the delay is in force').toBeGreaterThan(10 * (2 * LINK_DELAY_MS - 5));
    const old = await ensemble.leader();
    await old.kill();
    const leader = await leaderAmong(ensemble.running);
    const client = await useClient(leader);
    expect((await getData(client, '/slow')).data).toBe('10');
  },
  TEST_DEADLINE_MS,
);

function leaderAmong(members: readonly Member[]): Promise<Member> {
  return until('one of the others leads', DEADLINE_MS, async () => {
    for (const member of members) {
      if ((await member.status())?.mode === 'leader') return member;
    }
    return undefined;
  });
}

/** Any answer counts, including errors: each would claim to know the outcome. */
async function answersOf(requests: readonly Promise<Reply>[]): Promise<Reply[]> {
  const outcomes = await Promise.all(requests.map((request) => request.catch(() => undefined)));
  return outcomes.filter((reply) => reply !== undefined);
}
