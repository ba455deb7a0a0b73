/**
 * Whole numbers for people: with their noun in reports, and within bounds as options.
 */
import { InvalidArgumentError } from 'commander';

/** `1 znode`, but `0 znodes` and `2 znodes`. The noun is one whose plural ends in s. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

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
