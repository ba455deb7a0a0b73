/**
 * Raises the number of a znode's next sequential child. Rookery takes one request for that. On any
 * other server it takes creating and deleting children, because the number counts their creations.
 */
import { type Client, type TransactionOp, UnimplementedError } from '@rookery/client';
import { SEQUENCE_MAX } from '@rookery/protocol';

/** The number in one transaction, of two operations each: far below the bounds of both products. */
const CHILDREN_AT_ONCE = 500;
const TRANSACTIONS_AT_ONCE = 8;
const NAME = 'rookery-mirror-sequence';

/** How far it is; `done` grows. */
export interface Raising {
  readonly path: string;
  done: number;
  readonly of: number;
}

/** Raises it by `by`, or until the signal. May be repeated; rejects like the client. */
export async function raiseSequence(
  client: Client,
  path: string,
  how: {
    /** The number after raising it. */
    readonly to: number;
    readonly by: number;
    readonly signal: AbortSignal;
    readonly raising: Raising;
  },
): Promise<void> {
  const { to, by, signal, raising } = how;
  const child = path === '/' ? `/${NAME}` : `${path}/${NAME}`;
  let left = by;
  try {
    const reached = Math.min(to, SEQUENCE_MAX);
    await client.raiseSequence(path, reached, { signal });
    // ZooKeeper counts to one more, and then assigns no more numbers.
    left = to - reached;
    raising.done = by - left;
  } catch (error) {
    if (!(error instanceof UnimplementedError)) throw error;
  }
  while (left > 0) {
    signal.throwIfAborted();
    const under: Promise<unknown>[] = [];
    let begun = 0;
    for (let count = 0; count < TRANSACTIONS_AT_ONCE && left > 0; count++) {
      const children = Math.min(left, CHILDREN_AT_ONCE);
      left -= children;
      begun += children;
      const ops = Array.from({ length: children }, () => createAndDelete(child)).flat();
      under.push(client.multi(ops, { signal }));
    }
    await Promise.all(under);
    raising.done += begun;
  }
}

function createAndDelete(path: string): readonly TransactionOp[] {
  return [
    { kind: 'create', path },
    { kind: 'delete', path },
  ];
}
