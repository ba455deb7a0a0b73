/**
 * Which line breaks a text has, so that an editor writes back the bytes that it did not change.
 *
 * CodeMirror makes one kind of break of all that it finds. Where a text has more than one kind,
 * only the line feed counts as a break, and a carriage return stays a character of its line.
 */
export type LineBreak = '\n' | '\r\n' | '\r';

export function lineBreakOf(text: string): LineBreak {
  const both = text.match(/\r\n/g)?.length ?? 0;
  const feeds = text.match(/\n/g)?.length ?? 0;
  const returns = text.match(/\r/g)?.length ?? 0;
  if (both > 0 && both === feeds && both === returns) return '\r\n';
  return returns > 0 && feeds === 0 ? '\r' : '\n';
}
