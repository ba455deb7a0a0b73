/**
 * Simulated clients do every kind of work, keep their sessions over losses, and are the same each
 * time. They run against an ensemble in memory, without any checker; what they record is the
 * evidence.
 */

import { describe, expect, it } from 'vitest';
import { MemoryEnsemble } from '../../simulated.js';
import type { Checker } from '../contract/checker.js';
import type { Reply, SessionSeen, WatchEventSeen } from '../contract/history.js';
import { Random } from '../random.js';
import { Recorder } from '../run/recorder.js';
import { type ClientOptions, Clients, WORKS } from './index.js';

const BUSY: ClientOptions = {
  count: 4,
  outstandingMax: 16,
  readShare: 0.5,
  readerShare: 0,
  thinkMaxMs: 20,
  timeoutMinMs: 4_000,
  timeoutMaxMs: 6_000,
  registers: 3,
  works: WORKS,
  vanishEveryMs: 0,
  moveEveryMs: 0,
  closeEveryMs: 0,
  patienceMs: 0,
  asksOn: false,
  hoards: false,
  digs: false,
  readOnlyReaders: 0,
  ttls: true,
};

class Seen implements Checker {
  readonly property = 'seen';
  readonly replies: Reply[] = [];
  readonly sessions: SessionSeen[] = [];
  readonly events: WatchEventSeen[] = [];
  unanswered = 0;

  onReply(reply: Reply): void {
    this.replies.push(reply);
  }
  onSession(session: SessionSeen): void {
    this.sessions.push(session);
  }
  onWatchEvent(event: WatchEventSeen): void {
    this.events.push(event);
  }
  onUnanswered(): void {
    this.unanswered += 1;
  }
  changes(change: SessionSeen['change']): number {
    return this.sessions.filter((session) => session.change === change).length;
  }
}

async function run(options: Partial<ClientOptions>, durationMs: number, seed = 1) {
  const ensemble = new MemoryEnsemble({ size: 3, seed });
  await ensemble.start();
  await ensemble.until(() => [1, 2, 3].every((id) => ensemble.serves(id)), 'did all serve');
  const seen = new Seen();
  const recorder = new Recorder({ checkers: [seen] });
  recorder.useClock(() => ensemble.timers.nowMs());
  const clients = new Clients({
    timers: ensemble.timers,
    transportOf: () => ensemble.network.transport('clients'),
    members: ensemble.config.servers.map(({ id, host, clientPort }) => {
      return { id, host, port: clientPort };
    }),
    random: new Random(seed),
    recorder,
    options: { ...BUSY, ...options },
  });
  clients.start();
  await ensemble.timers.advance(durationMs);
  clients.drain();
  await ensemble.until(() => clients.isDrained, 'were all clients drained');
  expect(recorder.broken).toBeNull();
  return { clients, seen, recorder };
}

describe('simulated clients', () => {
  it('do every kind of work in bursts, and every request is answered without faults', async () => {
    const { clients, seen, recorder } = await run({}, 3_000);
    const kinds = new Set(seen.replies.map(({ invocation }) => invocation.operation.kind));
    expect([...kinds].sort()).toEqual([
      ...['addWatch', 'children', 'create', 'delete', 'ephemerals', 'exists', 'get', 'multi'],
      ...['multiRead', 'ping', 'raise', 'removeWatches', 'set', 'setAcl', 'sync'],
    ]);
    expect(seen.replies).toHaveLength(clients.requests);
    expect(recorder.counts.unanswered).toBe(0);
    expect(seen.sessions.map((session) => session.change)).toEqual(Array(4).fill('opened'));
    expect(seen.events.length).toBeGreaterThan(10);
    const errors = new Set(seen.replies.map(({ result }) => result.error));
    // No node, no permission, bad version, node exists, has children, an ACL for nobody, no such
    // watch: all of these occur, and nothing unexpected.
    expect([...errors].sort()).toEqual([-101, -102, -103, -110, -111, -114, -121, 0]);
  });

  it('resume their sessions after moving, and set their watches again', async () => {
    const { seen } = await run({ moveEveryMs: 200 }, 3_000);
    expect(seen.changes('opened')).toBe(4);
    expect(seen.changes('resumed')).toBeGreaterThan(10);
    expect(seen.changes('reset')).toBeGreaterThan(5);
    expect(seen.changes('expired')).toBe(0);
    expect(seen.unanswered).toBeGreaterThan(0);
  });

  it('expire when they vanish for longer than their timeout, and begin a new session', async () => {
    const { seen } = await run({ vanishEveryMs: 1_000, thinkMaxMs: 100 }, 60_000);
    expect(seen.changes('expired')).toBeGreaterThan(0);
    expect(seen.changes('resumed')).toBeGreaterThan(0);
    expect(seen.changes('opened')).toBe(4 + seen.changes('expired'));
  });

  it('close sessions and open new ones', async () => {
    const { seen } = await run({ closeEveryMs: 300 }, 3_000);
    expect(seen.changes('closed')).toBeGreaterThan(4);
    expect(seen.changes('opened')).toBe(4 + seen.changes('closed'));
  });

  it('that are readers never write, and are answered like others', async () => {
    const { seen } = await run({ readerShare: 0.5 }, 500);
    const writers = new Set<number>();
    for (const { invocation } of seen.replies) {
      if ('data' in invocation.operation) writers.add(invocation.client);
    }
    expect(writers.size).toBeGreaterThan(0);
    expect(writers.size).toBeLessThan(4);
  });

  it('that continue on a connection that they have left are closed there, and not counted', async () => {
    const { clients, seen, recorder } = await run({ moveEveryMs: 100, asksOn: true }, 2_000);
    expect(recorder.counts.overheard).toBeGreaterThan(0);
    expect(clients.askingWhereTheyLeft).toBe(0);
    expect(seen.replies.length + seen.unanswered).toBe(clients.requests);
  });

  it('that are impatient move to another member when nothing is answered for long', async () => {
    const { seen } = await run({ patienceMs: 1 }, 1_000);
    expect(seen.changes('resumed')).toBeGreaterThan(10);
    expect(seen.unanswered).toBeGreaterThan(10);
  });

  it('do the same for the same seed, and something else for another', async () => {
    const digests: string[] = [];
    for (const seed of [7, 7, 8]) {
      const { recorder } = await run({ moveEveryMs: 300, vanishEveryMs: 2_000 }, 1_000, seed);
      digests.push(recorder.digest());
    }
    expect(digests[1]).toBe(digests[0]);
    expect(digests[2]).not.toBe(digests[0]);
  });
});
