/**
 * For tests: a transaction apart from the batch that it is written into and read from.
 *
 * It uses the codec of the product, which never has the bytes of one transaction alone.
 */
import { JuteWriter, ProposalBatch, type ProposalCursor } from '@rookery/protocol';
import type { Txn } from '../../state/txn.js';
import { txnOf, writeTxn } from '../../state/txn-codec.js';

/** In memory of its own. */
export function encodeTxn(txn: Txn): Uint8Array {
  const writer = new JuteWriter();
  writeTxn(writer, txn);
  return writer.take();
}

/** Data and passwords are views of `body`. Throws MarshallingError. */
export function decodeTxn(body: Uint8Array): Txn {
  return txnOf({ body });
}

/** At the one proposal of a batch, which has this body. */
export function proposalOf(body: Uint8Array): ProposalCursor {
  const cursor = ProposalBatch.of([{ zxid: 1, previous: 0, body }]).cursor();
  cursor.next();
  return cursor;
}
