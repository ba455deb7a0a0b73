/**
 * The errors of recipes that keep a value in a znode: its data cannot be read as a value, or a
 * value cannot be written as data. Like all errors of the client, each has a literal `name` and
 * `code`.
 */
import { ClientError } from '../../api/errors.js';

/** The znode's data is not in the format that the recipe expects. */
export class CorruptDataError extends ClientError {
  override readonly name = 'CorruptDataError';
  override readonly code = 'CORRUPT_DATA';
  readonly path: string;

  constructor(path: string, expected: string, options?: ErrorOptions) {
    super(`the data is not ${expected}: ${path}`, options);
    this.path = path;
  }
}

/** The number is out of the range of the format; nothing was written. */
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

/** A conditional write with version -1 would always succeed, because it matches any version. */
export class IllegalVersionError extends ClientError {
  override readonly name = 'IllegalVersionError';
  override readonly code = 'ILLEGAL_VERSION';
  readonly path: string;

  constructor(path: string) {
    super(`a conditional write cannot use version -1: ${path}`);
    this.path = path;
  }
}
