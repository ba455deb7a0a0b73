/**
 * Twenty connections keep 200,000 small changes under way, as multis of a thousand each.
 *
 * What a leader has decided and not applied yet it must hold in memory, record by record. A member
 * that bounds only the bytes of it holds far more than those, and whoever writes beside it waits
 * behind all of it.
 */
import type { TransactionOp } from '@rookery/client';
import type { BadNeighbour } from './bad-neighbour.js';

const CONNECTIONS = 20;
const OUTSTANDING = 10;
const OPERATIONS = 1_000;
const QUICK_DIVISOR = 10;

export const writesInFlight: BadNeighbour = {
  name: 'bad-writes-in-flight',
  what: '20 connections keep 200,000 changes under way, 1,000 to a multi',
  memoryBoundMB: 400,
  onZooKeeper: true,
  attack: async (context, signal) => {
    const count = context.settings.isQuick ? OPERATIONS / QUICK_DIVISOR : OPERATIONS;
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        const client = await context.client();
        const path = context.newRoot();
        await client.create(path);
        const changes = Array.from(
          { length: count },
          (): TransactionOp => ({ kind: 'setData', path, data: 'x' }),
        );
        const send = async (): Promise<void> => {
          while (!signal.aborted) await client.multi(changes);
        };
        await Promise.all(Array.from({ length: OUTSTANDING }, send));
      }),
    );
  },
};
