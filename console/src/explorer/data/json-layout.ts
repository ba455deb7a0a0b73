/**
 * JSON with line breaks and indentation, without changing anything else: numbers keep their digits,
 * keys their order and their doubles. `JSON.parse` would lose both.
 *
 * It needs no recursion, so no depth of nesting breaks it. Returns null for what is no JSON.
 */

/** Deeper text is not laid out: its indentation alone would be gigabytes. */
export const DEPTH_MAX = 200;
// Controls are forbidden in strings.
const STRING = String.raw`"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"`;
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
const SCALAR = `${STRING}|${NUMBER}|true|false|null`;
const TOKEN = new RegExp(String.raw`[ \t\r\n]*(?:([{}[\],:])|(${SCALAR}))`, 'y');
const INDENT = '  ';

/** What may come next: a value, a key, or what follows a value. */
type Expects = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'after';

export interface Layout {
  readonly text: string;
  readonly depth: number;
}

/** The laid-out text, with the depth that was met; `text` is the given one if it is too deep. */
export function laidOut(text: string): Layout | null {
  const writer = new Writer();
  const open: string[] = [];
  let expects: Expects = 'value';
  let at = 0;
  let depth = 0;
  for (;;) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) break;
    at = TOKEN.lastIndex;
    const [, mark, scalar] = match;
    // Behind the whole value there is nothing more.
    if (open.length === 0 && expects === 'after') return null;
    const next: Expects | null =
      mark === undefined ? afterScalar(scalar ?? '', expects) : afterMark(mark, expects, open);
    if (next === null) return null;
    expects = next;
    depth = Math.max(depth, open.length);
    if (depth <= DEPTH_MAX) writer.take(mark ?? scalar ?? '', open.length);
  }
  const isWhole = expects === 'after' && open.length === 0 && text.slice(at).trim() === '';
  if (!isWhole) return null;
  return { text: depth > DEPTH_MAX ? text : writer.text(), depth };
}

function afterScalar(scalar: string, expects: Expects): Expects | null {
  if (expects === 'key' || expects === 'key or end') return scalar.startsWith('"') ? 'colon' : null;
  return expects === 'value' || expects === 'value or end' ? 'after' : null;
}

function afterMark(mark: string, expects: Expects, open: string[]): Expects | null {
  const mayBegin = expects === 'value' || expects === 'value or end';
  if (mark === '{' || mark === '[') {
    if (!mayBegin) return null;
    open.push(mark);
    return mark === '{' ? 'key or end' : 'value or end';
  }
  if (mark === ':') return expects === 'colon' ? 'value' : null;
  const inside = open.at(-1);
  if (mark === ',') {
    if (expects !== 'after' || inside === undefined) return null;
    return inside === '{' ? 'key' : 'value';
  }
  const isEmpty = expects === (mark === '}' ? 'key or end' : 'value or end');
  if (inside !== (mark === '}' ? '{' : '[') || !(isEmpty || expects === 'after')) return null;
  open.pop();
  return 'after';
}

/** Puts tokens together; what is empty stays on one line. */
class Writer {
  readonly #parts: string[] = [];
  #last = '';

  take(token: string, depth: number): void {
    const isEnd = token === '}' || token === ']';
    if (isEnd && (this.#last === '{' || this.#last === '[')) this.#parts.push(token);
    else if (isEnd) this.#parts.push(lineBreak(depth), token);
    else if (this.#last === '{' || this.#last === '[' || this.#last === ',') {
      // An opening bracket has been counted already when it is written.
      const own = token === '{' || token === '[' ? depth - 1 : depth;
      this.#parts.push(lineBreak(own), token);
    } else this.#parts.push(token);
    if (token === ':') this.#parts.push(' ');
    this.#last = token;
  }

  text(): string {
    return this.#parts.join('');
  }
}

function lineBreak(depth: number): string {
  return `\n${INDENT.repeat(depth)}`;
}
