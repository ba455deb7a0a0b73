/**
 * Local sessions, where the operator enables them: they list, read and write, own no ephemerals,
 * cost no transaction, and exist at their member alone.
 */
import { CreateFlag, ErrorCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { fourLetterWord, metricsOf } from '../../harness/four-letter.js';
import {
  create,
  exists,
  getChildren,
  getData,
  sendCreate,
  sync,
} from '../../harness/operations.js';
import { resumeAt, useClient } from '../../harness/use-client.js';
import { until, within } from '../../harness/wait.js';
import { SessionExpired, WireClient } from '../../harness/wire-client.js';

const TEST_DEADLINE_MS = 120_000;
const EXPIRY_DEADLINE_MS = 20_000;
const SETTINGS = { localSessions: true };

it(
  'a local session lists, reads and writes, and creating an ephemeral is refused with -120',
  async () => {
    const ensemble = await useServingEnsemble({ settings: SETTINGS });
    const [follower] = await ensemble.followers();
    if (follower === undefined) throw new Error('there is a follower');
    // The only write without a client: the first leader raises the ensemble level.
    await until('the ensemble level is raised', TEST_DEADLINE_MS, () => {
      return follower.log().includes('level.raised') || undefined;
    });
    const before = (await follower.status())?.zxid;
    const client = await useClient(follower);
    expect((await follower.status())?.zxid).toBe(before);
    expect(client.session.id).toBeLessThan(0);
    await create(client, '/written', 'locally');
    expect((await getData(client, '/written')).data).toBe('locally');
    expect(await getChildren(client, '/')).toContain('written');
    for (const flags of [CreateFlag.ephemeral, CreateFlag.ephemeralSequential]) {
      const reply = await sendCreate(client, '/ephemeral', '', flags);
      expect(reply.error).toBe(ErrorCode.ephemeralOnLocalSession);
    }
    await sync(client);
    const metrics = await metricsOf(follower.clientPort);
    expect([metrics.get('zk_local_sessions'), metrics.get('zk_global_sessions')]).toEqual([
      '1',
      '0',
    ]);
    const id = BigInt.asUintN(64, BigInt(client.session.id)).toString(16);
    const dump = await fourLetterWord(follower.clientPort, 'dump');
    expect(dump).toMatch(/^SessionTracker dump:\nLocal Session Sets \(1\)\/\(1\):\n1 expire at /);
    expect(dump).toContain(`\n\t0x${id}\nGlobal Sessions(0):\n`);
    await client.close();
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

it(
  'a local session can be resumed at its member alone, also after a change of the leader',
  async () => {
    const ensemble = await useServingEnsemble({ settings: SETTINGS });
    const [leader, [home]] = [await ensemble.leader(), await ensemble.followers()];
    if (home === undefined) throw new Error('there is a follower');
    const client = await useClient(home);
    await create(client, '/a');
    const elsewhere = { port: leader.clientPort, session: client.session };
    await expect(WireClient.connect(elsewhere)).rejects.toThrow(SessionExpired);
    await leader.kill();
    await within('the end of the old connection', EXPIRY_DEADLINE_MS, client.closed);
    const resumed = await resumeAt(home, client);
    expect(resumed.session.id).toBe(client.session.id);
    expect(await exists(resumed, '/a')).toBeDefined();
  },
  TEST_DEADLINE_MS,
);

it(
  'a silent local session expires at its member, which ends its connection',
  async () => {
    const ensemble = await useServingEnsemble({ size: 1, settings: SETTINGS });
    const member = ensemble.member(1);
    const options = { timeoutMs: 1_000, pings: false };
    const silent = await useClient(member, options);
    const pinging = await useClient(member, { timeoutMs: 1_000 });
    await within('the end of the silent connection', EXPIRY_DEADLINE_MS, silent.closed);
    const again = { port: member.clientPort, session: silent.session };
    await expect(WireClient.connect(again)).rejects.toThrow(SessionExpired);
    expect(pinging.open).toBe(true);
  },
  TEST_DEADLINE_MS,
);
