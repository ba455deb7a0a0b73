/**
 * Assertions, which stay enabled in production, and the error that a broken invariant throws.
 *
 * An InvariantViolation is never caught by Rookery: the process logs it and exits, since a state
 * that is known to be wrong must not be acted upon. Bad input from outside is never asserted on; it
 * gets a typed error instead.
 */

export class InvariantViolation extends Error {
  override readonly name = 'InvariantViolation';
}

/** Throws InvariantViolation when `condition` is false. Pass a function when the text costs. */
export function assert(condition: boolean, message: string | (() => string)): asserts condition {
  if (!condition) fail(message);
}

/** Ends an exhaustive `switch`: the code does not compile while a case is missing. */
export function unreachable(value: never): never {
  throw new InvariantViolation(`unreachable: ${String(value)}`);
}

function fail(message: string | (() => string)): never {
  throw new InvariantViolation(typeof message === 'string' ? message : message());
}
