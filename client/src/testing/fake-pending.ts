/**
 * A request of a fake client until it is answered: its limits, and what the server made of it. Only
 * for tests.
 */
import { OperationTimeoutError } from '@rookery/protocol';
import { OperationAbortedError } from '../api/errors.js';
import type { Surroundings } from '../api/surroundings.js';
import type { OperationOptions } from '../api/values.js';
import { onAbort } from '../calls/abort-followers.js';
import type { Sent } from './fake-operations.js';

export interface Pending extends Sent {
  readonly isWrite: boolean;
  /** Whether the server may have received it. */
  isSent: boolean;
  /** Applies the request. Returns a function that handles the reply. */
  apply(session: bigint): () => void;
  reject(error: Error): void;
}

/** Applies the signal and the deadline. Returns functions that remove them. */
export function limit(
  pending: Pending,
  options: OperationOptions | undefined,
  surroundings: Surroundings,
): (() => void)[] {
  const { signal, timeoutMs } = options ?? {};
  const { path } = pending;
  const undo: (() => void)[] = [];
  const isAmbiguous = () => pending.isWrite && pending.isSent;
  if (signal !== undefined) {
    const refuse = () =>
      pending.reject(new OperationAbortedError(signal.reason, { ambiguous: isAmbiguous(), path }));
    undo.push(onAbort(signal, refuse));
  }
  if (timeoutMs !== undefined && timeoutMs > 0) {
    const onTimeout = () =>
      pending.reject(new OperationTimeoutError(path, { ambiguous: isAmbiguous() }));
    undo.push(surroundings.setTimer(timeoutMs, onTimeout));
  }
  return undo;
}

type Outcome<T> =
  | { readonly kind: 'result'; readonly result: T }
  | { readonly kind: 'error'; readonly error: unknown };

/** The result or the error, for a reply that comes later. */
export function outcomeOf<T>(apply: () => T): Outcome<T> {
  try {
    return { kind: 'result', result: apply() };
  } catch (error) {
    return { kind: 'error', error };
  }
}
