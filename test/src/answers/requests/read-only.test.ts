/**
 * Read-only mode: a member that lost its quorum serves a read-only client and refuses the others;
 * afterwards the replicated state contains no trace of it (ZOOKEEPER-3526).
 */
import { ErrorCode, OpCode, ReconfigRequest } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { type Ensemble, useEnsemble } from '../../harness/ensemble.js';
import { fourLetterWord, statusOf } from '../../harness/four-letter.js';
import type { Member } from '../../harness/member.js';
import {
  create,
  getData,
  sendCreate,
  sendDelete,
  sendRefusedCreate,
  sendSetData,
  sendSync,
  sync,
} from '../../harness/operations.js';
import { useClient } from '../../harness/use-client.js';
import { never, until, within } from '../../harness/wait.js';
import {
  ConnectionLost,
  type Reply,
  SessionExpired,
  WireClient,
} from '../../harness/wire-client.js';

const TEST_DEADLINE_MS = 120_000;
const MODE_DEADLINE_MS = 20_000;
/** Longer than read-only mode takes to begin. */
const WATCHED_MS = 4_000;

async function startedEnsemble(): Promise<Ensemble> {
  const ensemble = await useEnsemble({ settings: { readOnlyMode: true, peerTimeoutMs: 1_000 } });
  ensemble.start();
  await ensemble.serving();
  return ensemble;
}

async function isReadOnly(member: Member): Promise<void> {
  await until(`member ${member.id} serves reads`, MODE_DEADLINE_MS, async () => {
    return (await fourLetterWord(member.clientPort, 'isro')) === 'ro' ? true : undefined;
  });
}

function sendReconfig(client: WireClient): Promise<Reply> {
  return client.request(OpCode.reconfig, ReconfigRequest, {
    joiningServers: null,
    leavingServers: '3',
    newMembers: null,
    currentConfigId: -1,
  });
}

it(
  'a member that lost its quorum serves a read-only client and refuses the others',
  async () => {
    const ensemble = await startedEnsemble();
    const [alone, ...others] = ensemble.members;
    if (alone === undefined) throw new Error('three are needed');
    const port = alone.clientPort;
    const writer = await useClient(alone);
    await create(writer, '/seen', 'before');
    expect(await fourLetterWord(port, 'isro')).toBe('rw');
    for (const other of others) await other.kill();
    await isReadOnly(alone);

    await expect(WireClient.connect({ port })).rejects.toThrow(ConnectionLost);
    const { session, lastZxid } = writer;
    // The last transaction need not be the writer's: the probe at the start closed its session.
    const newest = (await statusOf(port))?.zxid ?? 0n;
    const global = { port, session, lastZxidSeen: lastZxid, readOnly: true };
    await expect(WireClient.connect(global)).rejects.toThrow(ConnectionLost);
    const ahead = { port, lastZxidSeen: Number(newest) + 1, readOnly: true };
    await expect(WireClient.connect(ahead)).rejects.toThrow(ConnectionLost);

    const client = await useClient(alone, { readOnly: true, lastZxidSeen: lastZxid });
    expect(client.session.readOnly).toBe(true);
    expect((await getData(client, '/seen', true)).data).toBe('before');
    for (const refused of [
      sendCreate(client, '/new'),
      sendSetData(client, '/seen', 'after'),
      sendDelete(client, '/seen'),
      sendSync(client),
      sendRefusedCreate(client, '/new'),
      sendReconfig(client),
    ]) {
      expect((await refused).error).toBe(ErrorCode.notReadOnly);
    }
    const srvr = await fourLetterWord(port, 'srvr');
    expect(srvr).toContain('\nREAD-ONLY mode; serving only read-only clients\n');
    expect(srvr).toContain('\nMode: read-only\n');
    expect(await fourLetterWord(port, 'mntr')).toContain('\nzk_server_state\tread-only\n');

    ensemble.start(others.map((other) => other.id));
    await within('the end of the read-only connection', MODE_DEADLINE_MS, client.closed);
    await ensemble.serving();
    const readOnly = { port, session: client.session };
    await until('the read-only session is reported as expired', MODE_DEADLINE_MS, async () => {
      const error = await WireClient.connect(readOnly).catch((failure: unknown) => failure);
      return error instanceof SessionExpired ? true : undefined;
    });
    const after = await useClient(alone);
    await create(after, '/new');
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

it(
  'read-only clients that connect, time out and leave cause no trace in the replicated state',
  async () => {
    const ensemble = await startedEnsemble();
    const [alone, ...others] = ensemble.members;
    if (alone === undefined) throw new Error('three are needed');
    const writer = await useClient(alone);
    await create(writer, '/kept');
    await ensemble.sameState();
    for (const other of others) await other.kill();
    await isReadOnly(alone);
    const silent = await useClient(alone, { readOnly: true, timeoutMs: 1_000, pings: false });
    const closing = await useClient(alone, { readOnly: true });
    await closing.close();
    await within('the silent one is timed out', MODE_DEADLINE_MS, silent.closed);
    ensemble.start(others.map((other) => other.id));
    await ensemble.serving();
    for (const member of ensemble.members) expect(member.log()).not.toMatch(/sync\.trunc/);
    const client = await useClient(alone);
    await sync(client);
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

it(
  'a wiped member serves nobody, read-only or not',
  async () => {
    const ensemble = await startedEnsemble();
    const [alone, ...others] = ensemble.members;
    if (alone === undefined) throw new Error('three are needed');
    for (const other of others) await other.kill();
    await alone.kill();
    ensemble.wipe(alone.id);
    ensemble.start([alone.id]);
    await never('a read-only answer', WATCHED_MS, async () => {
      const answer = await fourLetterWord(alone.clientPort, 'isro').catch(() => 'null');
      return answer === 'null' ? undefined : answer;
    });
    const attempt = { port: alone.clientPort, readOnly: true };
    await expect(WireClient.connect(attempt)).rejects.toThrow(ConnectionLost);
  },
  TEST_DEADLINE_MS,
);
