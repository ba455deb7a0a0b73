/**
 * Text from a server, a file or a log on its way to a terminal. Names and data are chosen by
 * others: a character that moves the cursor, changes the direction of a line or takes no place
 * would show something else than what is there. Such characters are written as `\u` and their
 * numbers, which is the same text in JSON. Line breaks and tabs stay: the layout is made of them.
 */

/** Controls (Cc), formats such as U+202E and U+200B (Cf), and separators of lines (Zl, Zp). */
const DECEIVING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const DECEIVES = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Returns the text with every deceiving character as its number; line breaks and tabs stay. */
export function visible(text: string): string {
  return text.replace(DECEIVING, (found) => {
    return found === '\n' || found === '\t' ? found : numbersOf(found);
  });
}

/** Whether a name has a character that `visible` would change, or a line break or tab. */
export function isDeceiving(name: string): boolean {
  return DECEIVES.test(name);
}

/** Each unit of UTF-16 as `\u` and four digits. */
function numbersOf(text: string): string {
  return Array.from({ length: text.length }, (_, at) => {
    return `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}

/** A line of JSON whose texts have no such character when they are read, but its number. */
export function visibleJson(line: string): string {
  const readable = line.replace(
    /\\(?:u(?<control>00[01][0-9a-f])|[\s\S])/g,
    (found, control: string | undefined) => (control === undefined ? found : `\\\\u${control}`),
  );
  return readable.replace(DECEIVING, (found) => {
    return found === '\n' ? found : numbersOf(found).replaceAll('\\', '\\\\');
  });
}
