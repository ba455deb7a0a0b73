/**
 * Two thousand connections request a session from the leader, leave at once and come again, while
 * the members may have 1,024 open files.
 *
 * Every handshake is a write of the whole ensemble, and a client that leaves abandons a session
 * that expires later. Connections for which there is no free file are closed at once and come again
 * as well.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../load/dial.js';
import type { BadNeighbour } from './bad-neighbour.js';
import { leaderHost } from './leader-host.js';
import { rawClient, withSession } from './raw-client.js';

const CONNECTIONS = 2000;
const QUICK_CONNECTIONS = 200;
const OPEN_FILES = 1024;
const AGAIN_AFTER_MS = 500;

export const sessionStorm: BadNeighbour = {
  name: 'bad-session-storm',
  what: '2000 connections make sessions and leave, with 1,024 files a member',
  memoryBoundMB: 300,
  onZooKeeper: true,
  memberSettings: { command: ['prlimit', `--nofile=${OPEN_FILES}:${OPEN_FILES}`] },
  attack: async (context, signal) => {
    const host = await leaderHost(context);
    const connections = context.settings.isQuick ? QUICK_CONNECTIONS : CONNECTIONS;
    await Promise.all(Array.from({ length: connections }, () => comeAndGo(host, signal)));
  },
};

async function comeAndGo(host: Host, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const client = rawClient(host, signal);
    await withSession(client);
    client.socket.destroy();
    await client.closed;
    await sleep(AGAIN_AFTER_MS, undefined, { signal }).catch(() => undefined);
  }
}
