/**
 * Anonymous connections take all watches that one member has room for, with very long paths.
 *
 * The largest holder gives way: another client sets a watch and hears of the change, and one that
 * reconnects sets its watches again.
 */
import { ErrorCode, OpCode, PathWatchRequest, SetWatches2Request } from '@rookery/protocol';
import { create, exists, getData, setData } from '../harness/operations.js';
import { WireClient } from '../harness/wire-client.js';
import type { PlayOptions, Scenario } from './scenario.js';
import { type PlayNotes, Stage } from './stage.js';

const ATTACKERS = 2;
/** The longest that may be watched, nearly, and a shorter one. */
const PATH_BYTES = [65_000, 6_500];
const HELD_BYTES = 400 << 20;
const WAIT_MS_MAX = 100;
const EVENT_DEADLINE_MS = 10_000;

export const greedyWatches: Scenario = {
  name: 'greedy-watches',
  promise: 'two connections take all watches of a member: other clients still set theirs',
  async play({ report }: PlayOptions) {
    const stage = await Stage.set();
    try {
      for (const bytes of PATH_BYTES) {
        const fault = `watches on missing paths of ${bytes} bytes fill the room for watches`;
        const bounds = { waitMsMax: WAIT_MS_MAX };
        report(await stage.play(fault, bounds, (notes) => takeAll(stage, bytes, notes)));
      }
    } finally {
      await stage.strike();
    }
  },
};

async function takeAll(stage: Stage, bytes: number, notes: PlayNotes): Promise<void> {
  const port = stage.ensemble.member(1).clientPort;
  const attackers = await Promise.all(
    Array.from({ length: ATTACKERS }, () => WireClient.connect({ port, recording: false })),
  );
  let held = 0;
  for (let index = 0; index < HELD_BYTES / bytes; index += 1) {
    const attacker = attackers[index % ATTACKERS];
    if (attacker?.open !== true) continue;
    const path = `/${index}/${'w'.repeat(bytes - 10)}`;
    const reply = await attacker
      .request(OpCode.exists, PathWatchRequest, { path, watch: true })
      .catch(() => undefined);
    if (reply?.error === ErrorCode.noNode) held += 1;
  }
  notes.said(`the attackers set ${held} watches; ${attackers.filter((a) => a.open).length} stay`);
  await usesWatches(port, bytes, notes);
  await Promise.all(attackers.map((attacker) => attacker.drop()));
}

async function usesWatches(port: number, bytes: number, notes: PlayNotes): Promise<void> {
  const client = await WireClient.connect({ port });
  const path = `/watched-${bytes}`;
  await create(client, path);
  await getData(client, path, true);
  await setData(client, path, 'changed');
  await client.event('of the change', EVENT_DEADLINE_MS, (event) => event.path === path);
  const { session, lastZxid } = client;
  await client.drop();
  const again = await WireClient.connect({ port, session, lastZxidSeen: lastZxid });
  const reply = await again.request(OpCode.setWatches2, SetWatches2Request, {
    relativeZxid: lastZxid,
    dataWatches: [path],
    existWatches: ['/not-there-1', '/not-there-2'],
    childWatches: [],
    persistentWatches: [],
    persistentRecursiveWatches: [],
  });
  if (reply.error !== ErrorCode.ok) notes.broken(`setWatches was answered with ${reply.error}`);
  if ((await exists(again, path, true)) === undefined) notes.broken('the znode is gone');
  await again.close();
}
