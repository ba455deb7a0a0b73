/**
 * Transactions: the operations of a multi, their results and the builder's interface. Types only.
 */
import type { Acl, CreateMode, Data, OperationOptions, Stat } from './values.js';

export type TransactionOp =
  | {
      readonly kind: 'create';
      readonly path: string;
      readonly data?: Data | undefined;
      readonly mode?: CreateMode | undefined;
      readonly acl?: readonly Acl[] | undefined;
      readonly ttlMs?: number | undefined;
    }
  | { readonly kind: 'delete'; readonly path: string; readonly version?: number | undefined }
  | {
      readonly kind: 'setData';
      readonly path: string;
      readonly data: Data;
      readonly version?: number | undefined;
    }
  | { readonly kind: 'check'; readonly path: string; readonly version?: number | undefined };

/** The `stat` of a create is null if the server does not send it in a multi, as ZooKeeper 3.8. */
export type TransactionResult =
  | { readonly kind: 'create'; readonly path: string; readonly stat: Stat | null }
  | { readonly kind: 'delete' }
  | { readonly kind: 'setData'; readonly stat: Stat }
  | { readonly kind: 'check' };

/**
 * Collects operations, then commits either all of them or none. It can be committed only once:
 * after that, commit() rejects with InvalidStateError and the other methods throw it.
 */
export interface Transaction {
  create(
    path: string,
    data?: Data,
    options?: {
      readonly mode?: CreateMode | undefined;
      readonly acl?: readonly Acl[] | undefined;
      readonly ttlMs?: number | undefined;
    },
  ): Transaction;
  delete(path: string, options?: { readonly version?: number | undefined }): Transaction;
  setData(
    path: string,
    data: Data,
    options?: { readonly version?: number | undefined },
  ): Transaction;
  check(path: string, options?: { readonly version?: number | undefined }): Transaction;
  commit(options?: OperationOptions): Promise<TransactionResult[]>;
}
