/**
 * Creates ephemerals below a very long path, and connections without a session request dumps of
 * them.
 *
 * 700 ephemerals below a path of 800 KB make an answer to `dump` of 560 MB, longer than a string
 * may be in Node, although the tree holds that path only once. A member that builds the whole
 * answer before it sends any of it ends.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, NodeExistsError } from '@rookery/client';
import type { BadNeighbour } from './bad-neighbour.js';
import { leaderHost } from './leader-host.js';
import { askAgainAndAgain } from './word.js';

const NAME_CHARACTERS = 800_000;
const EPHEMERALS = 700;
const QUICK_EPHEMERALS = 20;
const ASKERS = 4;
/** The pause between two creates: they are not the attack, and each is 800 KB for every member. */
const PAUSE_MS = 5;
const ATTEMPTS = 20;
const RETRY_MS = 500;

export const longDump: BadNeighbour = {
  name: 'bad-long-dump',
  what: '700 ephemerals below a path of 800 KB are dumped',
  memoryBoundMB: 400,
  onZooKeeper: true,
  memberSettings: {
    rookery: { fourLetterWords: '*' },
    zookeeper: ['4lw.commands.whitelist=*'],
  },
  prepare: async (context) => {
    const client = await context.client();
    const parent = `${context.newRoot()}${'x'.repeat(NAME_CHARACTERS)}`;
    await created(client, parent, 'persistent');
    const ephemerals = context.settings.isQuick ? QUICK_EPHEMERALS : EPHEMERALS;
    for (let number = 0; number < ephemerals; number++) {
      await created(client, `${parent}/${number}`, 'ephemeral');
      await sleep(PAUSE_MS);
    }
  },
  attack: async (context, signal) => {
    const host = await leaderHost(context);
    await Promise.all(Array.from({ length: ASKERS }, () => askAgainAndAgain(host, 'dump', signal)));
  },
};

/** The client's errors contain the path, which is too long for anybody to read. */
async function created(
  client: Client,
  path: string,
  mode: 'persistent' | 'ephemeral',
): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      await client.create(path, null, { mode });
      return;
    } catch (error) {
      if (error instanceof NodeExistsError) return;
      await sleep(RETRY_MS);
    }
  }
  throw new Error(`no ${mode} znode below a long path was created in ${ATTEMPTS} attempts`);
}
