/**
 * Splits a line into words as a shell does: spaces separate, '...' and "..." hold together, and a
 * backslash takes the next character as it is, except within '...'. Nothing is expanded.
 */

export interface SplitLine {
  readonly words: readonly string[];
  /** The quote that is still open at the end, or null. */
  readonly openQuote: string | null;
  /** Whether the last word may go on: the line does not end with a separator. */
  readonly isInWord: boolean;
  /** Where the last word begins in the line; the line's length if it is not in a word. */
  readonly lastStart: number;
}

export function splitLine(line: string): SplitLine {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  let escaped = false;
  let [at, start] = [0, 0];
  for (const character of line) {
    if (word === null) start = at;
    at += character.length;
    if (escaped) {
      word = (word ?? '') + character;
      escaped = false;
    } else if (character === '\\' && quote !== "'") {
      escaped = true;
      word ??= '';
    } else if (quote !== null) {
      if (character === quote) quote = null;
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + character;
  }
  if (word !== null) words.push(word);
  const isInWord = word !== null;
  return { words, openQuote: quote, isInWord, lastStart: isInWord ? start : line.length };
}

/** The word as one that `splitLine` reads back. */
export function quoted(word: string): string {
  return /^[\w./:@%+,=~-]+$/.test(word) ? word : `"${word.replace(/["\\]/g, '\\$&')}"`;
}
