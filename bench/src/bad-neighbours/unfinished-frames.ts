/**
 * Fifteen hundred connections each send a request of 1 MB without its last byte, half of them
 * without a session, and come again as soon as they are closed.
 *
 * A member that keeps whatever arrives until it is complete holds 1.5 GB for them. The budget of
 * input is set to 64 MB here, a quarter of the default on a large machine.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../load/dial.js';
import type { BadNeighbour } from './bad-neighbour.js';
import { leaderHost } from './leader-host.js';
import { rawClient, withSession } from './raw-client.js';

const CONNECTIONS = 1500;
const QUICK_CONNECTIONS = 200;
const FRAME_BYTES = 1_048_575;
const AGAIN_AFTER_MS = 500;
const INPUT_BYTES_MAX = 64 << 20;

const UNFINISHED = Buffer.alloc(4 + FRAME_BYTES - 1);
UNFINISHED.writeInt32BE(FRAME_BYTES);

export const unfinishedFrames: BadNeighbour = {
  name: 'bad-unfinished-frames',
  what: '1500 connections hold a request of 1 MB less a byte each',
  memoryBoundMB: 300,
  onZooKeeper: true,
  memberSettings: { rookery: { inputBytesMax: INPUT_BYTES_MAX } },
  attack: async (context, signal) => {
    const host = await leaderHost(context);
    const connections = context.settings.isQuick ? QUICK_CONNECTIONS : CONNECTIONS;
    await Promise.all(
      Array.from({ length: connections }, (_, index) => {
        return sendAlways(host, { hasSession: index % 2 === 0, signal });
      }),
    );
  },
};

async function sendAlways(
  host: Host,
  { hasSession, signal }: { readonly hasSession: boolean; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const client = rawClient(host, signal);
    if (hasSession) await withSession(client);
    client.socket.write(UNFINISHED);
    client.socket.resume();
    await client.closed;
    await sleep(AGAIN_AFTER_MS, undefined, { signal }).catch(() => undefined);
  }
}
