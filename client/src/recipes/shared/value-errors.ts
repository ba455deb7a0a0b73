/**
 * Errors of the recipes that keep a value in a znode: what is there cannot be read as one, or what
 * is to be there cannot be written as one. Like all of the client's, each has a literal `name` and
 * `code`.
 */
import { ClientError } from '../../errors.js';

/** The znode's data is not in the format that the recipe was told to expect. */
export class CorruptDataError extends ClientError {
  override readonly name = 'CorruptDataError';
  override readonly code = 'CORRUPT_DATA';
  readonly path: string;

  constructor(path: string, expected: string, options?: ErrorOptions) {
    super(`the data is not ${expected}: ${path}`, options);
    this.path = path;
  }
}

/** The number does not fit in the format; nothing was written. */
export class NumberRangeError extends ClientError {
  override readonly name = 'NumberRangeError';
  override readonly code = 'NUMBER_RANGE';
  readonly path: string;
  readonly value: bigint;

  constructor(path: string, value: bigint, format: string) {
    super(`${value} does not fit in ${format}: ${path}`);
    this.path = path;
    this.value = value;
  }
}

/** A write on condition of version -1, which to the server means any: it would always succeed. */
export class IllegalVersionError extends ClientError {
  override readonly name = 'IllegalVersionError';
  override readonly code = 'ILLEGAL_VERSION';
  readonly path: string;

  constructor(path: string) {
    super(`version -1 cannot be a condition: ${path}`);
    this.path = path;
  }
}
