/**
 * Whole members and the moments that depend on a clock: a leader that was suspended does not make
 * its sessions pay for it, and reads without a quorum begin no earlier than they may.
 */
import { ErrorCode } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { MemoryClient } from './memory-client.js';
import type { MemoryEnsemble } from './memory-ensemble.js';
import { connected, serving } from './scenario.js';

const SUSPENDED_MS = 60_000;
const SESSION_MS = 4_000;

async function isThere(ensemble: MemoryEnsemble, client: MemoryClient): Promise<boolean> {
  const xid = client.exists('/ephemeral');
  await ensemble.until(() => client.errorOf(xid) !== undefined, 'was the read answered');
  return client.errorOf(xid) === ErrorCode.ok;
}

/** When a member logged `event` last, simulated ms. */
function timeOf(ensemble: MemoryEnsemble, event: string, member: number): number {
  const lines = ensemble.lines.map((line) => JSON.parse(line));
  return lines.findLast((line) => line.msg === event && line.member === member)?.time;
}

describe('a leader whose process is suspended for a minute', () => {
  it('does not count it against its sessions, which then expire after their timeout', async () => {
    const ensemble = await serving({ size: 1 });
    const client = await ensemble.client(1);
    client.connect(undefined, SESSION_MS);
    const xid = client.create('/ephemeral', '', 1);
    await ensemble.until(() => client.errorOf(xid) === ErrorCode.ok, 'was it created');
    client.drop();
    // What was heard from it is reported, so only the clock decides from here on.
    await ensemble.timers.advance(3 * ensemble.config.peerHeartbeatMs);
    await ensemble.timers.suspend(SUSPENDED_MS);
    const watcher = await connected(ensemble, 1);
    await ensemble.timers.advance(SESSION_MS / 2);
    expect(await isThere(ensemble, watcher)).toBe(true);
    // The rest of the timeout, twice H, and one bucket.
    await ensemble.timers.advance(SESSION_MS / 2 + 2 * ensemble.config.peerTimeoutMs + 200);
    expect(await isThere(ensemble, watcher)).toBe(false);
  });
});

describe('reads without a quorum', () => {
  it('are served from 2H after the last role on, not earlier, to whoever allows it', async () => {
    const ensemble = await serving({ settings: { readOnlyMode: true } });
    const [alone = 0, ...others] = [1, 2, 3].filter((id) => id !== ensemble.leader);
    const { peerTimeoutMs } = ensemble.config;
    await connected(ensemble, alone);
    for (const id of [...others, ensemble.leader]) ensemble.kill(id);
    await ensemble.until(() => timeOf(ensemble, 'role.read_only', alone) > 0, 'did reads begin');
    const waitedMs =
      timeOf(ensemble, 'role.read_only', alone) - timeOf(ensemble, 'role.ended', alone);
    expect(waitedMs).toBeGreaterThanOrEqual(2 * peerTimeoutMs);
    expect(waitedMs).toBeLessThanOrEqual(2 * peerTimeoutMs + ensemble.config.peerHeartbeatMs);
  });
});
