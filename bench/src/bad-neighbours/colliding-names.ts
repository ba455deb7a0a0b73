/**
 * Uses names that were chosen to collide in an index whose hash everybody knows: six connections
 * create 25,000 of them and read them in multiReads.
 *
 * The hash is the polynomial of characters by which members once found znodes, and by which their
 * digests still tell paths apart. Two blocks of one length with the same value are found by the
 * birthday paradox; all names composed of them collide.
 */
import type { Client } from '@rookery/client';
import type { Context } from '../run/context.js';
import type { BadNeighbour } from './bad-neighbour.js';

const NAMES = 25_000;
const QUICK_NAMES = 2_000;
const CONNECTIONS = 6;
const OUTSTANDING = 32;
const READS_AT_ONCE = 1_000;
const BLOCK_UNITS = 7;
const BASE = 0x9e3779b1;

export const collidingNames: BadNeighbour = {
  name: 'bad-colliding-names',
  what: 'six connections create and read 25,000 names that collide in an unkeyed hash',
  memoryBoundMB: 250,
  onZooKeeper: true,
  attack: async (context, signal) => {
    const { isQuick } = context.settings;
    const names = collide(isQuick ? QUICK_NAMES : NAMES);
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => context.client()));
    const paths = await createAll(context, clients, { names, signal });
    await Promise.all(clients.map((client) => readAgainAndAgain(client, paths, signal)));
  },
};

async function createAll(
  context: Context,
  clients: readonly Client[],
  asked: { readonly names: readonly string[]; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const { names, signal } = asked;
  const root = context.newRoot();
  await clients[0]?.create(root);
  const paths: string[] = [];
  let next = 0;
  const create = async (client: Client): Promise<void> => {
    while (next < names.length && !signal.aborted) {
      const path = `${root}/${names[next++] ?? ''}`;
      await client.create(path);
      paths.push(path);
    }
  };
  const workers = clients.flatMap((client) => new Array<Client>(OUTSTANDING).fill(client));
  await Promise.all(workers.map(create));
  return paths;
}

async function readAgainAndAgain(
  client: Client,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (
    let at = 0;
    !signal.aborted;
    at = at + READS_AT_ONCE < paths.length ? at + READS_AT_ONCE : 0
  ) {
    const some = paths.slice(at, at + READS_AT_ONCE);
    await client.multiRead(some.map((path) => ({ kind: 'getData', path })));
  }
}

function collide(count: number): readonly string[] {
  const [zero, one] = equalBlocks();
  const bits = Math.ceil(Math.log2(count));
  return Array.from({ length: count }, (_, number) => {
    let name = '';
    for (let bit = 0; bit < bits; bit++) name += (number >>> bit) & 1 ? one : zero;
    return name;
  });
}

function equalBlocks(): readonly [string, string] {
  const seen = new Map<number, string>();
  // Multiples of one number would be spread too evenly to collide soon.
  for (let state = 1; ; ) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const block = (state >>> 0).toString(36).padStart(BLOCK_UNITS, '0');
    let hash = 0;
    for (let at = 0; at < BLOCK_UNITS; at++)
      hash = (Math.imul(hash, BASE) + block.charCodeAt(at)) | 0;
    const other = seen.get(hash);
    if (other !== undefined && other !== block) return [other, block];
    seen.set(hash, block);
  }
}
