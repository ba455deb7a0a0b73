/** `expireSession` of a test ensemble, observed through raw connections. */
import { CreateFlag } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { create, exists, sync } from '../harness/operations.js';
import { SessionExpired } from '../harness/wire-client.js';
import { clientOf, codeOf, follower, resumed, started } from './fixture.js';

describe('expireSession', () => {
  it.each([1, 3])('ends the session and its ephemerals, with %i members', async (size) => {
    const ensemble = await started({ size });
    const member = size === 1 ? await ensemble.leader() : await follower(ensemble);
    const client = await clientOf(member);
    const watcher = await clientOf(await ensemble.leader());
    await create(client, '/ephemeral', '', CreateFlag.ephemeral);
    // Another member may show it later than the one that answered.
    await sync(watcher);
    expect(await exists(watcher, '/ephemeral', true)).toBeDefined();
    await ensemble.expireSession(BigInt(client.session.id));
    await client.closed;
    await watcher.event('of the delete', 10_000, ({ path }) => path === '/ephemeral');
    expect(await exists(watcher, '/ephemeral')).toBeUndefined();
    await expect(resumed(member, client)).rejects.toBeInstanceOf(SessionExpired);
  });

  it('also accepts a number, and leaves other sessions alone', async () => {
    const ensemble = await started();
    const [one, other] = await Promise.all([
      clientOf(await ensemble.leader()),
      clientOf(await ensemble.leader()),
    ]);
    await create(other, '/kept', '', CreateFlag.ephemeral);
    await ensemble.expireSession(Number(one.session.id));
    await one.closed;
    expect(await exists(other, '/kept')).toBeDefined();
  });

  it('works during a change of the leader', async () => {
    const ensemble = await started();
    const client = await clientOf(await follower(ensemble));
    const leader = await ensemble.leader();
    const expired = ensemble.expireSession(client.session.id);
    await ensemble.kill(leader.id);
    await expired;
    const resuming = resumed(await ensemble.leader(), client);
    await expect(resuming).rejects.toBeInstanceOf(SessionExpired);
  });

  it('rejects ids of sessions that have ended, are local or never existed', async () => {
    const ensemble = await started({ size: 1, settings: { localSessions: true } });
    const client = await clientOf(await ensemble.leader());
    expect(await codeOf(ensemble.expireSession(client.session.id))).toBe('noSuchSession');
    expect(await codeOf(ensemble.expireSession(2n ** 63n - 1n))).toBe('noSuchSession');
    expect(await codeOf(ensemble.expireSession(0))).toBe('noSuchSession');
    expect(await codeOf(ensemble.expireSession(1.5))).toBe('noSuchSession');
  });
});
