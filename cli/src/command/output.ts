/**
 * The output of a command: data to standard output in one of four formats, messages to standard
 * error.
 *
 * A command provides a value or a list of items with two renderings, JSON and text; the format that
 * the caller chose decides which one is written. Lists are written while they are read, so a
 * directory of any size needs no memory. Bytes are written as they are; text that goes to a person
 * has no character that deceives.
 */
import { stringify } from 'yaml';
import { visible } from '../terminal/visible-text.js';

/** The formats that `-o` takes. */
export type Format = 'table' | 'json' | 'yaml' | 'raw';
export const FORMATS: readonly Format[] = ['table', 'json', 'yaml', 'raw'];

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** Resolves once the bytes may be dropped; rejects with the stream's error. */
export type Write = (data: string | Uint8Array) => Promise<void>;

interface OutputParts {
  readonly format: Format;
  readonly out: Write;
  readonly error: Write;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
}

interface Rendering<T> {
  readonly json: (item: T) => Json;
  /** Lines without the last line break. */
  readonly text: (item: T) => string;
  /** What `-o raw` writes for each item, followed by a line break; `text` by default. */
  readonly raw?: (item: T) => string;
}

/** The number of rows of a table that are aligned with each other. */
const ROWS_ALIGNED = 500;

export class Output {
  readonly format: Format;
  readonly isTerminal: boolean;
  readonly #out: Write;
  readonly #error: Write;

  constructor({ format, out, error, isTerminal }: OutputParts) {
    this.format = format;
    this.isTerminal = isTerminal;
    // Programs get names and data as they are.
    this.#out = isTerminal ? (data) => out(typeof data === 'string' ? visible(data) : data) : out;
    this.#error = error;
  }

  /** One value; `text` is for people and has no last line break. */
  async value(json: Json, text: () => string, raw: () => string | Uint8Array = text) {
    if (this.format === 'json') await this.#out(`${JSON.stringify(json, null, 2)}\n`);
    else if (this.format === 'yaml') await this.#out(stringify(json));
    else if (this.format === 'raw') await this.#rawValue(raw());
    else await this.#out(line(text()));
  }

  /** Bytes exactly as they are. */
  bytes(data: Uint8Array): Promise<void> {
    return this.#out(data);
  }

  /** A list, written item by item; resolves with the number of items. */
  async list<T>(
    items: AsyncIterable<T> | Iterable<T>,
    { json, text, raw = text }: Rendering<T>,
  ): Promise<number> {
    let count = 0;
    for await (const item of items) {
      count++;
      if (this.format === 'json') {
        await this.#out(`${count === 1 ? '[' : ','}\n  ${JSON.stringify(json(item))}`);
      } else if (this.format === 'yaml') await this.#out(stringify([json(item)]));
      else await this.#out(line((this.format === 'raw' ? raw : text)(item)));
    }
    if (this.format === 'json') await this.#out(count === 0 ? '[]\n' : '\n]\n');
    if (this.format === 'yaml' && count === 0) await this.#out('[]\n');
    return count;
  }

  /** As `list`, with the text in aligned columns; the last one is never padded. */
  async table<T>(
    items: AsyncIterable<T> | Iterable<T>,
    columns: {
      readonly head: readonly string[];
      readonly json: (item: T) => Json;
      readonly cells: (item: T) => readonly string[];
      readonly raw?: (item: T) => string;
    },
  ): Promise<number> {
    const { head, json, cells } = columns;
    const raw = columns.raw ?? ((item: T) => cells(item).join('\t'));
    if (this.format !== 'table') return await this.list(items, { json, text: raw });
    let widths = head.map(() => 0);
    let rows: (readonly string[])[] = [head];
    let count = 0;
    const flush = async () => {
      widths = widths.map((width, at) => Math.max(width, ...rows.map((row) => widthOf(row[at]))));
      await this.#out(rows.map((row) => aligned(row, widths)).join(''));
      rows = [];
    };
    for await (const item of items) {
      count++;
      rows.push(cells(item));
      if (rows.length >= ROWS_ALIGNED) await flush();
    }
    if (rows.length > 0 && count > 0) await flush();
    return count;
  }

  /** An event of a command that continues: one JSON object or one YAML document for each. */
  async event(json: Json, text: () => string): Promise<void> {
    if (this.format === 'json') await this.#out(`${JSON.stringify(json)}\n`);
    else if (this.format === 'yaml') await this.#out(`---\n${stringify(json)}`);
    else await this.#out(line(text()));
  }

  /** Writes a sentence for the person to standard error. */
  talk(sentence: string): Promise<void> {
    return this.#error(`${visible(sentence)}\n`);
  }

  async #rawValue(raw: string | Uint8Array): Promise<void> {
    await this.#out(typeof raw === 'string' ? line(raw) : raw);
  }
}

function line(text: string): string {
  return text === '' ? '' : `${text}\n`;
}

function widthOf(text: string | undefined): number {
  return [...(text ?? '')].length;
}

function aligned(row: readonly string[], widths: readonly number[]): string {
  const cells = row.map((cell, at) => {
    return cell + ' '.repeat(Math.max(0, (widths[at] ?? 0) - widthOf(cell)));
  });
  return `${cells.join('  ').trimEnd()}\n`;
}
