/**
 * Paths, events, results and errors seen through a prefix: into the server's terms and back.
 *
 * The prefix has no slash at its end and is never empty. What does not lie below it is given back
 * as it is: an error about such a path is told truthfully rather than cut. Called by the
 * namespaced client.
 */
import {
  BadArgumentsError,
  CreateFlag,
  isSequentialFlag,
  KeeperError,
  keeperError,
  unreachable,
} from '@rookery/protocol';
import type { TransactionOp, TransactionResult } from '../api/transaction.js';
import type { CreateMode, WatchEvent } from '../api/values.js';
import { OperationAbortedError, TransactionError } from '../errors.js';

export class NamespacePaths {
  readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /** `/` is the prefix itself. BadArgumentsError for what would end up beside the prefix. */
  in(path: string): string {
    if (path === '/') return this.prefix;
    if (!path.startsWith('/')) throw new BadArgumentsError(path);
    return `${this.prefix}${path}`;
  }

  /** A sequential create in `/` appends its number below the prefix, not to it. */
  inOfCreate(path: string, mode: CreateMode | undefined): string {
    const sequential = mode !== undefined && isSequentialFlag(CreateFlag[mode]);
    return path === '/' && sequential ? `${this.prefix}/` : this.in(path);
  }

  inOfOp(op: TransactionOp): TransactionOp {
    switch (op.kind) {
      case 'create':
        return { ...op, path: this.inOfCreate(op.path, op.mode) };
      case 'delete':
      case 'setData':
      case 'check':
        return { ...op, path: this.in(op.path) };
      default:
        return unreachable(op);
    }
  }

  out(path: string): string {
    if (path === this.prefix) return '/';
    return this.isInside(path) ? path.slice(this.prefix.length) : path;
  }

  isInside(path: string): boolean {
    return path.startsWith(this.prefix) && path.charAt(this.prefix.length) === '/';
  }

  outOfEvent(event: WatchEvent): WatchEvent {
    return { ...event, path: this.out(event.path) };
  }

  outOfResult(result: TransactionResult): TransactionResult {
    return result.kind === 'create' ? { ...result, path: this.out(result.path) } : result;
  }

  /** An error of the same class about the path that the caller knows; the original is its cause. */
  outOfError(error: unknown): unknown {
    if (error instanceof TransactionError) return this.#outOfTransaction(error);
    if (error instanceof KeeperError) return this.#outOfKeeperError(error);
    if (error instanceof OperationAbortedError && error.path !== undefined) {
      const { ambiguous, path, cause } = error;
      return new OperationAbortedError(cause, { ambiguous, path: this.out(path) });
    }
    return error;
  }

  #outOfKeeperError(error: KeeperError): KeeperError {
    if (error.path === undefined || this.out(error.path) === error.path) return error;
    const { ambiguous } = error;
    return keeperError(error.code, this.out(error.path), { ambiguous, cause: error });
  }

  #outOfTransaction(error: TransactionError): TransactionError {
    const results = error.results.map((result) =>
      result instanceof KeeperError ? this.#outOfKeeperError(result) : asError(result),
    );
    const inner = error.error;
    const shown = inner instanceof KeeperError ? this.#outOfKeeperError(inner) : inner;
    return new TransactionError(error.failedIndex, shown, results);
  }
}

function asError(result: unknown): Error | null {
  return result instanceof Error ? result : null;
}
