/** Whole numbers within bounds, as options of commands. */
import { InvalidArgumentError } from 'commander';

/**
 * Reads a whole number within bounds, for commander.
 *
 * The result throws InvalidArgumentError for any other text.
 */
export function wholeNumber(min: number, max: number): (text: string) => number {
  const digits = min < 0 ? /^-?\d+$/ : /^\d+$/;
  return (text) => {
    const value = Number(text);
    if (digits.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}
