/**
 * Goal: a member whose clocks have moved apart may have been suspended for longer than its lease,
 * so it answers nothing until the lease is proven again; and where that is so, nothing else
 * happens. Method: whole members in memory. The wall clock of one of them jumps, while it is
 * connected to the others or cut off from them.
 */
import { ErrorCode } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { MemoryEnsemble } from './memory-ensemble.js';
import { connected, follower, notesOf, serving, write } from './scenario.js';

const JUMP_MS = 7_000;
const ROLES = ['leader', 'follower'] as const;

function memberOf(ensemble: MemoryEnsemble, role: (typeof ROLES)[number]): number {
  return role === 'leader' ? ensemble.leader : follower(ensemble);
}

function jump(ensemble: MemoryEnsemble, id: number): void {
  ensemble.clockErrors.set(id, (ensemble.clockErrors.get(id) ?? 0) + JUMP_MS);
}

describe.each(ROLES)('a %s whose clocks have moved apart', (role) => {
  it('answers once its lease is proven again, and keeps its role', async () => {
    const ensemble = await serving();
    const id = memberOf(ensemble, role);
    const client = await connected(ensemble, id);
    await write(ensemble, client, ['/a']);
    const { leader } = ensemble;
    jump(ensemble, id);
    const askedAtMs = ensemble.timers.nowMs();
    const read = client.exists('/a');
    await ensemble.until(() => client.errorOf(read) !== undefined, 'was the read answered');
    expect(client.errorOf(read)).toBe(ErrorCode.ok);
    expect(ensemble.timers.nowMs() - askedAtMs).toBeLessThan(250);
    await ensemble.timers.advance(5_000);
    expect(ensemble.leader).toBe(leader);
    expect(notesOf(ensemble, id, 'clock.jumped')).toBe(1);
    expect(notesOf(ensemble, id, 'role.ended')).toBe(0);
    await write(ensemble, client, ['/b']);
  });

  it('answers nothing if nobody proves it, and its connections end without an answer', async () => {
    const ensemble = await serving();
    const id = memberOf(ensemble, role);
    const client = await connected(ensemble, id);
    await write(ensemble, client, ['/a']);
    const half = await connected(ensemble, id);
    ensemble.cutOff(id);
    jump(ensemble, id);
    const read = client.exists('/a');
    const halfRead = half.exists('/a');
    half.end();
    await ensemble.until(() => client.closed && half.closed, 'were the connections closed');
    expect(client.errorOf(read)).toBeUndefined();
    expect(half.errorOf(halfRead)).toBeUndefined();
  });

  it('takes no answer to a ping that it has sent before for a proof', async () => {
    const ensemble = await serving();
    const id = memberOf(ensemble, role);
    const client = await connected(ensemble, id);
    await write(ensemble, client, ['/a']);
    // What the others have sent is under way, and nothing that is sent from now on arrives.
    await ensemble.timers.advance(1);
    ensemble.cutOff(id, 'from');
    jump(ensemble, id);
    const read = client.exists('/a');
    await ensemble.until(() => client.closed, 'was the connection closed');
    expect(client.errorOf(read)).toBeUndefined();
  });
});

describe('members whose clocks are all set at once', () => {
  it('keep their roles and their sessions', async () => {
    const ensemble = await serving();
    const { leader } = ensemble;
    const clients = await Promise.all([1, 2, 3].map((id) => connected(ensemble, id)));
    for (const id of [1, 2, 3]) jump(ensemble, id);
    for (const [index, client] of clients.entries()) await write(ensemble, client, [`/${index}`]);
    expect(ensemble.leader).toBe(leader);
    for (const id of [1, 2, 3]) expect(notesOf(ensemble, id, 'role.ended')).toBe(0);
  });

  it('as a single member serve on', async () => {
    const ensemble = await serving({ size: 1 });
    const client = await connected(ensemble, 1);
    jump(ensemble, 1);
    await write(ensemble, client, ['/a']);
    expect(notesOf(ensemble, 1, 'role.ended')).toBe(0);
  });
});
