/**
 * `startEnsemble` and `stop()` in the way users' tests call them: real sockets and disks in this
 * process.
 *
 * The tests wait for what the ensemble itself promises, never for a time.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEnsemble } from '@rookery/server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { create, exists } from '../harness/operations.js';
import { clientOf, codeOf, follower, listenOn, portOf, started } from './fixture.js';

describe('an ensemble that has started', () => {
  it.each([1, 2, 3, 5])('of %i members serves at each of them', async (size) => {
    const ensemble = await started({ size });
    expect(ensemble.members.map(({ id }) => id)).toEqual(
      Array.from({ length: size }, (_, index) => index + 1),
    );
    expect(ensemble.connectString).toBe(
      ensemble.members.map(({ clientAddress }) => clientAddress).join(','),
    );
    expect(ensemble.members.filter(({ state }) => state === 'leading')).toHaveLength(1);
    for (const member of ensemble.members) {
      const client = await clientOf(member);
      await create(client, `/at-${member.id}`);
    }
  });

  it('has three members unless told otherwise', async () => {
    const ensemble = await started();
    expect(ensemble.members).toHaveLength(3);
  });

  it('does not disturb another one beside it', async () => {
    const [one, other] = await Promise.all([started(), started()]);
    const client = await clientOf(await one.leader());
    await create(client, '/mine');
    const stranger = await clientOf(await other.leader());
    expect(await exists(stranger, '/mine')).toBeUndefined();
  });

  it('grants the session timeouts of its settings', async () => {
    const ensemble = await started({ size: 1, settings: { maxSessionTimeoutMs: 700 } });
    const client = await clientOf(await ensemble.leader());
    expect(client.session.timeoutMs).toBe(700);
  });

  it('refuses sizes and settings that no ensemble can have, and names all of them', async () => {
    expect(await codeOf(startEnsemble({ size: 0 }))).toBe('invalidOption');
    expect(await codeOf(startEnsemble({ size: 10 }))).toBe('invalidOption');
    expect(await codeOf(startEnsemble({ size: 1.5 }))).toBe('invalidOption');
    const settings = { tickTimeMs: 0, peerHeartbeatMs: 400 };
    await expect(startEnsemble({ settings })).rejects.toThrow(/tickTimeMs: .*\n.*peerTimeoutMs: /);
  });
});

describe('stop', () => {
  it('frees every port, closes every connection, and can be repeated', async () => {
    const ensemble = await started();
    const ports = ensemble.members.map(portOf);
    const client = await clientOf(await ensemble.leader());
    await ensemble.kill((await follower(ensemble)).id);
    await Promise.all([ensemble.stop(), ensemble.stop()]);
    await client.closed;
    for (const port of ports) await listenOn(port);
    await ensemble.stop();
    expect(ensemble.members.map(({ state }) => state)).toEqual(['stopped', 'stopped', 'stopped']);
    expect(await codeOf(ensemble.kill(1))).toBe('stopped');
    expect(await codeOf(ensemble.restart(1))).toBe('stopped');
    expect(await codeOf(ensemble.leader())).toBe('stopped');
    expect(await codeOf(ensemble.expireSession(1))).toBe('stopped');
  });

  it('rejects pending waits', async () => {
    const ensemble = await started();
    await Promise.all([ensemble.kill(1), ensemble.kill(2)]);
    const waiting = codeOf(ensemble.restart(1).then(() => ensemble.kill(1)));
    const leader = codeOf(ensemble.kill(3).then(() => ensemble.leader()));
    await ensemble.stop();
    expect(['none', 'stopped', 'notRunning']).toContain(await waiting);
    expect(await leader).toBe('stopped');
  });

  it('keeps a directory that was passed in, whose data the next ensemble finds', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'given-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const dataDir = join(directory, 'data');
    const first = await started({ dataDir });
    const client = await clientOf(await first.leader());
    await create(client, '/kept');
    await first.stop();
    expect(readdirSync(dataDir).sort()).toEqual(['1', '2', '3']);
    const second = await started({ dataDir });
    const again = await clientOf(await second.leader());
    expect(await exists(again, '/kept')).toBeDefined();
    await second.stop();
    expect(existsSync(dataDir)).toBe(true);
  });

  it('ends an `await using` scope', async () => {
    const ensemble = await startEnsemble({ size: 1 });
    await ensemble[Symbol.asyncDispose]();
    expect(ensemble.members.map(({ state }) => state)).toEqual(['stopped']);
  });
});

it('methods refuse ids of members that do not exist', async () => {
  const ensemble = await started();
  for (const id of [0, 4, 1.5, Number.NaN]) {
    expect(await codeOf(ensemble.kill(id))).toBe('noSuchMember');
  }
});
