/**
 * Six connections send the largest multis and multiReads they can: some exceed the limits of the
 * members, and some just fit.
 *
 * Every member decides on and applies a multi in one turn. A frame of the usual size holds 50,000
 * operations; without a bound on them, a single request occupies a member for as long as it takes.
 */
import { BadArgumentsError, type Client, type ReadOp, type TransactionOp } from '@rookery/client';
import type { BadNeighbour } from './bad-neighbour.js';

const CONNECTIONS = 6;
const OUTSTANDING = 2;
const BEYOND = 20_000;
const WITHIN = 4_000;
const QUICK_DIVISOR = 10;
const ATTEMPTS_BEYOND = 3;

export const largeMultis: BadNeighbour = {
  name: 'bad-large-multis',
  what: 'six connections send multis and multiReads of 20,000 and of 4,000 operations',
  memoryBoundMB: 400,
  onZooKeeper: true,
  attack: async (context, signal) => {
    const divisor = context.settings.isQuick ? QUICK_DIVISOR : 1;
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => context.client()));
    const sendAll = async (client: Client): Promise<void> => {
      const path = context.newRoot();
      await client.create(path);
      const send = async (): Promise<void> => {
        for (let attempt = 0; !signal.aborted; attempt++) {
          const count = attempt % ATTEMPTS_BEYOND === 0 ? BEYOND : WITHIN;
          await unlessRefused(client.multi(setAgainAndAgain(path, count / divisor)));
          await unlessRefused(client.multiRead(readAgainAndAgain(path, count / divisor)));
        }
      };
      await Promise.all(Array.from({ length: OUTSTANDING }, send));
    };
    await Promise.all(clients.map(sendAll));
  },
};

function setAgainAndAgain(path: string, count: number): readonly TransactionOp[] {
  return Array.from({ length: count }, () => ({ kind: 'setData', path, data: 'x' }) as const);
}

function readAgainAndAgain(path: string, count: number): readonly ReadOp[] {
  return Array.from({ length: count }, () => ({ kind: 'getData', path }) as const);
}

async function unlessRefused(asked: Promise<unknown>): Promise<void> {
  try {
    await asked;
  } catch (error) {
    if (!(error instanceof BadArgumentsError)) throw error;
  }
}
