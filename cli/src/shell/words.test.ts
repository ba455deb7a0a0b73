import { expect, it } from 'vitest';
import { quoted, splitLine } from './words.js';

it.each([
  ['get /a', ['get', '/a']],
  ['  set  /a   "two words" ', ['set', '/a', 'two words']],
  ["set /a 'it''s'", ['set', '/a', 'its']],
  ['set /a it\\ is', ['set', '/a', 'it is']],
  ["set /a 'a\\b'", ['set', '/a', 'a\\b']],
  ['set /a ""', ['set', '/a', '']],
  ['', []],
])('%s', (line, words) => {
  expect(splitLine(line).words).toEqual(words);
});

it('tells where the last word begins, and whether it is open', () => {
  expect(splitLine('get /a')).toMatchObject({ lastStart: 4, isInWord: true, openQuote: null });
  expect(splitLine('get ')).toMatchObject({ lastStart: 4, isInWord: false });
  expect(splitLine('get "/a b')).toMatchObject({ lastStart: 4, openQuote: '"' });
});

it.each(['/plain', '/with space', '/with"quote', '/back\\slash', ''])('reads back %s', (word) => {
  expect(splitLine(quoted(word)).words).toEqual([word]);
});
