/**
 * Twenty connections keep 200,000 small changes in flight, as multis of a thousand each.
 *
 * A leader must hold in memory, record by record, what it has decided and not yet applied. A member
 * that bounds only the bytes of the requests holds far more than that, and every other writer waits
 * behind all of it.
 */
import type { TransactionOp } from '@rookery/client';
import type { BadNeighbour } from './bad-neighbour.js';

const CONNECTIONS = 20;
const OUTSTANDING = 10;
const OPERATIONS = 1_000;
const QUICK_DIVISOR = 10;
const WARMUP_MULTIS = 200;

export const writesInFlight: BadNeighbour = {
  name: 'bad-writes-in-flight',
  what: '20 connections keep 200,000 changes under way, 1,000 to a multi',
  memoryBoundMB: 400,
  onZooKeeper: true,
  // Without this warm-up, the attacking process would compile its code while the good client is
  // measured, on the same processors: answers took up to a second in the first round of a run, and
  // 0.3 s later.
  prepare: async (context) => {
    const client = await context.client();
    const path = context.newRoot();
    await client.create(path);
    const changes = changesOf(path, OPERATIONS / QUICK_DIVISOR);
    for (let sent = 0; sent < WARMUP_MULTIS; sent++) await client.multi(changes);
  },
  attack: async (context, signal) => {
    const count = context.settings.isQuick ? OPERATIONS / QUICK_DIVISOR : OPERATIONS;
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        const client = await context.client();
        const path = context.newRoot();
        await client.create(path);
        const changes = changesOf(path, count);
        const send = async (): Promise<void> => {
          while (!signal.aborted) await client.multi(changes);
        };
        await Promise.all(Array.from({ length: OUTSTANDING }, send));
      }),
    );
  },
};

function changesOf(path: string, count: number): readonly TransactionOp[] {
  return Array.from({ length: count }, () => ({ kind: 'setData', path, data: 'x' }) as const);
}
