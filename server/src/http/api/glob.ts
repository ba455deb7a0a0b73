/**
 * Patterns for names: `*` stands for any characters, `?` for one. Never takes longer than the
 * product of both lengths, whatever the pattern.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let index = 0;
  while (index < text.length) {
    const wanted = pattern[at];
    if (wanted === '*') {
      star = at++;
      resume = index;
    } else if (wanted !== undefined && (wanted === '?' || wanted === text[index])) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
