/**
 * Splits a line into words as a shell does: spaces separate words, '...' and "..." group them, and
 * a backslash escapes the next character, except within '...'. Nothing is expanded.
 */

interface SplitLine {
  readonly words: readonly string[];
  /** The quote that is still open at the end, or null. */
  readonly openQuote: string | null;
  /** Whether the last word may continue: the line does not end with a separator. */
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

/** Returns the word in a form that `splitLine` reads back. */
export function quoted(word: string): string {
  return /^[\w./:@%+,=~-]+$/.test(word) ? word : `"${word.replace(/["\\]/g, '\\$&')}"`;
}
