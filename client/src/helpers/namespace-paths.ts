/**
 * Translates paths, events, results and errors between a view with a prefix and the server.
 *
 * The prefix has no trailing slash and is never empty. A path that is not below the prefix is
 * returned unchanged, so that an error about it names the real path. Called by the namespaced
 * client.
 */
import {
  BadArgumentsError,
  CreateFlag,
  isSequentialFlag,
  KeeperError,
  keeperError,
  NoNodeError,
  parentOf,
  unreachable,
} from '@rookery/protocol';
import { OperationAbortedError, TransactionError } from '../api/errors.js';
import type { TransactionOp, TransactionResult } from '../api/transaction.js';
import type { CreateMode, WatchEvent } from '../api/values.js';

export class NamespacePaths {
  readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /**
   * `/` is the prefix itself. Throws BadArgumentsError for a path that would not be below the
   * prefix.
   */
  in(path: string): string {
    if (path === '/') return this.prefix;
    if (!path.startsWith('/')) throw new BadArgumentsError(path);
    return `${this.prefix}${path}`;
  }

  /** A sequential create in `/` appends its number below the prefix, not to the prefix. */
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

  /**
   * Returns an error of the same class about the path that the caller knows, with the original as
   * its cause. `created` are the paths, as the caller named them, that the operation was to create;
   * they show whether the prefix itself is missing.
   */
  outOfError(error: unknown, created: readonly string[] = []): unknown {
    if (error instanceof TransactionError) return this.#outOfTransaction(error, created);
    if (error instanceof KeeperError) return this.#outOfKeeperError(error, created);
    if (error instanceof OperationAbortedError && error.path !== undefined) {
      const { ambiguous, path, cause } = error;
      return new OperationAbortedError(cause, { ambiguous, path: this.out(path) });
    }
    return error;
  }

  #outOfKeeperError(error: KeeperError, created: readonly string[]): KeeperError {
    if (error.path === undefined || this.out(error.path) === error.path) return error;
    const { ambiguous } = error;
    const path = this.out(error.path);
    const cause = this.#lacksPrefix(error, path, created) ? this.#missingPrefix(error) : error;
    return keeperError(error.code, path, { ambiguous, cause });
  }

  #lacksPrefix(error: KeeperError, path: string, created: readonly string[]): boolean {
    if (!(error instanceof NoNodeError)) return false;
    return path === '/' || (parentOf(path) === '/' && created.includes(path));
  }

  #missingPrefix(error: KeeperError): Error {
    const remedy = "ensurePath(client, '/') creates it";
    return new Error(`the namespace or chroot ${this.prefix} does not exist; ${remedy}`, {
      cause: error,
    });
  }

  #outOfTransaction(error: TransactionError, created: readonly string[]): TransactionError {
    const results = error.results.map((result) =>
      result instanceof KeeperError ? this.#outOfKeeperError(result, created) : asError(result),
    );
    const inner = error.error;
    const shown = inner instanceof KeeperError ? this.#outOfKeeperError(inner, created) : inner;
    return new TransactionError(error.failedIndex, shown, results);
  }
}

function asError(result: unknown): Error | null {
  return result instanceof Error ? result : null;
}
