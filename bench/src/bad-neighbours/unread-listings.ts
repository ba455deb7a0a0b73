/**
 * Sixty clients list a directory of 100,000 children again and again and read none of it.
 *
 * Each answer has 12 MB, which no socket takes in. Every client requests it, comes again with a new
 * connection after a second, and leaves the old one open. A member that keeps everything that
 * clients do not read grows by what they request. The budget of output is set to 64 MB here, an
 * eighth of the default on a large machine.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { OpCode, PathWatchRequest } from '@rookery/protocol';
import type { Host } from '../load/dial.js';
import { frameOf } from '../load/frames.js';
import type { Context } from '../run/context.js';
import type { BadNeighbour } from './bad-neighbour.js';
import { leaderHost } from './leader-host.js';
import { rawClient, withSession } from './raw-client.js';

const CHILDREN = 100_000;
const QUICK_CHILDREN = 10_000;
const CLIENTS = 60;
const AGAIN_AFTER_MS = 1000;
const AGAIN_MAX = 4;
const OUTPUT_BYTES_MAX = 64 << 20;
const NAME_END = 'x'.repeat(100);
const PARENT = '/bad-unread-listings';

const LIST = frameOf(OpCode.getChildren, PathWatchRequest, { path: PARENT, watch: false });

export const unreadListings: BadNeighbour = {
  name: 'bad-unread-listings',
  what: '60 clients list 100,000 children and do not read',
  memoryBoundMB: 400,
  onZooKeeper: true,
  memberSettings: { rookery: { outputBytesMax: OUTPUT_BYTES_MAX } },
  prepare: async (context) => {
    const client = await context.client();
    await client.create(PARENT);
    const children = context.settings.isQuick ? QUICK_CHILDREN : CHILDREN;
    await makeChildren(context, children);
  },
  attack: async (context, signal) => {
    const host = await leaderHost(context);
    await Promise.all(Array.from({ length: CLIENTS }, () => askAlways(host, signal)));
  },
};

async function makeChildren(context: Context, count: number): Promise<void> {
  const client = await context.client();
  const batch = 1000;
  for (let first = 0; first < count; first += batch) {
    const names = Array.from({ length: Math.min(batch, count - first) }, (_, at) => first + at);
    await Promise.all(names.map((name) => client.create(`${PARENT}/${name}-${NAME_END}`)));
  }
}

async function askAlways(host: Host, signal: AbortSignal): Promise<void> {
  for (let time = 0; time < AGAIN_MAX && !signal.aborted; time++) {
    const client = rawClient(host, signal);
    await withSession(client);
    client.socket.pause();
    client.socket.write(LIST);
    await sleep(AGAIN_AFTER_MS, undefined, { signal }).catch(() => undefined);
  }
}
