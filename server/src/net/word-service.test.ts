/**
 * Goal: whatever strangers ask by four-letter words, the member goes on: a turn's work is bounded,
 * an answer is made no faster than it is taken, whoever takes nothing keeps nobody else waiting,
 * and an error in one closes that connection alone.
 * Method: the client port over the network in memory, with a member that lists whatever a test
 * wants, on a clock that passes only where a test lets it.
 */
import { describe, expect, it } from 'vitest';
import {
  FarEnd,
  frameOf,
  keptLog,
  memberView,
  RecordingHandler,
} from '../simulated/net/fixtures.js';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { MemoryNetwork } from '../simulated/net/memory-transport.js';
import { CLIENT_PORT_DEFAULTS, ClientPort, type ClientPortOptions } from './client-port.js';
import { FourLetterWhitelist } from './four-letter/words.js';
import type { MemberView } from './member-view.js';
import { ServerStats } from './server-stats.js';
import { SESSIONLESS_TIMEOUT_MS } from './sessionless-streams.js';
import type { Timer } from './timers.js';
import { BLOCKED_MAX, LISTINGS_MAX } from './word-service.js';

const ADDRESS = { host: 'server', port: 2181 };

/** A clock that a listing can let pass inside a turn; notes the longest action of a turn. */
class SlowTimers extends ManualTimers {
  lateMs = 0;
  longestMs = 0;

  override after(delayMs: number, action: () => void): Timer {
    return super.after(delayMs, () => {
      const beforeMs = this.lateMs;
      action();
      this.longestMs = Math.max(this.longestMs, this.lateMs - beforeMs);
    });
  }

  override nowMs(): number {
    return super.nowMs() + this.lateMs;
  }
}

async function bench(view: Partial<MemberView>, changes: Partial<ClientPortOptions> = {}) {
  const timers = new SlowTimers();
  const network = new MemoryNetwork(timers);
  const log = keptLog();
  const handler = new RecordingHandler();
  const whitelist = new FourLetterWhitelist('*');
  const port = new ClientPort({
    options: { ...CLIENT_PORT_DEFAULTS, address: ADDRESS, whitelist, ...changes },
    transport: network.transport('server'),
    timers,
    logger: log.logger,
    stats: new ServerStats(),
  });
  await port.listen(handler, memberView(view));
  const connect = async (from = 'client'): Promise<FarEnd> => {
    const dialled = network.transport(from).dial(ADDRESS, 1000);
    await timers.advance(1);
    return new FarEnd(await dialled);
  };
  const ask = async (word: string, from = 'client'): Promise<FarEnd> => {
    const end = await connect(from);
    end.stream.write(Buffer.from(word));
    return end;
  };
  return { timers, port, log, handler, connect, ask };
}

/** Paths with one watcher each; counts how many were taken. */
function watchedPathsOf(count: number, onPath: () => void = () => {}) {
  return function* () {
    for (let number = 0; number < count; number++) {
      onPath();
      yield { path: `/watched/path/${number}`, sessions: [1] };
    }
  };
}

/** Whether it has got all of a listing of watches. */
function isWhole(asker: FarEnd): boolean {
  return asker.text.endsWith('\n\n');
}

describe('an error in the answer to a word', () => {
  it('closes the connection that asked, with a line, and nothing else', async () => {
    const { timers, log, connect, ask } = await bench({
      *ephemerals() {
        yield { session: 1, paths: ['/one'] };
        throw new RangeError('Invalid string length');
      },
    });
    const client = await connect();
    client.stream.write(frameOf('a client'));
    const asker = await ask('dump');
    await timers.advance(5);
    expect([asker.isClosed, client.isClosed]).toEqual([true, false]);
    const lines = log.lines.filter(({ msg }) => msg === 'client.word_failed');
    expect(lines).toMatchObject([{ word: 'dump', err: { message: 'Invalid string length' } }]);
    const next = await ask('ruok');
    await timers.advance(5);
    expect(next.text).toBe('imok');
  });
});

describe('an answer longer than any string', () => {
  it('is written in parts: dump of 700 ephemerals below a path of 800 KB', async () => {
    const parent = `/${'x'.repeat(800_000)}`;
    const paths = Array.from({ length: 700 }, (_, number) => `${parent}/${number}`);
    const { timers, connect } = await bench({
      ephemeralOwners: 1,
      ephemerals: () => [{ session: 1, paths }],
    });
    const asker = await connect();
    let bytes = 0;
    let last = '';
    asker.chunks.push = (chunk: Buffer) => {
      bytes += chunk.length;
      last = chunk.toString('latin1');
      return 0;
    };
    asker.stream.write(Buffer.from('dump'));
    await timers.advance(10_000);
    expect(asker.hasEnded).toBe(true);
    expect(bytes).toBeGreaterThan(700 * (800_000 + '\t//1\n'.length));
    expect(last).toMatch(/Connections dump:\nConnections Sets \(1\).*\n.*\n\tip: .*\n$/);
  });
});

describe('a listing', () => {
  it('is made no faster than its client takes it, and whole in the end', async () => {
    const paths = 100_000;
    let made = 0;
    const onPath = () => {
      made += 1;
    };
    const { timers, ask } = await bench({ watchedPaths: watchedPathsOf(paths, onPath) });
    const asker = await ask('wchp');
    asker.stream.pause();
    await timers.advance(500);
    const bytesPerPath = '/watched/path/12345\n\t0x1\n'.length;
    // What the network in memory takes by itself, a part that waits, and one that is being made.
    expect(made * bytesPerPath).toBeLessThan(512 << 10);
    asker.stream.resume();
    await timers.advance(1000);
    expect(asker.hasEnded).toBe(true);
    expect(asker.text.match(/\n\t0x1/g)?.length).toBe(paths);
    expect(isWhole(asker)).toBe(true);
  });

  it('takes 2 ms of every 6, however many ask at once, and clients are served in between', async () => {
    const costMs = 0.01;
    const { timers, handler, connect } = await bench({
      watchedPaths: watchedPathsOf(2000, () => {
        timers.lateMs += costMs;
      }),
    });
    const client = await connect();
    const askers: FarEnd[] = [];
    for (let count = 0; count < 20; count++) askers.push(await connect());
    for (const asker of askers) asker.stream.write(Buffer.from('wchp'));
    client.stream.write(frameOf('a request'));
    const startMs = timers.lateMs;
    let answeredAtMs = Number.NaN;
    handler.onFrameDo = () => {
      answeredAtMs = timers.lateMs;
    };
    const workMs = 20 * 2000 * costMs;
    await timers.advance(workMs);
    expect(askers.every((asker) => asker.hasEnded)).toBe(false);
    await timers.advance(2 * workMs);
    expect(askers.every((asker) => asker.hasEnded)).toBe(true);
    // A step is 128 pieces, one for a path: what begins within the 2 ms may end after them.
    const sliceMsMax = 2 + 128 * costMs + 0.001;
    expect(timers.longestMs).toBeGreaterThan(1);
    expect(timers.longestMs).toBeLessThan(sliceMsMax);
    expect(timers.lateMs - startMs).toBeCloseTo(workMs);
    expect(answeredAtMs - startMs).toBeLessThan(sliceMsMax);
  });

  it('waits while four others are produced, and holds nothing meanwhile', async () => {
    let begun = 0;
    const { timers, ask } = await bench({
      *watchedPaths() {
        begun += 1;
        yield* watchedPathsOf(10_000, () => {
          timers.lateMs += 0.01;
        })();
      },
    });
    const askers: FarEnd[] = [];
    for (let count = 0; count < 6; count++) askers.push(await ask('wchp'));
    await timers.advance(50);
    expect(begun).toBe(4);
    askers[0]?.stream.destroy();
    await timers.advance(50);
    expect(begun).toBe(5);
    await timers.advance(5000);
    expect(begun).toBe(6);
    expect(askers.slice(1).every(isWhole)).toBe(true);
  });

  it('does not wait for listings whose clients take nothing; the oldest of those are dropped', async () => {
    const { timers, log, ask } = await bench({ watchedPaths: watchedPathsOf(20_000) });
    const slow: FarEnd[] = [];
    for (let count = 0; count < BLOCKED_MAX + 2; count++) {
      const asker = await ask('wchp', 'slow');
      asker.stream.pause();
      slow.push(asker);
    }
    await timers.advance(500);
    const other = await ask('wchp', 'other');
    await timers.advance(500);
    expect(isWhole(other)).toBe(true);
    for (const asker of slow) asker.stream.resume();
    await timers.advance(1000);
    const lost = slow.filter((asker) => !isWhole(asker));
    // The first two lost their places to the last of their own address; another one may have lost
    // its place to the other address.
    expect(slow.indexOf(lost[1] ?? other)).toBe(1);
    expect(lost.length).toBeLessThan(4);
    expect(lost.every((asker) => asker.isClosed)).toBe(true);
    const lines = log.lines.filter(({ msg }) => msg === 'client.word_dropped');
    expect(lines[0]).toMatchObject({ word: 'wchp', remote: 'slow' });
  });

  it('is not given up for the time that the member takes, before it begins or later', async () => {
    const { timers, log, ask } = await bench({
      watchedPaths: watchedPathsOf(2000, () => {
        timers.lateMs += 1;
      }),
    });
    const askers: FarEnd[] = [];
    for (let count = 0; count < 2 * LISTINGS_MAX; count++) {
      askers.push(await ask('wchp'));
    }
    // No part is written before 2000 paths are listed, and four listings take more than 20 s.
    await timers.advance(SESSIONLESS_TIMEOUT_MS);
    expect(askers.some(isWhole)).toBe(false);
    await timers.advance(60_000);
    expect(askers.every(isWhole)).toBe(true);
    expect(log.lines.filter(({ msg }) => msg === 'client.sessionless_expired')).toEqual([]);
  });

  it('is given up when its client takes nothing for the time of a connection without a session', async () => {
    const { timers, log, ask } = await bench({ watchedPaths: watchedPathsOf(100_000) });
    const [idle, slow] = [await ask('wchp'), await ask('wchp')];
    for (const asker of [idle, slow]) asker.stream.pause();
    for (let waitedMs = 0; waitedMs < 20_000; waitedMs += 2000) {
      await timers.advance(2000);
      slow.stream.resume();
      await timers.advance(0);
      slow.stream.pause();
    }
    expect(log.lines.filter(({ msg }) => msg === 'client.sessionless_expired').length).toBe(1);
    for (const asker of [idle, slow]) asker.stream.resume();
    await timers.advance(1000);
    expect([idle.isClosed, isWhole(idle)]).toEqual([true, false]);
    expect(slow.hasEnded).toBe(true);
    expect(isWhole(slow)).toBe(true);
  });

  it('does not keep a short answer waiting, nor do short ones keep a listing waiting', async () => {
    const { timers, ask } = await bench({
      // Each answer to envi takes more than a turn has for words.
      environment() {
        timers.lateMs += 3;
        return [];
      },
      watchedPaths: watchedPathsOf(20_000),
    });
    const listing = await ask('wchp');
    const probe = await ask('ruok');
    const others: FarEnd[] = [];
    for (let count = 0; count < 50; count++) others.push(await ask('envi'));
    await timers.advance(1);
    expect(probe.hasEnded).toBe(true);
    await timers.advance(1000);
    expect(listing.hasEnded).toBe(true);
    expect(others.every((asker) => asker.hasEnded)).toBe(true);
  });
});
