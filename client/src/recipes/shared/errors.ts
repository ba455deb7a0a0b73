/**
 * The errors that only recipes have. Like all errors of the client, each has a literal `name` and
 * `code`.
 */
import { ClientError } from '../../api/errors.js';

/**
 * The lock, lease or other right could not be acquired in the given time; nothing of the attempt
 * remains.
 */
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

/** A holder of the read lock requested the write lock, for which it would wait for itself. */
export class LockUpgradeError extends ClientError {
  override readonly name = 'LockUpgradeError';
  override readonly code = 'LOCK_UPGRADE';
  readonly path: string;

  constructor(path: string) {
    super(`a read lock cannot be upgraded to a write lock; release it first: ${path}`);
    this.path = path;
  }
}

/** What the caller waited for, other than a lock, has not happened in the given time. */
export class WaitTimeoutError extends ClientError {
  override readonly name = 'WaitTimeoutError';
  override readonly code = 'WAIT_TIMEOUT';
  override readonly retryable = true;
  /**
   * Whether the requested change may still happen or has happened, because its reply did not arrive
   * in time.
   */
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
 * The function of a double barrier has finished, but the members did not leave together: `cause`
 * says why, for instance a WaitTimeoutError or LeaseLostError. This member is outside.
 */
export class BarrierLeaveError extends ClientError {
  override readonly name = 'BarrierLeaveError';
  override readonly code = 'BARRIER_LEAVE';
  readonly path: string;
  /** The result of the function. */
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

/** A call that is not possible in the state of the recipe's object, such as a second enter(). */
export class RecipeStateError extends ClientError {
  override readonly name = 'RecipeStateError';
  override readonly code = 'RECIPE_STATE';
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${problem}: ${path}`);
    this.path = path;
  }
}
