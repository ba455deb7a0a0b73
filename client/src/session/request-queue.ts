/**
 * The unsettled requests of a client: the ones that wait for a connection, in the order of the
 * calls, and the deadlines and the number of all.
 *
 * It never sends a request twice: after it was passed to a connection, it is settled there or fails
 * with it. `size` is the number of requests waiting here or in flight. A request that its signal or
 * deadline settles before it was sent is removed at once.
 */

import { OperationAbortedError, TooManyOutstandingError } from '../api/errors.js';
import type { Surroundings } from '../api/surroundings.js';
import type { OperationOptions } from '../api/values.js';
import { callOptionsError } from '../calls/call-options.js';
import type { Call } from './call.js';
import type { Connection } from './connection.js';
import { Deadlines } from './deadlines.js';
import { areOperationsObserved, observeOperation, publishSettled } from './diagnostics.js';
import {
  type ErrorMaker,
  failWith,
  PendingRequest,
  type Request,
  type RequestOwner,
} from './request.js';

export interface RequestQueueOptions {
  readonly surroundings: Surroundings;
  readonly outstandingMax: number;
  /** The timeout of requests without one of their own, in milliseconds; 0 for none. */
  readonly operationTimeoutMs: number;
  /** For diagnostics: the name of the client, and the member that it is connected to. */
  readonly name: string;
  server(): string | null;
}

export class RequestQueue implements RequestOwner {
  readonly #options: RequestQueueOptions;
  readonly #deadlines: Deadlines;
  readonly #unsent = new Set<Request>();
  /** Why there is no connection. It becomes the cause of timeouts meanwhile. */
  trouble: Error | null = null;
  #connection: Connection | null = null;
  #refusal: ErrorMaker | null = null;

  constructor(options: RequestQueueOptions) {
    this.#options = options;
    this.#deadlines = new Deadlines(options.surroundings);
  }

  get size(): number {
    return this.#unsent.size + (this.#connection?.inFlightCount ?? 0);
  }

  get isAttached(): boolean {
    return this.#connection !== null;
  }

  submit<T>(call: Call<T>, options: OperationOptions | undefined): Promise<T> {
    return this.submitApart(call, options, this.#place);
  }

  /**
   * Like submit, but the caller sends it. It is not counted here; only its deadline is managed
   * here.
   */
  submitApart<T>(
    call: Call<T>,
    options: OperationOptions | undefined,
    place: (request: Request) => void,
  ): Promise<T> {
    const refused = this.#refuse(call, options);
    if (refused !== null) {
      call.onSettled?.();
      return Promise.reject(refused);
    }
    const settled = new Promise<T>((resolve, reject) => {
      const signal = options?.signal;
      const request = new PendingRequest<T>({ call, owner: this, signal, resolve, reject });
      const { surroundings, operationTimeoutMs } = this.#options;
      const timeoutMs = options?.timeoutMs ?? operationTimeoutMs;
      const nowMs = surroundings.nowMs();
      if (timeoutMs > 0) this.#deadlines.add(request, timeoutMs, nowMs);
      if (areOperationsObserved()) this.#placeObserved(request, nowMs, place);
      else place(request);
    });
    return settled.catch(retrace);
  }

  /** Sends the waiting requests and, from then on, each new one at once. */
  attach(connection: Connection): void {
    this.#connection = connection;
    const waiting = [...this.#unsent];
    this.#unsent.clear();
    for (const request of waiting) connection.send(request);
  }

  detach(): void {
    this.#connection = null;
  }

  failUnsent(make: ErrorMaker): void {
    const waiting = [...this.#unsent];
    this.#unsent.clear();
    for (const request of waiting) failWith(request, make);
  }

  /** Refuses every further request. */
  refuseAll(make: ErrorMaker): void {
    this.#refusal = make;
  }

  /** Cancels the timer of the deadlines. */
  stop(): void {
    this.#deadlines.stop();
  }

  onSettled(request: Request, error: Error | null): void {
    this.#deadlines.remove(request);
    if (Number.isNaN(request.sentAtMs)) this.#unsent.delete(request);
    const { observation } = request;
    if (observation === null) return;
    const { surroundings, name: client } = this.#options;
    const server = this.#options.server();
    publishSettled(request, observation, { client, server, nowMs: surroundings.nowMs(), error });
  }

  readonly #place = (request: Request): void => {
    if (this.#connection === null) this.#unsent.add(request);
    else this.#connection.send(request);
  };

  #placeObserved(request: Request, nowMs: number, place: (request: Request) => void): void {
    observeOperation(request, { client: this.#options.name, nowMs }, (observation) => {
      request.observation = observation;
      place(request);
    });
  }

  #refuse(call: Call<unknown>, options: OperationOptions | undefined): Error | null {
    const signal = options?.signal;
    if (this.#refusal !== null) return this.#refusal(call.path, false);
    if (signal?.aborted === true) {
      const path = call.path === undefined ? {} : { path: call.path };
      return new OperationAbortedError(signal.reason, { ambiguous: false, ...path });
    }
    const error = callOptionsError(options);
    if (error !== null) return error;
    const { outstandingMax } = this.#options;
    return this.size >= outstandingMax ? new TooManyOutstandingError(outstandingMax) : null;
  }
}

/**
 * An error is created where a frame is handled, far from the caller. Here it gets a new stack
 * trace, with the functions that await the operation.
 */
function retrace(error: unknown): never {
  if (error instanceof Error) Error.captureStackTrace(error, retrace);
  throw error;
}
