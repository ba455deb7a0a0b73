/**
 * JSON as ZooKeeper's admin server writes it, piece by piece: indented by two, `"key" : value`,
 * arrays on the line.
 *
 * Session ids are whole numbers of 64 bits, so a bigint is written with all its digits. Lists and
 * objects may be as long as a member has sessions: they are lazy, and each piece is small.
 */
/** Stands in a list or in Lines for nothing to write, where finding that out took some work. */
export const PAUSE = Symbol('pause');

export type Json =
  | string
  | number
  | bigint
  | boolean
  | null
  | Decimal
  | Lines
  | Iterable<Json | typeof PAUSE>
  | { readonly [key: string]: Json };

/** A real number that keeps a decimal, as Java writes a double. */
export class Decimal {
  readonly text: string;

  constructor(value: number) {
    this.text = Number.isInteger(value) ? value.toFixed(1) : String(value);
  }
}

type Entry = readonly [key: string, value: Json] | typeof PAUSE;

/** An object whose keys come one after the other. */
export class Lines {
  readonly entries: Iterable<Entry>;

  constructor(entries: Iterable<Entry>) {
    this.entries = entries;
  }
}

export function* jsonPieces(value: Json, indent = ''): Generator<string> {
  if (value === null || typeof value === 'boolean') yield String(value);
  else if (typeof value === 'string') yield JSON.stringify(value);
  else if (typeof value === 'number' || typeof value === 'bigint') yield String(value);
  else if (value instanceof Decimal) yield value.text;
  else if (value instanceof Lines) yield* objectPieces(value.entries, indent);
  else if (isList(value)) yield* listPieces(value, indent);
  else yield* objectPieces(Object.entries(value), indent);
}

export function jsonText(value: Json): string {
  return [...jsonPieces(value)].join('');
}

function* listPieces(values: Iterable<Json | typeof PAUSE>, indent: string): Generator<string> {
  let before = '[ ';
  for (const value of values) {
    if (value === PAUSE) {
      yield '';
      continue;
    }
    yield before;
    yield* jsonPieces(value, indent);
    before = ', ';
  }
  yield before === '[ ' ? '[ ]' : ' ]';
}

function* objectPieces(entries: Iterable<Entry>, indent: string): Generator<string> {
  const inner = `${indent}  `;
  let before = '{\n';
  for (const entry of entries) {
    if (entry === PAUSE) {
      yield '';
      continue;
    }
    const [key, value] = entry;
    yield `${before}${inner}${JSON.stringify(key)} : `;
    yield* jsonPieces(value, inner);
    before = ',\n';
  }
  yield before === '{\n' ? '{ }' : `\n${indent}}`;
}

function isList(
  value: Iterable<Json | typeof PAUSE> | { readonly [key: string]: Json },
): value is Iterable<Json | typeof PAUSE> {
  return Symbol.iterator in value;
}
