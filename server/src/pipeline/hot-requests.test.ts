/**
 * Goal: what is asked for most is found, whatever the load, for as long as somebody looks, and
 * nothing is done otherwise. Method: frames of a known load, with ticks between them.
 */
import { encode, JuteReader, JuteWriter, OpCode, PathWatchRequest } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';
import { HotRequests, WATCHED_MS } from './hot-requests.js';

const TICK_MS = 50;
const LIMIT = 10;

function frameOf(opcode: number, path: string): JuteReader {
  const frame = new JuteWriter();
  frame.int(1);
  frame.int(opcode);
  frame.raw(encode(PathWatchRequest, { path, watch: false }));
  return new JuteReader(Uint8Array.from(frame.take()));
}

/** A frame that counts how often somebody looks into it. */
class CountedFrame extends JuteReader {
  #ints = 0;

  constructor(path: string) {
    super(frameOf(OpCode.getData, path).bytes);
  }

  /** Each reads three numbers: the xid, the operation and the length of the path. */
  get looks(): number {
    return this.#ints / 3;
  }

  override int(): number {
    this.#ints += 1;
    return super.int();
  }
}

const PING = frameOf(OpCode.ping, '');
const HOT = frameOf(OpCode.getData, '/hot');

describe('hot requests', () => {
  it('are not watched before somebody asks, and for half a minute after the last question', () => {
    const hot = new HotRequests();
    hot.onTick(0);
    expect(hot.isWatching).toBe(false);
    expect(hot.look(1_000, LIMIT)).toMatchObject({ spanMs: 0, reads: { total: 0, keys: [] } });
    expect(hot.isWatching).toBe(true);
    hot.onTick(1_000 + WATCHED_MS - 1);
    expect(hot.look(1_000 + WATCHED_MS - 1, LIMIT).spanMs).toBeGreaterThan(0);
    hot.onTick(1_000 + 2 * WATCHED_MS - 2);
    expect(hot.isWatching).toBe(true);
    hot.onTick(1_000 + 2 * WATCHED_MS - 1);
    expect(hot.isWatching).toBe(false);
    // What was seen then is gone.
    expect(hot.look(1_000 + 2 * WATCHED_MS, LIMIT)).toMatchObject({ spanMs: 0 });
  });

  it('are all counted while there are few, and leave their frames where they were', () => {
    const hot = new HotRequests();
    hot.look(0, LIMIT);
    const requests = [HOT, HOT, frameOf(OpCode.getData, '/other'), PING];
    for (const frame of requests) hot.onRequest(7, frame);
    hot.onRequest(8, frameOf(OpCode.delete, '/hot'));
    expect(requests.map(({ position }) => position)).toEqual([0, 0, 0, 0]);
    expect(hot.look(500, LIMIT)).toEqual({
      spanMs: 500,
      every: 1,
      reads: {
        total: 3,
        keys: [
          { key: '/hot', count: 2 },
          { key: '/other', count: 1 },
        ],
      },
      writes: { total: 1, keys: [{ key: '/hot', count: 1 }] },
      sessions: {
        total: 4,
        keys: [
          { key: 7, count: 3 },
          { key: 8, count: 1 },
        ],
      },
    });
  });

  it('are estimated under a heavy load, from a bounded number of looks', () => {
    const hot = new HotRequests();
    const [perTick, ticks] = [20_000, 80];
    const frequent = new CountedFrame('/hot');
    const rare = Array.from({ length: 1_000 }, (_, n) => new CountedFrame(`/rare/${n}`));
    hot.look(0, LIMIT);
    let count = 0;
    for (let tick = 1; tick <= ticks; tick++) {
      // A regular load: every other request is the same one.
      for (let n = 0; n < perTick; n++, count++) {
        const frame = n % 2 === 0 ? frequent : (rare[count % rare.length] ?? frequent);
        hot.onRequest(1 + (n % 2), frame);
      }
      hot.onTick(tick * TICK_MS);
    }
    const looks = [frequent, ...rare].reduce((sum, frame) => sum + frame.looks, 0);
    expect(looks).toBeLessThan(ticks * 300);
    const { every, reads, sessions } = hot.look(ticks * TICK_MS, LIMIT);
    expect(every).toBeGreaterThan(50);
    const near = (value: number, expected: number) => {
      expect(Math.abs(value - expected)).toBeLessThan(0.1 * expected);
    };
    near(reads.total, count);
    expect(reads.keys[0]?.key).toBe('/hot');
    near(reads.keys[0]?.count ?? 0, count / 2);
    // Those that have a counter by chance say what is certain of them, which is little.
    expect(reads.keys[1]?.count).toBeLessThan(0.02 * count);
    expect(sessions.keys.map(({ key }) => key).sort()).toEqual([1, 2]);
    near(sessions.keys[0]?.count ?? 0, count / 2);
  });

  it('are told of the last seconds, so a load that has ended disappears', () => {
    const hot = new HotRequests();
    hot.look(0, LIMIT);
    for (let second = 0; second < 12; second++) {
      hot.onRequest(7, frameOf(OpCode.getData, second < 4 ? '/early' : '/late'));
      hot.onTick(1_000 * (second + 1));
    }
    const { spanMs, reads } = hot.look(12_000, LIMIT);
    expect(spanMs).toBe(7_000);
    expect(reads).toEqual({ total: 7, keys: [{ key: '/late', count: 7 }] });
  });
});

describe('a member', () => {
  it('passes the requests of clients while they are watched, and answers them as ever', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.exists('/before');
    const { hot } = ensemble.leader.pipeline;
    hot.look(0, LIMIT);
    const stranger = ensemble.open();
    stranger.exists('/not-connected');
    client.exists('/a');
    client.create('/a');
    ensemble.settle();
    client.exists('/a');
    const { reads, writes, sessions } = hot.look(1_000, LIMIT);
    expect(reads.keys).toEqual([{ key: '/a', count: 2 }]);
    expect(writes.keys).toEqual([{ key: '/a', count: 1 }]);
    expect(sessions.keys).toEqual([{ key: client.session, count: 3 }]);
    expect(client.takeSummary()).toEqual([
      ...['reply 1 -101', 'reply 2 -101', 'reply 3 0', 'reply 4 0'],
    ]);
    ensemble.leader.pipeline.onTick(1_000 + WATCHED_MS);
    expect(hot.isWatching).toBe(false);
  });
});
