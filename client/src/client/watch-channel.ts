/**
 * The session, as the operations on watches use it.
 */
import { type AddWatchRequest, OPERATIONS, OpCode, type WatchesRequest } from '@rookery/protocol';
import type { OperationOptions } from '../api/values.js';
import type { SessionKeeper } from '../session/session-keeper.js';
import type { WatchChannel } from '../watches/watch-operations.js';
import { pathError } from './argument-check.js';
import { OperationCall } from './calls.js';

export class SessionWatchChannel implements WatchChannel {
  readonly #keeper: SessionKeeper;

  constructor(keeper: SessionKeeper) {
    this.#keeper = keeper;
  }

  get connected(): boolean {
    return this.#keeper.isConnected;
  }

  get lastZxidSeen(): bigint {
    return this.#keeper.lastZxidSeen;
  }

  addWatch(request: AddWatchRequest, options: OperationOptions, onDone: () => void): Promise<void> {
    const { path } = request;
    const error = pathError(path);
    if (error !== null) return Promise.reject(error);
    const call = new OperationCall(OpCode.addWatch, OPERATIONS[OpCode.addWatch], {
      path,
      body: request,
      result: onDone,
    });
    return this.#keeper.submit<void>(call, options);
  }

  removeWatches(
    request: WatchesRequest,
    options: OperationOptions,
    onDone: () => void,
  ): Promise<void> {
    return this.#aboutWatches(OpCode.removeWatches, request, { options, onDone });
  }

  checkWatches(request: WatchesRequest, options: OperationOptions): Promise<void> {
    return this.#aboutWatches(OpCode.checkWatches, request, { options, onDone: () => undefined });
  }

  #aboutWatches(
    opcode: typeof OpCode.removeWatches | typeof OpCode.checkWatches,
    request: WatchesRequest,
    how: { readonly options: OperationOptions; onDone(): void },
  ): Promise<void> {
    const { path } = request;
    const error = pathError(path);
    if (error !== null) return Promise.reject(error);
    const call = new OperationCall(opcode, OPERATIONS[opcode], {
      path,
      body: request,
      result: how.onDone,
    });
    return this.#keeper.submit<void>(call, how.options);
  }
}
