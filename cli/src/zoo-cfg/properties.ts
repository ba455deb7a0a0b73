/**
 * Reads a file of Java properties as ZooKeeper reads its zoo.cfg.
 *
 * A line is `key=value`, `key:value` or `key value`. `#` and `!` begin a comment. A backslash at
 * the end of a line continues it on the next one; `\uXXXX` and other escapes stand for characters.
 * A key that occurs twice has its last value. Spaces around values are dropped, as ZooKeeper does.
 */
export function readProperties(text: string): ReadonlyMap<string, string> {
  const properties = new Map<string, string>();
  for (const line of logicalLines(text)) {
    const [, key = '', value = ''] = LINE.exec(line) ?? [];
    if (key !== '') properties.set(unescaped(key), unescaped(value).trim());
  }
  return properties;
}

/** A key ends at the first separator that is not escaped. */
const LINE = /^((?:\\.|[^\\=:\s])*)\s*[=:]?\s*(.*)$/s;
const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };

function* logicalLines(text: string): Generator<string> {
  let begun = '';
  for (const natural of text.split(/\r\n|\r|\n/)) {
    const line = natural.trimStart();
    if (begun === '' && (line === '' || line.startsWith('#') || line.startsWith('!'))) continue;
    const isContinued = backslashesAtEnd(line) % 2 === 1;
    begun += isContinued ? line.slice(0, -1) : line;
    if (isContinued) continue;
    yield begun;
    begun = '';
  }
  if (begun !== '') yield begun;
}

function backslashesAtEnd(line: string): number {
  let count = 0;
  while (line[line.length - 1 - count] === '\\') count += 1;
  return count;
}

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, code?: string, char = '') =>
    code === undefined ? (ESCAPES[char] ?? char) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
