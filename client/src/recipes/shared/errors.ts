/**
 * Errors that only recipes have. Like all of the client's, each has a literal `name` and `code`.
 * That of a wait that has lasted too long, and that of a wait that could never end.
 */
import { ClientError } from '../../errors.js';

/** The lock, lease or other right was not to be had in the time given; nothing of it stays. */
export class LockTimeoutError extends ClientError {
  override readonly name = 'LockTimeoutError';
  override readonly code = 'LOCK_TIMEOUT';
  override readonly retryable = true;
  readonly path: string;
  readonly timeoutMs: number;

  constructor(path: string, timeoutMs: number) {
    super(`not acquired within ${timeoutMs} ms: ${path}`);
    this.path = path;
    this.timeoutMs = timeoutMs;
  }
}

/** A holder of the read lock asked for the write lock, for which it would wait for itself. */
export class LockUpgradeError extends ClientError {
  override readonly name = 'LockUpgradeError';
  override readonly code = 'LOCK_UPGRADE';
  readonly path: string;

  constructor(path: string) {
    super(`a read lock cannot be made a write lock, release it first: ${path}`);
    this.path = path;
  }
}

/** What was waited for, by something other than a lock, has not happened in the time given. */
export class WaitTimeoutError extends ClientError {
  override readonly name = 'WaitTimeoutError';
  override readonly code = 'WAIT_TIMEOUT';
  override readonly retryable = true;
  /** Whether what was asked for may happen yet, or has: its answer had not come in time. */
  override readonly ambiguous: boolean;
  readonly path: string;
  readonly timeoutMs: number;

  constructor(path: string, timeoutMs: number, options: { readonly ambiguous?: boolean } = {}) {
    super(`has not happened within ${timeoutMs} ms: ${path}`);
    this.path = path;
    this.timeoutMs = timeoutMs;
    this.ambiguous = options.ambiguous ?? false;
  }
}

/**
 * The function of a double barrier has run to its end, but the members did not leave together:
 * `cause` says why, a WaitTimeoutError or LeaseLostError for instance. This member is outside.
 */
export class BarrierLeaveError extends ClientError {
  override readonly name = 'BarrierLeaveError';
  override readonly code = 'BARRIER_LEAVE';
  readonly path: string;
  /** What the function gave. */
  readonly result: unknown;

  constructor(path: string, result: unknown, options: ErrorOptions) {
    const { cause } = options;
    super(
      `not left together${cause instanceof Error ? ` (${cause.message})` : ''}: ${path}`,
      options,
    );
    this.path = path;
    this.result = result;
  }
}

/**
 * A call that makes no sense in the state that the recipe's object is in, such as a second enter.
 */
export class RecipeStateError extends ClientError {
  override readonly name = 'RecipeStateError';
  override readonly code = 'RECIPE_STATE';
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${problem}: ${path}`);
    this.path = path;
  }
}
