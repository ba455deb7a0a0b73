/** `kill`, `restart` and `cutOff` of a test ensemble, observed through raw connections. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEnsemble } from '@rookery/server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { create, exists, getData, sendCreate, setData, sync } from '../harness/operations.js';
import { deferred } from '../harness/wait.js';
import { ConnectionLost, WireClient } from '../harness/wire-client.js';
import {
  clientOf,
  codeOf,
  dialled,
  follower,
  listenOn,
  portOf,
  resumed,
  started,
} from './fixture.js';

describe('kill', () => {
  it('of the leader ends its connections, and another member becomes leader and serves', async () => {
    const ensemble = await started();
    const old = await ensemble.leader();
    const client = await clientOf(old);
    await create(client, '/kept', 'before');
    await ensemble.kill(old.id);
    await client.closed;
    expect(old.state).toBe('stopped');
    const next = await ensemble.leader();
    expect(next.id).not.toBe(old.id);
    const other = await clientOf(next);
    expect((await getData(other, '/kept')).data).toBe('before');
    await create(other, '/after');
  });

  it('leaves a port that refuses connections, and can be repeated', async () => {
    const ensemble = await started();
    const killed = await follower(ensemble);
    await ensemble.kill(killed.id);
    expect(await dialled(portOf(killed))).toBe('ECONNREFUSED');
    await ensemble.kill(killed.id);
    await ensemble.restart(killed.id);
    expect(await dialled(portOf(killed))).toBe('connected');
  });

  it.each([1, 3])('of all of %i members loses no acknowledged write', async (size) => {
    const ensemble = await started({ size, tuning: { checkpointLogBytes: 20_000 } });
    const acknowledged = new Map<string, number>();
    for (let round = 1; round <= 5; round++) {
      const client = await clientOf(await ensemble.leader());
      const load = writeUntilLost(client, acknowledged, 100 * round);
      await load.enough;
      await Promise.all(ensemble.members.map(({ id }) => ensemble.kill(id)));
      await load.lost;
      await Promise.all(ensemble.members.map(({ id }) => ensemble.restart(id)));
      const reader = await clientOf(await ensemble.leader());
      for (const [path, count] of acknowledged) {
        const found = Number((await getData(reader, path)).data);
        expect(found, `${path} in round ${round}`).toBeGreaterThanOrEqual(count);
      }
    }
  });
});

/**
 * Twenty writers, each incrementing a znode of its own; `enough` resolves after `count` answers.
 */
function writeUntilLost(client: WireClient, acknowledged: Map<string, number>, count: number) {
  const enough = deferred<void>();
  let answers = 0;
  const write = async (path: string) => {
    await sendCreate(client, path, '0');
    for (let value = (acknowledged.get(path) ?? 0) + 100; ; value++) {
      await setData(client, path, `${value}`);
      acknowledged.set(path, value);
      answers += 1;
      if (answers === count) enough.resolve();
    }
  };
  const writers = Array.from({ length: 20 }, (_, index) => write(`/writer-${index}`));
  const lost = Promise.allSettled(writers).then((results) => {
    for (const result of results) {
      expect(result.status === 'rejected' && result.reason).toBeInstanceOf(ConnectionLost);
    }
  });
  return { enough: enough.promise, lost };
}

describe('restart', () => {
  it('brings a member back on its ports, with the writes that it missed', async () => {
    const ensemble = await started();
    const member = await follower(ensemble);
    await ensemble.kill(member.id);
    const client = await clientOf(await ensemble.leader());
    await create(client, '/missed');
    await ensemble.restart(member.id);
    expect(member.state).toBe('following');
    const again = await clientOf(member);
    await sync(again);
    expect(await exists(again, '/missed')).toBeDefined();
  });

  it('first kills a member that still runs', async () => {
    const ensemble = await started({ size: 1 });
    const [member] = ensemble.members;
    if (member === undefined) throw new Error('there is a member');
    const client = await clientOf(member);
    await create(client, '/kept');
    await ensemble.restart(member.id);
    await client.closed;
    expect(await exists(await resumed(member, client), '/kept')).toBeDefined();
  });

  it('of a whole ensemble finds its data', async () => {
    const ensemble = await started();
    const client = await clientOf(await ensemble.leader());
    await create(client, '/kept');
    await Promise.all(ensemble.members.map(({ id }) => ensemble.kill(id)));
    await Promise.all(ensemble.members.map(({ id }) => ensemble.restart(id)));
    const again = await clientOf(await ensemble.leader());
    expect(await exists(again, '/kept')).toBeDefined();
  });

  it('waits for a quorum', async () => {
    const ensemble = await started();
    await Promise.all(ensemble.members.map(({ id }) => ensemble.kill(id)));
    const first = ensemble.restart(1);
    await ensemble.restart(2);
    await first;
    expect(ensemble.members.map(({ state }) => state)).toContain('leading');
    expect(ensemble.members.map(({ state }) => state)).toContain('stopped');
  });

  it('rejects when the member is killed meanwhile', async () => {
    const ensemble = await started();
    await Promise.all(ensemble.members.map(({ id }) => ensemble.kill(id)));
    const restarted = codeOf(ensemble.restart(1));
    await Promise.resolve();
    await ensemble.kill(1);
    expect(await restarted).toBe('notRunning');
  });
});

describe('a member that has to end by itself', () => {
  it('rejects pending waits at once, and stop() after all is cleaned up', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'failing-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const tuning = { logSegmentBytes: 4_000 };
    const ensemble = await startEnsemble({ size: 1, dataDir: directory, tuning });
    const client = await clientOf(await ensemble.leader());
    // The next segment of the log cannot be created.
    renameSync(join(directory, '1', 'log'), join(directory, '1', 'away'));
    writeFileSync(join(directory, '1', 'log'), '');
    const lost = (async () => {
      for (let index = 0; ; index++) await create(client, `/${index}`, 'x'.repeat(500));
    })();
    await expect(lost).rejects.toBeInstanceOf(ConnectionLost);
    expect(await codeOf(ensemble.leader())).toBe('memberFailed');
    expect(ensemble.members.map(({ state }) => state)).toEqual(['stopped']);
    expect(await codeOf(ensemble.stop())).toBe('memberFailed');
    for (const member of ensemble.members) await listenOn(portOf(member));
  });
});

describe('a process that is blocked for longer than peerTimeoutMs', () => {
  it('deposes no leader, ends no connection and no session', async () => {
    const ensemble = await started({ settings: { minSessionTimeoutMs: 200 } });
    const leader = await ensemble.leader();
    const member = await follower(ensemble);
    const client = await WireClient.connect({ port: portOf(member), timeoutMs: 200 });
    await create(client, '/before');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
    await create(client, '/after');
    expect((await ensemble.leader()).id).toBe(leader.id);
    expect(client.open).toBe(true);
    await client.close();
  });
});

describe('cutOff', () => {
  it('of the leader makes another member leader, and the old one serves nobody until heal', async () => {
    const ensemble = await started();
    const old = await ensemble.leader();
    const client = await clientOf(old);
    await ensemble.cutOff(old.id);
    const lost = create(client, '/never');
    await expect(lost).rejects.toBeInstanceOf(ConnectionLost);
    expect(old.state).toBe('looking');
    expect(await dialled(portOf(old))).toBe('connected');
    const next = await ensemble.leader();
    expect(next.id).not.toBe(old.id);
    const other = await clientOf(next);
    await create(other, '/meanwhile');
    await ensemble.heal(old.id);
    expect(old.state).toBe('following');
    const back = await clientOf(old);
    await sync(back);
    expect(await exists(back, '/meanwhile')).toBeDefined();
    expect(await exists(back, '/never')).toBeUndefined();
  });

  it('ends no connection if it is healed before anybody notices', async () => {
    const ensemble = await started({ settings: { peerTimeoutMs: 20_000 } });
    const member = await follower(ensemble);
    const leader = await ensemble.leader();
    const client = await clientOf(member);
    await ensemble.cutOff(member.id);
    const created = create(client, '/late');
    const other = await clientOf(leader);
    await create(other, '/meanwhile');
    expect(await exists(other, '/late')).toBeUndefined();
    await ensemble.heal(member.id);
    expect(await created).toBe('/late');
    expect((await ensemble.leader()).id).toBe(leader.id);
  });

  it('remains in force after a restart', async () => {
    const ensemble = await started();
    const member = await follower(ensemble);
    await ensemble.cutOff(member.id);
    const restarted = ensemble.restart(member.id);
    const client = await clientOf(await ensemble.leader());
    for (let index = 0; index < 20; index++) await create(client, `/${index}`);
    expect(['stopped', 'looking']).toContain(member.state);
    await ensemble.heal(member.id);
    await restarted;
    expect(member.state).toBe('following');
  });

  it('of a standalone server changes nothing', async () => {
    const ensemble = await started({ size: 1 });
    await ensemble.cutOff(1);
    expect((await ensemble.leader()).id).toBe(1);
    await ensemble.heal(1);
  });
});
