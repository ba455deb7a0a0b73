/**
 * The operations that read, and the one-shot watches that they leave.
 *
 * A watcher is registered while the frame of the reply is being handled, so that an event in the
 * next frame already finds it.
 */
import { type ClientInfo, ErrorCode, OPERATIONS, OpCode } from '@rookery/protocol';
import type { ReadOp, ReadResult } from '../api/client.js';
import type {
  Acl,
  Children,
  Node,
  OperationOptions,
  Stat,
  WatchedReadOptions,
} from '../api/values.js';
import type { Call } from '../session/call.js';
import type { SessionKeeper } from '../session/session-keeper.js';
import type { WatchOperations } from '../watches/watch-operations.js';
import type { WatchKind, WatchRegistry } from '../watches/watch-registry.js';
import { pathError, watcherError } from './argument-check.js';
import { dataOf, OperationCall, statOf } from './calls.js';
import { readResultOf } from './multi.js';

export interface ReadsOptions {
  readonly keeper: SessionKeeper;
  readonly registry: WatchRegistry;
  readonly watches: WatchOperations;
}

/** The watcher of a read that is not registered yet. */
interface PendingWatcher {
  stands(kind: WatchKind): void;
  onSettled(): void;
}

export class Reads {
  readonly #keeper: SessionKeeper;
  readonly #registry: WatchRegistry;
  readonly #watches: WatchOperations;

  constructor(options: ReadsOptions) {
    this.#keeper = options.keeper;
    this.#registry = options.registry;
    this.#watches = options.watches;
  }

  exists(path: string, options?: WatchedReadOptions): Promise<Stat | null> {
    return this.#watched('data', path, options, (watcher) => {
      return new OperationCall(OpCode.exists, OPERATIONS[OpCode.exists], {
        path,
        body: { path, watch: watcher !== null },
        result: ({ stat }): Stat | null => {
          watcher?.stands('data');
          return statOf(stat);
        },
        recover: (code) => {
          if (code !== ErrorCode.noNode) return null;
          watcher?.stands('exist');
          return { value: null };
        },
        onSettled: () => watcher?.onSettled(),
      });
    });
  }

  getData(path: string, options?: WatchedReadOptions): Promise<Node> {
    return this.#watched('data', path, options, (watcher) => {
      return new OperationCall(OpCode.getData, OPERATIONS[OpCode.getData], {
        path,
        body: { path, watch: watcher !== null },
        result: ({ data, stat }): Node => {
          watcher?.stands('data');
          return { data: dataOf(data), stat: statOf(stat) };
        },
        onSettled: () => watcher?.onSettled(),
      });
    });
  }

  getChildren(path: string, options?: WatchedReadOptions): Promise<Children> {
    return this.#watched('child', path, options, (watcher) => {
      return new OperationCall(OpCode.getChildren2, OPERATIONS[OpCode.getChildren2], {
        path,
        body: { path, watch: watcher !== null },
        result: ({ children, stat }): Children => {
          watcher?.stands('child');
          return { children, stat: statOf(stat) };
        },
        onSettled: () => watcher?.onSettled(),
      });
    });
  }

  /**
   * Reads one page of names in code-unit order, beginning after `startAfter`. Only Rookery has this
   * operation.
   */
  childrenPage(
    page: { readonly path: string; readonly startAfter: string; readonly limit: number },
    options?: OperationOptions,
  ): Promise<{ readonly children: readonly string[]; readonly more: boolean }> {
    const { path } = page;
    return this.#submit(path, options, () => {
      return new OperationCall(OpCode.getChildrenPage, OPERATIONS[OpCode.getChildrenPage], {
        path,
        body: { ...page, watch: false },
        result: ({ children, more }) => ({ children, more }),
      });
    });
  }

  getAcl(path: string, options?: OperationOptions): Promise<{ acl: readonly Acl[]; stat: Stat }> {
    return this.#submit(path, options, () => {
      return new OperationCall(OpCode.getAcl, OPERATIONS[OpCode.getAcl], {
        path,
        body: { path },
        result: ({ acl, stat }) => ({ acl, stat: statOf(stat) }),
      });
    });
  }

  multiRead(ops: readonly ReadOp[], options?: OperationOptions): Promise<ReadResult[]> {
    if (ops.length === 0) return Promise.resolve([]);
    for (const { path } of ops) {
      const error = pathError(path);
      if (error !== null) return Promise.reject(error);
    }
    const body = {
      ops: ops.map(({ kind, path }) => ({
        opcode: kind === 'getData' ? OpCode.getData : OpCode.getChildren,
        request: { path, watch: false },
      })),
    };
    const call = new OperationCall(OpCode.multiRead, OPERATIONS[OpCode.multiRead], {
      body,
      result: ({ results }) => results.map((result, index) => readResultOf(result, ops[index])),
    });
    return this.#keeper.submit(call, options);
  }

  getEphemerals(prefix = '/', options?: OperationOptions): Promise<readonly string[]> {
    const call = new OperationCall(OpCode.getEphemerals, OPERATIONS[OpCode.getEphemerals], {
      path: prefix,
      body: { prefixPath: prefix },
      result: ({ ephemerals }) => ephemerals,
    });
    return this.#keeper.submit(call, options);
  }

  countDescendants(path: string, options?: OperationOptions): Promise<number> {
    return this.#submit(path, options, () => {
      return new OperationCall(
        OpCode.getAllChildrenNumber,
        OPERATIONS[OpCode.getAllChildrenNumber],
        { path, body: { path }, result: ({ totalNumber }) => totalNumber },
      );
    });
  }

  whoAmI(options?: OperationOptions): Promise<readonly ClientInfo[]> {
    const call = new OperationCall(OpCode.whoAmI, OPERATIONS[OpCode.whoAmI], {
      body: null,
      result: ({ clientInfo }) => clientInfo,
    });
    return this.#keeper.submit(call, options);
  }

  #watched<T>(
    table: 'data' | 'child',
    path: string,
    options: WatchedReadOptions | undefined,
    make: (watcher: PendingWatcher | null) => Call<T>,
  ): Promise<T> {
    const watcher = options?.watcher;
    if (watcher === undefined) return this.#submit(path, options, () => make(null));
    const error = watcherError(path, watcher);
    if (error !== null) return Promise.reject(error);
    const registry = this.#registry;
    let shownAt = this.#keeper.lastZxidSeen;
    const result = this.#submit(path, options, () => {
      registry.begin('read', path);
      return make({
        stands: (kind) => registry.add(kind, path, watcher),
        onSettled: () => {
          registry.end('read', path);
          shownAt = this.#keeper.lastZxidSeen;
        },
      });
    });
    this.#watches.keepPersistent(path, table, () => this.#keeper.lastZxidSeen !== shownAt);
    return result;
  }

  #submit<T>(path: string, options: OperationOptions | undefined, make: () => Call<T>): Promise<T> {
    const error = pathError(path);
    return error === null ? this.#keeper.submit(make(), options) : Promise.reject(error);
  }
}
