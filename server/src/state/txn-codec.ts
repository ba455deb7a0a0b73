/**
 * The bytes of a transaction: the body of a proposal.
 */
import type { Txn } from './txn.js';

export function encodeTxn(_txn: Txn): Uint8Array {
  throw new Error('skeleton');
}

/** Data and passwords are views of `bytes`. Throws MarshallingError. */
export function decodeTxn(_bytes: Uint8Array): Txn {
  throw new Error('skeleton');
}
