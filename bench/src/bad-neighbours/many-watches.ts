/**
 * Sets watches by the hundred thousand on znodes that do not exist, for attacks that need them.
 *
 * setWatches carries many paths in one frame, as a client sends them that has lost its connection.
 * It sends a few thousand at a time, because setting them is not the attack. Members bound the
 * watches of one connection, so they are distributed over several. The connections live, and keep
 * their sessions, until `close`.
 */
import { OpCode, SetWatchesRequest } from '@rookery/protocol';
import type { LoadConnection } from '../load/connection.js';
import type { Host } from '../load/dial.js';
import { frameOf } from '../load/frames.js';
import { idleConnection } from '../load/idle-connection.js';
import { OneFrameSource } from '../load/one-frame-source.js';

const WATCHES_PER_FRAME = 2_000;
const WATCHES_PER_CONNECTION = 500_000;
const PING_MS = 5000;
const ANSWER_MS = 30_000;

export class ManyWatches {
  readonly #connections: readonly LoadConnection[];
  readonly #pings: NodeJS.Timeout;

  private constructor(connections: readonly LoadConnection[]) {
    this.#connections = connections;
    this.#pings = setInterval(() => {
      for (const connection of connections) connection.ping();
    }, PING_MS);
  }

  static async set(host: Host, count: number): Promise<ManyWatches> {
    const connections: LoadConnection[] = [];
    for (let from = 0; from < count; from += WATCHES_PER_CONNECTION) {
      const connection = idleConnection(host);
      await connection.connected();
      connections.push(connection);
      await setWatches(connection, from, Math.min(count, from + WATCHES_PER_CONNECTION));
    }
    return new ManyWatches(connections);
  }

  async close(): Promise<void> {
    clearInterval(this.#pings);
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }
}

async function setWatches(connection: LoadConnection, from: number, end: number): Promise<void> {
  for (let first = from; first < end; first += WATCHES_PER_FRAME) {
    const length = Math.min(WATCHES_PER_FRAME, end - first);
    const existWatches = Array.from({ length }, (_, at) => `/watched/by/a/neighbour/${first + at}`);
    const request = { relativeZxid: 0, dataWatches: [], existWatches, childWatches: [] };
    connection.start(new OneFrameSource(frameOf(OpCode.setWatches, SetWatchesRequest, request)));
    if (!(await connection.drained(ANSWER_MS))) throw new Error('watches were not set in time');
  }
}
