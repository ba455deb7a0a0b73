/**
 * The builder of a transaction, which collects operations and commits them as one multi.
 *
 * It only checks that it is committed once; the client checks the operations. Called by
 * `client.transaction()`.
 */
import { InvalidStateError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Transaction, TransactionOp, TransactionResult } from '../api/transaction.js';
import type { Acl, CreateMode, Data, OperationOptions } from '../api/values.js';

export class TransactionBuilder implements Transaction {
  readonly #client: Pick<Client, 'multi'>;
  readonly #ops: TransactionOp[] = [];
  #isCommitted = false;

  constructor(client: Pick<Client, 'multi'>) {
    this.#client = client;
  }

  create(
    path: string,
    data: Data = null,
    options: {
      readonly mode?: CreateMode;
      readonly acl?: readonly Acl[];
      readonly ttlMs?: number;
    } = {},
  ): Transaction {
    return this.#add({ kind: 'create', path, data, ...options });
  }

  delete(path: string, options: { readonly version?: number } = {}): Transaction {
    return this.#add({ kind: 'delete', path, ...options });
  }

  setData(path: string, data: Data, options: { readonly version?: number } = {}): Transaction {
    return this.#add({ kind: 'setData', path, data, ...options });
  }

  check(path: string, options: { readonly version?: number } = {}): Transaction {
    return this.#add({ kind: 'check', path, ...options });
  }

  /** Rejects with InvalidStateError if commit() was called before, whatever its result was. */
  async commit(options: OperationOptions = {}): Promise<TransactionResult[]> {
    this.#assertOpen();
    this.#isCommitted = true;
    return await this.#client.multi(this.#ops, options);
  }

  #add(op: TransactionOp): Transaction {
    this.#assertOpen();
    this.#ops.push(op);
    return this;
  }

  /** A second commit would do everything twice, perhaps unnoticed if it followed a lost reply. */
  #assertOpen(): void {
    if (this.#isCommitted) throw new InvalidStateError();
  }
}
