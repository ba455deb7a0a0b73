/**
 * Goal: however many streams without a session there are to drop, a turn drops a few, and those
 * that get a session in time stay. Method: timers that note how much each of their actions did; the
 * client port over the network in memory, and the list of streams by itself.
 */
import { describe, expect, it } from 'vitest';
import { keptLog, memberView, RecordingHandler } from '../simulated/net/fixtures.js';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { MemoryNetwork } from '../simulated/net/memory-transport.js';
import { CLIENT_PORT_DEFAULTS, ClientPort } from './client-port.js';
import { FourLetterWhitelist } from './four-letter/words.js';
import { ServerStats } from './server-stats.js';
import { SESSIONLESS_TIMEOUT_MS, SessionlessStreams } from './sessionless-streams.js';
import type { Timer } from './timers.js';

const TIMEOUT_MS = SESSIONLESS_TIMEOUT_MS;
const PER_TURN = 256;

/** Notes the most that `done` grew in one action. */
class NotingTimers extends ManualTimers {
  done = (): number => 0;
  mostDone = 0;

  override after(delayMs: number, action: () => void): Timer {
    return super.after(delayMs, () => {
      const before = this.done();
      action();
      this.mostDone = Math.max(this.mostDone, this.done() - before);
    });
  }
}

function streams(most = Number.POSITIVE_INFINITY) {
  const timers = new NotingTimers();
  const dropped: number[] = [];
  const expired: number[] = [];
  timers.done = () => dropped.length;
  const evicted: number[] = [];
  const waiting = new Set<number>();
  const owner = {
    isClientWaiting: (id: number) => waiting.has(id),
    onExpired: (id: number) => expired.push(id),
    onEvicted: (id: number) => evicted.push(id),
  };
  const list = new SessionlessStreams(owner, timers, most);
  const add = (id: number, address = '10.0.0.1') => {
    list.add(id, () => dropped.push(id), address);
  };
  return { timers, list, add, dropped, expired, evicted, waiting };
}

describe('streams without a session', () => {
  it('are dropped by the port a few in each turn when all their time is up', async () => {
    const timers = new NotingTimers();
    const network = new MemoryNetwork(timers);
    const stats = new ServerStats();
    timers.done = () => stats.sessionlessExpired;
    const port = new ClientPort({
      options: {
        ...CLIENT_PORT_DEFAULTS,
        address: { host: 'server', port: 2181 },
        whitelist: new FourLetterWhitelist('*'),
      },
      transport: network.transport('server'),
      timers,
      logger: keptLog().logger,
      stats,
    });
    await port.listen(new RecordingHandler(), memberView());
    const count = 2 * PER_TURN + 10;
    for (let stream = 0; stream < count; stream++) {
      void network.transport('client').dial({ host: 'server', port: 2181 }, 1000);
    }
    await timers.advance(TIMEOUT_MS + TIMEOUT_MS / 4 + 10);
    expect(stats.sessionlessExpired).toBe(count);
    expect(timers.mostDone).toBe(PER_TURN);
  });

  it('are dropped a few in each turn when all leave at once', async () => {
    const { timers, list, add, dropped, expired } = streams();
    const count = 2 * PER_TURN + 10;
    for (let id = 0; id < count; id++) add(id);
    for (let id = 0; id < count; id++) list.leave(id);
    expect(dropped).toEqual([]);
    await timers.advance(1);
    expect(dropped.length).toBe(count);
    expect(timers.mostDone).toBe(PER_TURN);
    expect(expired).toEqual([]);
  });

  it('stay when they get a session while others are dropped', async () => {
    const { timers, list, add, dropped } = streams();
    for (let id = 0; id < 2 * PER_TURN; id++) add(id);
    const last = 2 * PER_TURN - 1;
    list.dropBy(0, () => list.delete(last));
    await timers.advance(2 * TIMEOUT_MS);
    expect(dropped.length).toBe(last - 1);
    expect(dropped).not.toContain(last);
  });

  it('stay for as long as their clients wait for this member, and are bounded all the same', async () => {
    const { timers, list, add, dropped, expired, evicted, waiting } = streams(2);
    for (const id of [1, 2]) add(id);
    waiting.add(1).add(2);
    await timers.advance(5 * TIMEOUT_MS);
    expect([evicted, dropped, expired]).toEqual([[], [], []]);
    add(3);
    await timers.advance(1);
    list.delete(1);
    expect([evicted, dropped, expired]).toEqual([[1], [1], []]);
    waiting.delete(2);
    await timers.advance(2 * TIMEOUT_MS);
    expect([dropped, expired]).toEqual([
      [1, 2, 3],
      [2, 3],
    ]);
  });

  it('make room for others when they are too many, the oldest of the busiest address first', async () => {
    const { timers, list, add, dropped, expired, evicted } = streams(4);
    for (const id of [1, 2, 3]) add(id);
    add(4, '10.0.0.2');
    add(5, '10.0.0.3');
    list.delete(2);
    add(6);
    add(7);
    list.add(8, () => dropped.push(8));
    await timers.advance(1);
    expect([evicted, dropped, expired]).toEqual([[1, 3], [1, 3], []]);
  });

  it('begin their time anew when something happens on them, and only then', async () => {
    const { timers, list, add, dropped, expired } = streams();
    for (const id of [1, 2]) add(id);
    await timers.advance(TIMEOUT_MS - 1000);
    list.renew(1);
    list.dropBy(2, () => dropped.push(-2));
    await timers.advance(TIMEOUT_MS / 4 + 1000);
    expect([dropped, expired]).toEqual([[-2], [2]]);
    await timers.advance(TIMEOUT_MS);
    expect([dropped, expired]).toEqual([
      [-2, 1],
      [2, 1],
    ]);
  });
});
