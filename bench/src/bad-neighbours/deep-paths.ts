/**
 * Uses a path as deep as members allow, up to 10,000 segments, a recursive watch at its top, and
 * five clients that write to its end.
 *
 * A member that looks for the watches of each ancestor by its path reads the square of the path's
 * length with every write, as do all other members.
 */
import { BadArgumentsError, type Client } from '@rookery/client';
import type { BadNeighbour } from './bad-neighbour.js';

const DEPTH = 10_000;
const QUICK_DEPTH = 1_000;
const WRITERS = 5;
const OUTSTANDING = 32;

export const deepPaths: BadNeighbour = {
  name: 'bad-deep-paths',
  what: 'five clients write to the end of a path of 10,000 segments with a recursive watch above it',
  memoryBoundMB: 250,
  onZooKeeper: true,
  attack: async (context, signal) => {
    const clients = await Promise.all(Array.from({ length: WRITERS }, () => context.client()));
    const [first] = clients;
    if (first === undefined) return;
    const root = context.newRoot();
    await first.create(root);
    const end = await createDeepest(
      first,
      root,
      context.settings.isQuick ? QUICK_DEPTH : DEPTH,
      signal,
    );
    await first.addWatch(root, () => undefined, { recursive: true });
    await Promise.all(clients.map((client) => writeAgainAndAgain(client, end, signal)));
  },
};

/** Returns the deepest path that could be made. */
async function createDeepest(
  client: Client,
  root: string,
  depth: number,
  signal: AbortSignal,
): Promise<string> {
  let path = root;
  while (path.length < root.length + 2 * depth && !signal.aborted) {
    const chain = Array.from({ length: 100 }, (_, index) => path + '/n'.repeat(index + 1));
    const made = await Promise.allSettled(chain.map((one) => client.create(one)));
    const failed = made.findIndex(({ status }) => status === 'rejected');
    if (failed === -1) {
      path = chain.at(-1) ?? path;
      continue;
    }
    const outcome = made[failed];
    const reason: unknown = outcome?.status === 'rejected' ? outcome.reason : null;
    if (!(reason instanceof BadArgumentsError)) throw reason;
    return chain[failed - 1] ?? path;
  }
  return path;
}

async function writeAgainAndAgain(
  client: Client,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const write = async (): Promise<void> => {
    while (!signal.aborted) await client.setData(path, 'x');
  };
  await Promise.all(Array.from({ length: OUTSTANDING }, write));
}
