/**
 * Whole members in memory, under faults that a review found: damaged and hanging disks, founding
 * cut short, a leader that does not yet know that it is deposed, followers that die with touches.
 */
import { ErrorCode } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { MemoryClient } from './memory-client.js';
import { MemoryEnsemble } from './memory-ensemble.js';
import {
  connected,
  everyoneServes,
  expectEqual,
  follower,
  names,
  notes,
  serving,
  TINY_LOG,
  write,
} from './scenario.js';

function flipLastByte(entries: Map<string, Uint8Array>): void {
  for (const [key, value] of entries) {
    const damaged = value.slice();
    damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
    entries.set(key, damaged);
    return;
  }
}

/** Simulated ms from now until `path` is gone, as a client at the leader sees it. */
async function msUntilGone(ensemble: MemoryEnsemble, path: string): Promise<number> {
  const startMs = ensemble.timers.nowMs();
  const watcher = await connected(ensemble, ensemble.leader);
  for (;;) {
    const xid = watcher.exists(path);
    await ensemble.until(() => watcher.errorOf(xid) !== undefined, 'was the read answered');
    if (watcher.errorOf(xid) === ErrorCode.noNode) return ensemble.timers.nowMs() - startMs;
    await ensemble.timers.advance(50);
  }
}

async function ephemeralOf(ensemble: MemoryEnsemble, client: MemoryClient): Promise<string> {
  const xid = client.create('/ephemeral', '', 1);
  await ensemble.until(() => client.errorOf(xid) === ErrorCode.ok, 'was the ephemeral created');
  return '/ephemeral';
}

/** Advances a second at a time, with a client that keeps its session, until it is cut off. */
async function untilClosed(ensemble: MemoryEnsemble, client: MemoryClient): Promise<void> {
  for (let seconds = 0; seconds < 120 && !client.closed; seconds++) {
    await ensemble.timers.advance(1000);
    client.exists('/');
  }
}

describe('a disk', () => {
  it('that is damaged brings its member back by a snapshot', async () => {
    const ensemble = await serving();
    const id = follower(ensemble);
    const client = await connected(ensemble, ensemble.leader);
    await write(ensemble, client, names('a', 5));
    ensemble.kill(id);
    ensemble.treeOf(id).tamper('tree-0', flipLastByte);
    await ensemble.start(id);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
    expect(notes(ensemble, 'snapshot.installed')).toBe(1);
  });

  it('of a follower that hangs ends the connections of its clients', async () => {
    const ensemble = await serving();
    const id = follower(ensemble);
    const client = await connected(ensemble, id);
    ensemble.hang(id);
    const xid = client.create('/a');
    await untilClosed(ensemble, client);
    expect(client.closed).toBe(true);
    expect(client.errorOf(xid)).toBeUndefined();
    ensemble.unhang(id);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
  });

  it('of the leader that hangs ends its leadership, and the others go on', async () => {
    const ensemble = await serving();
    const old = ensemble.leader;
    const client = await connected(ensemble, old);
    ensemble.hang(old);
    client.create('/a');
    await untilClosed(ensemble, client);
    expect(client.closed).toBe(true);
    await ensemble.until(() => ![0, old].includes(ensemble.leader), 'was there a new leader');
    const other = await connected(ensemble, ensemble.leader);
    await write(ensemble, other, names('after', 5));
    ensemble.unhang(old);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
  });

  it('of a learner that hangs in a SNAP does not keep the leader from purging', async () => {
    const ensemble = await serving({ tuning: TINY_LOG });
    const away = follower(ensemble);
    const client = await connected(ensemble, ensemble.leader);
    const big = Array.from({ length: 120 }, (_, i) =>
      client.create(`/big-${i}`, 'x'.repeat(100_000)),
    );
    await ensemble.until(() => big.every((xid) => client.errorOf(xid) === 0), 'were they made');
    ensemble.kill(away);
    ensemble.wipe(away);
    await ensemble.start(away);
    await ensemble.until(() => notes(ensemble, 'sync.snap') > 0, 'did a SNAP begin');
    ensemble.hang(away);
    const log = ensemble.logOf(ensemble.leader);
    await ensemble.until(
      () => ensemble.lines.some((line) => line.includes('it takes no more of the snapshot')),
      'was the transfer given up',
    );
    const writer = await connected(ensemble, ensemble.leader);
    for (let round = 0; round < 30; round++) {
      await write(ensemble, writer, names(`r${round}`, 60));
      await ensemble.timers.advance(2_000);
    }
    // 30 rounds are far over 100 segments; what is pinned is from the newest transfer on.
    expect((await log.list()).length).toBeLessThanOrEqual(50);
    ensemble.unhang(away);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
  });
});

describe('a founding that was cut short', () => {
  it('is done again by the others, and the member with the tentative id joins them', async () => {
    const ensemble = new MemoryEnsemble({ size: 3, seed: 1 });
    await ensemble.start();
    const idOf = () => {
      let meta = '';
      ensemble.treeOf(3).tamper('meta', (entries) => {
        for (const value of entries.values()) meta = Buffer.from(value).toString('latin1');
      });
      return meta.match(/"ensembleId":"(.*?)"/)?.[1] ?? '';
    };
    await ensemble.until(() => idOf() !== '', 'had the founder a tentative id');
    const tentative = idOf();
    for (const id of [1, 2, 3]) ensemble.kill(id);
    ensemble.found = true;
    await ensemble.start(1, 2);
    await ensemble.until(() => ensemble.serves(1) && ensemble.serves(2), 'did 1 and 2 serve');
    await ensemble.start(3);
    await everyoneServes(ensemble);
    expect(idOf()).not.toBe(tentative);
  });
});

describe('a session', () => {
  it('does not expire early when its follower dies right after answering it', async () => {
    const ensemble = await serving();
    const id = follower(ensemble);
    const client = await connected(ensemble, id);
    const path = await ephemeralOf(ensemble, client);
    await ensemble.timers.advance(6_000);
    const xid = client.exists('/');
    await ensemble.until(() => client.errorOf(xid) === 0, 'was the client answered');
    ensemble.kill(id);
    expect(await msUntilGone(ensemble, path)).toBeGreaterThanOrEqual(10_000);
  });

  it('does not expire early when its follower answered it while cut off', async () => {
    const ensemble = await serving();
    const id = follower(ensemble);
    const client = await connected(ensemble, id);
    const path = await ephemeralOf(ensemble, client);
    await ensemble.timers.advance(6_000);
    ensemble.cutOff(id);
    await ensemble.timers.advance(800);
    const xid = client.exists('/');
    await ensemble.until(() => client.errorOf(xid) === 0, 'was the client answered');
    expect(await msUntilGone(ensemble, path)).toBeGreaterThanOrEqual(10_000);
  });

  it('of a silent client lives for its timeout and twice H, for a leader may be deposed', async () => {
    const ensemble = await serving();
    const client = await connected(ensemble, follower(ensemble));
    const path = await ephemeralOf(ensemble, client);
    const goneMs = await msUntilGone(ensemble, path);
    expect(goneMs).toBeGreaterThanOrEqual(12_000 - 1);
    expect(goneMs).toBeLessThan(13_000);
  });

  it('of a new leader is not called expired by the one it replaced', async () => {
    let windows = 0;
    for (const startedLaterMs of [2, 6, 20, 52]) {
      for (let cutAfterMs = 0; cutAfterMs < 100; cutAfterMs += 20) {
        const answer = await resumeAtDeposedLeader(startedLaterMs, cutAfterMs);
        if (answer === 'no window') continue;
        windows += 1;
        expect(answer).not.toBe('expired');
      }
    }
    expect(windows).toBeGreaterThan(0);
  });
});

/** Followers tick a little later than the leader: there may be two leaders for some ms. */
async function resumeAtDeposedLeader(startedLaterMs: number, cutAfterMs: number): Promise<string> {
  const ensemble = new MemoryEnsemble({ size: 3, seed: 1 });
  await ensemble.start(3);
  await ensemble.timers.advance(startedLaterMs);
  await ensemble.start(1, 2);
  await everyoneServes(ensemble);
  await ensemble.timers.advance(1000 - (ensemble.timers.nowMs() % 100) + cutAfterMs);
  const old = ensemble.leader;
  const others = [1, 2, 3].filter((id) => id !== old);
  const atOld = await ensemble.client(old);
  const waiting = new Map<number, MemoryClient>();
  for (const id of others) waiting.set(id, await ensemble.client(id));
  ensemble.cutOff(old);
  const leads = (id: number) => ensemble.member(id).status.mode === 'leader' && ensemble.serves(id);
  await ensemble.until(() => !ensemble.serves(old) || others.some(leads), 'did a new leader serve');
  const client = waiting.get(others.find(leads) ?? 0);
  if (client === undefined || !ensemble.serves(old)) return 'no window';
  client.connect();
  await ensemble.timers.advance(10);
  if (client.connected === null) return 'no window';
  client.drop();
  atOld.connect(client.connected);
  await ensemble.timers.advance(3_000);
  if (atOld.connected === null) return 'no answer';
  return atOld.connected.timeoutMs === 0 ? 'expired' : 'resumed';
}
