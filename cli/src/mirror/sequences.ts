/**
 * Raises the number that the next sequential child of a znode gets. A server counts the children
 * that were ever created, so the right number of children is created and deleted.
 */
import type { Client, TransactionOp } from '@rookery/client';

/** The number in one transaction, of two operations each: far below the bounds of both products. */
const CHILDREN_AT_ONCE = 500;
const TRANSACTIONS_AT_ONCE = 8;
const NAME = 'rookery-mirror-sequence';

/** Raises it by `count`. May be repeated; rejects like the client. */
export async function raiseSequence(client: Client, path: string, by: number): Promise<void> {
  const child = path === '/' ? `/${NAME}` : `${path}/${NAME}`;
  let left = by;
  while (left > 0) {
    const under: Promise<unknown>[] = [];
    for (let count = 0; count < TRANSACTIONS_AT_ONCE && left > 0; count++) {
      const children = Math.min(left, CHILDREN_AT_ONCE);
      left -= children;
      under.push(
        client.multi(Array.from({ length: children }, () => createAndDelete(child)).flat()),
      );
    }
    await Promise.all(under);
  }
}

function createAndDelete(path: string): readonly TransactionOp[] {
  return [
    { kind: 'create', path },
    { kind: 'delete', path },
  ];
}
