/**
 * A request: one operation, from its call to the settlement of its promise.
 *
 * It settles exactly once, by the first of reply, abort, deadline, loss or close; later ones are
 * ignored. It has no position in a queue itself. Its `RequestOwner` is told when its signal or
 * deadline settles it, which happens outside the queues.
 */
import {
  AuthFailedError,
  type Int64,
  type JuteReader,
  type JuteWriter,
  keeperError,
  OperationTimeoutError,
  SessionExpiredError,
} from '@rookery/protocol';
import { OperationAbortedError } from '../api/errors.js';
import { type AbortFollower, followAbort, unfollowAbort } from '../calls/abort-followers.js';
import type { Call } from './call.js';
import type { Dated, DeadlineList } from './deadlines.js';
import type { Observation } from './diagnostics.js';

/** A request as the queues see it, whatever the type of its result. */
export interface Request extends Dated {
  readonly opcode: number;
  readonly path: string | undefined;
  readonly isWrite: boolean;
  readonly isSettled: boolean;
  /** Its xid on the connection on which it was sent. */
  xid: number;
  /** When it was sent, or NaN. */
  sentAtMs: number;
  /** The zxid of the reply, or 0. */
  zxid: Int64;
  /** Null if nobody observes it. */
  observation: Observation | null;
  write(writer: JuteWriter): void;
  /**
   * Settles it with a reply. May throw MarshallingError, after which the request is still pending.
   */
  succeed(reader: JuteReader): void;
  /** Settles it with an error code of the server. */
  refuse(code: number): void;
  fail(error: Error): void;
}

export interface RequestOwner {
  /** Why nothing can be sent now, or null. It becomes the cause if the deadline passes. */
  readonly trouble: Error | null;
  /** Called when the request was settled, for any reason; it has no deadline any more. */
  onSettled(request: Request, error: Error | null): void;
}

/** Whether the request was sent and may have changed something. */
export function isAmbiguous(request: Request): boolean {
  return request.isWrite && !Number.isNaN(request.sentAtMs);
}

export interface RequestOptions<T> {
  readonly call: Call<T>;
  readonly owner: RequestOwner;
  readonly signal: AbortSignal | undefined;
  resolve(value: T): void;
  reject(error: Error): void;
}

export class PendingRequest<T> implements Request, AbortFollower {
  xid = 0;
  sentAtMs = Number.NaN;
  zxid: Int64 = 0;
  observation: Observation | null = null;
  deadlineMs = 0;
  list: DeadlineList | null = null;
  previous: Dated | null = null;
  next: Dated | null = null;
  isSettled = false;
  readonly #options: RequestOptions<T>;

  constructor(options: RequestOptions<T>) {
    this.#options = options;
    const { signal } = options;
    if (signal !== undefined) followAbort(signal, this);
  }

  get opcode(): number {
    return this.#options.call.opcode;
  }

  get path(): string | undefined {
    return this.#options.call.path;
  }

  get isWrite(): boolean {
    return this.#options.call.isWrite;
  }

  write(writer: JuteWriter): void {
    this.#options.call.write(writer);
  }

  succeed(reader: JuteReader): void {
    if (this.isSettled) return;
    const value = this.#options.call.read(reader);
    this.#settle(null);
    this.#options.resolve(value);
  }

  refuse(code: number): void {
    if (this.isSettled) return;
    const recovered = this.#options.call.recover?.(code) ?? null;
    if (recovered === null) {
      this.fail(keeperError(code, this.path));
      return;
    }
    this.#settle(null);
    this.#options.resolve(recovered.value);
  }

  fail(error: Error): void {
    if (this.isSettled) return;
    this.#settle(error);
    this.#options.reject(error);
  }

  expire(): void {
    const { trouble } = this.#options.owner;
    const ambiguous = isAmbiguous(this);
    this.fail(
      new OperationTimeoutError(this.path, { ambiguous, ...(trouble && { cause: trouble }) }),
    );
  }

  onAbort(signal: AbortSignal): void {
    const { path } = this;
    const facts = { ambiguous: isAmbiguous(this), ...(path !== undefined && { path }) };
    this.fail(new OperationAbortedError(signal.reason, facts));
  }

  #settle(error: Error | null): void {
    this.isSettled = true;
    const { signal } = this.#options;
    if (signal !== undefined) unfollowAbort(signal, this);
    this.#options.call.onSettled?.();
    this.#options.owner.onSettled(this, error);
  }
}

/** Makes the error of a request that fails together with others. */
export type ErrorMaker = (path: string | undefined, ambiguous: boolean) => Error;

export function failWith(request: Request, make: ErrorMaker): void {
  request.fail(make(request.path, isAmbiguous(request)));
}

export const expired: ErrorMaker = (path, ambiguous) =>
  new SessionExpiredError(path, { ambiguous });
export const authFailed: ErrorMaker = (path, ambiguous) => new AuthFailedError(path, { ambiguous });
