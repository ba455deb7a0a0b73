import { expect, it } from 'vitest';
import { Output } from '../command/output.js';
import { clean } from '../command/values.js';
import { isDeceiving, visible, visibleJson } from './visible-text.js';

/** Controls of a terminal, directions of a line, what takes no place, and ends of lines. */
const DECEIVING = [
  ...['\u001b', '\u007f', '\u009b', '\u200b', '\u200e', '\u202e', '\u2028', '\u2029', '\u2066'],
  ...['\ufeff', '\u00ad', '\u2060', '\u{e0041}'],
];

it.each(DECEIVING)('%j is shown by its number, and is the same text in JSON', (character) => {
  const name = `/a${character}b`;
  expect(isDeceiving(name)).toBe(true);
  expect(visible(name)).toMatch(/^\/a(?:\\u[\da-f]{4})+b$/);
  expect(JSON.parse(`"${visible(name)}"`)).toBe(name);
  expect(clean(name)).toBe(visible(name));
});

it('other text stays as it is', () => {
  const text = 'café 😀 日本語\n\tعربي';
  expect(visible(text)).toBe(text);
  expect(isDeceiving('/café 😀')).toBe(false);
});

it('a line of JSON has nothing that deceives once it is read, nested texts included', () => {
  const error = { message: 'no \u001b[2J \u202e/x', path: 'C:\\u001b', lines: ['a\nb'] };
  const read = JSON.parse(visibleJson(`${JSON.stringify({ error })}\n`)).error;
  expect(read.message).toBe('no \\u001b[2J \\u202e/x');
  expect(read.path, 'a backslash that was there stays one').toBe('C:\\u001b');
  expect(read.lines).toEqual(['a\nb']);
});

async function written(format: 'table' | 'json' | 'yaml' | 'raw', isTerminal: boolean) {
  let text = '';
  const write = async (data: string | Uint8Array) => {
    text += String(data);
  };
  const output = new Output({ format, isTerminal, out: write, error: write });
  const name = '/a\u202egpj.exe';
  const rendering = { json: (item: string) => item, text: (item: string) => item };
  await output.value(name, () => name);
  await output.list([name], rendering);
  await output.table([name], { head: ['path'], json: (one) => one, cells: (one) => [one] });
  await output.event(name, () => name);
  await output.talk(`${name} does not exist.`);
  return text;
}

it.each(['table', 'json', 'yaml', 'raw'] as const)(
  'no name deceives the reader of a terminal (-o %s)',
  async (format) => {
    const text = await written(format, true);
    expect(text).not.toContain('\u202e');
    expect(text.match(/\\u202e/gi)?.length).toBe(5);
  },
);

it('a program gets names as they are', async () => {
  expect((await written('raw', false)).match(/\u202e/g)?.length).toBe(4);
});
