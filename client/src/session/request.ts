/**
 * A request: one operation on its way, from the call to the one settlement of its promise.
 *
 * Settles exactly once, by whatever comes first: reply, abort, deadline, loss or close. What comes
 * later is ignored. Holds no place in a queue itself; `RequestOwner` is told when it is settled
 * from outside the queues, by its signal or deadline.
 */
import {
  type Int64,
  type JuteReader,
  type JuteWriter,
  keeperError,
  OperationTimeoutError,
} from '@rookery/protocol';
import { type AbortFollower, followAbort, unfollowAbort } from '../abort-followers.js';
import { OperationAbortedError } from '../errors.js';
import type { Call } from './call.js';
import type { Dated, DeadlineList } from './deadlines.js';
import type { Observation } from './diagnostics.js';

/** A request as the queues see it, whatever its result is. */
export interface Request extends Dated {
  readonly opcode: number;
  readonly path: string | undefined;
  readonly isWrite: boolean;
  readonly isSettled: boolean;
  /** Of the connection that it was sent on. */
  xid: number;
  /** When it was sent, or NaN. */
  sentAtMs: number;
  /** Of the reply, or 0. */
  zxid: Int64;
  /** Null when nobody observes it. */
  observation: Observation | null;
  write(writer: JuteWriter): void;
  /** May throw MarshallingError, and is then still pending. */
  succeed(reader: JuteReader): void;
  /** By an error of the server's. */
  refuse(code: number): void;
  fail(error: Error): void;
}

export interface RequestOwner {
  /** Why nothing can be sent now, null when it can: the cause of a deadline that passes. */
  readonly trouble: Error | null;
  /** It has been settled, by whatever; it is in no list of deadlines any more. */
  onSettled(request: Request, error: Error | null): void;
}

/** Whether it was sent and may have changed something. */
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
    const cause = trouble === null ? {} : { cause: trouble };
    this.fail(new OperationTimeoutError(this.path, { ambiguous: isAmbiguous(this), ...cause }));
  }

  onAbort(signal: AbortSignal): void {
    const path = this.path === undefined ? {} : { path: this.path };
    const ambiguous = isAmbiguous(this);
    this.fail(new OperationAbortedError(signal.reason, { ambiguous, ...path }));
  }

  #settle(error: Error | null): void {
    this.isSettled = true;
    const { signal } = this.#options;
    if (signal !== undefined) unfollowAbort(signal, this);
    this.#options.call.onSettled?.();
    this.#options.owner.onSettled(this, error);
  }
}

/** Makes the error of a request that is settled together with others. */
export type ErrorMaker = (path: string | undefined, ambiguous: boolean) => Error;

export function failWith(request: Request, make: ErrorMaker): void {
  request.fail(make(request.path, isAmbiguous(request)));
}
