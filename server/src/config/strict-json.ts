/**
 * JSON in files that people edit, as `JSON.parse` reads it, with two differences. A key that an
 * object has twice is an error, because `JSON.parse` silently takes the last one, so that one half
 * of a file says what the other half takes back. A byte order mark, with which some editors begin a
 * file, is skipped.
 *
 * Linear in the length of the text, and deep nesting takes no stack.
 */

export class DuplicateKeysError extends Error {
  override readonly name = 'DuplicateKeysError';
  /** A sentence for each, in the order of the text. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/** Enough to see what is wrong. */
const PROBLEMS_MAX = 20;
const SPACE = 0x20;

const BYTE_ORDER_MARK = '\uFEFF';

/** Throws a SyntaxError for what is not JSON, and DuplicateKeysError. */
export function parseStrictJson(content: string): unknown {
  const text = content.startsWith(BYTE_ORDER_MARK) ? content.slice(1) : content;
  const value: unknown = JSON.parse(text);
  const problems = new KeyScanner(text).problems();
  if (problems.length > 0) throw new DuplicateKeysError(problems);
  return value;
}

/** An object or an array that is open. */
interface Open {
  /** The keys that were met, with their lines; null for an array. */
  readonly lines: Map<string, number> | null;
  /** The key or the index whose value is being read. */
  at: string | number;
}

/** Reads text that is JSON for certain, so that it need not look for mistakes. */
class KeyScanner {
  readonly #text: string;
  readonly #open: Open[] = [];
  readonly #problems: string[] = [];
  #line = 1;

  constructor(text: string) {
    this.#text = text;
  }

  problems(): readonly string[] {
    const text = this.#text;
    let isKey = false;
    for (let at = 0; at < text.length && this.#problems.length < PROBLEMS_MAX; at++) {
      const character = text[at];
      const inner = this.#open.at(-1);
      switch (character) {
        case '\n':
          this.#line += 1;
          break;
        case '{':
          this.#open.push({ lines: new Map(), at: '' });
          isKey = true;
          break;
        case '[':
          this.#open.push({ lines: null, at: 0 });
          isKey = false;
          break;
        case '}':
        case ']':
          this.#open.pop();
          break;
        case ',':
          isKey = inner?.lines !== null;
          if (inner !== undefined && typeof inner.at === 'number') inner.at += 1;
          break;
        case '"': {
          const end = endOfString(text, at);
          if (isKey && inner !== undefined) this.#onKey(inner, text.slice(at, end + 1));
          isKey = false;
          at = end;
          break;
        }
        default:
      }
    }
    return this.#problems;
  }

  #onKey(inner: Open, encoded: string): void {
    const key = String(JSON.parse(encoded));
    const first = inner.lines?.get(key);
    if (first === undefined) {
      inner.lines?.set(key, this.#line);
    } else {
      const where = this.#pathOf(this.#open.slice(0, -1));
      const place = where === '' ? '' : ` of ${where}`;
      const lines = first === this.#line ? `line ${first}` : `lines ${first} and ${this.#line}`;
      this.#problems.push(
        `the key ${JSON.stringify(key)}${place} is there twice (${lines}): remove one`,
      );
    }
    inner.at = key;
  }

  #pathOf(open: readonly Open[]): string {
    return open
      .map(({ at }, index) => {
        if (typeof at === 'number') return `[${at}]`;
        const name = visibleKey(at);
        return index === 0 ? name : `.${name}`;
      })
      .join('');
  }
}

/** The place of the quotation mark that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function visibleKey(key: string): string {
  const isPlain = [...key].every((character) => (character.codePointAt(0) ?? 0) > SPACE);
  return isPlain && key !== '' ? key : JSON.stringify(key);
}
