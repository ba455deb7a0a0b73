/**
 * Six connections create znodes of 1 KB without end, at members that may use 300 MB each.
 *
 * A tree without a bound grows until the kernel ends members, and any write after their return ends
 * them again. Here the tree reaches its bound within the attack. What is measured is thus the load
 * up to it, the storm of refusals after it, and the memory of the members then. The members are
 * told their limit instead of being put into a control group, which needs root; the kernel's
 * high-water mark of the largest one must stay below it all the same.
 */
import { type Client, QuotaExceededError } from '@rookery/client';
import type { Context } from '../run/context.js';
import type { BadNeighbour } from './bad-neighbour.js';

const LIMIT_BYTES = 300 << 20;
const CONNECTIONS = 6;
const OUTSTANDING = 32;
const VALUE = Buffer.alloc(1024, 0x61);
/**
 * Larger values fill most of the tree before the attack: that takes seconds instead of a minute.
 */
const LARGE_VALUE = Buffer.alloc(16 << 10, 0x61);
const LARGE_COUNT = 3_500;
const QUICK_LARGE_COUNT = 200;

export const creatingWithoutEnd: BadNeighbour = {
  name: 'bad-creating-without-end',
  what: 'six connections create znodes of 1 KB without end in members of 300 MB',
  memoryBoundMB: 314,
  // ZooKeeper has no bound of the tree.
  onZooKeeper: false,
  memberSettings: { command: ['env', `ROOKERY_MEMORY_BYTES=${LIMIT_BYTES}`] },
  prepare: async (context) => {
    const count = context.settings.isQuick ? QUICK_LARGE_COUNT : LARGE_COUNT;
    const client = await context.client();
    const root = context.newRoot();
    await client.create(root);
    let next = 0;
    await Promise.all(
      Array.from({ length: OUTSTANDING }, async () => {
        while (next < count) await client.create(`${root}/${next++}`, LARGE_VALUE);
      }),
    );
  },
  attack: async (context, signal) => {
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => context.client()));
    await Promise.all(clients.map((client) => createUntil(context, client, signal)));
  },
};

async function createUntil(context: Context, client: Client, signal: AbortSignal): Promise<void> {
  const root = context.newRoot();
  await unlessRefused(client.create(root));
  let next = 0;
  await Promise.all(
    Array.from({ length: OUTSTANDING }, async () => {
      while (!signal.aborted) await unlessRefused(client.create(`${root}/${next++}`, VALUE));
    }),
  );
}

/** Refusals are what the attack is about; any other error is thrown. */
async function unlessRefused(created: Promise<unknown>): Promise<void> {
  try {
    await created;
  } catch (error) {
    if (!(error instanceof QuotaExceededError)) throw error;
  }
}
