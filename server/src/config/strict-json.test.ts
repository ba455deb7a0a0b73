/** What has a key twice is refused with its place; everything else is as JSON.parse has it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DuplicateKeysError, parseStrictJson } from './strict-json.js';

function problemsOf(text: string): readonly string[] {
  try {
    parseStrictJson(text);
    return [];
  } catch (error) {
    if (!(error instanceof DuplicateKeysError)) throw error;
    return error.problems;
  }
}

it('names the key, its object and its lines', () => {
  expect(problemsOf('{"a": 1, "a": 2}')).toEqual([
    'the key "a" is there twice (line 1): remove one',
  ]);
  expect(problemsOf('{\n"a": [{}, {"b": 1,\n\n"b": {"a": 1}}],\n"c": 1, "c": 2}')).toEqual([
    'the key "b" of a[1] is there twice (lines 2 and 4): remove one',
    'the key "c" is there twice (line 5): remove one',
  ]);
  expect(problemsOf('{"x": {"y": {"k": 1, "\\u006b": 2}}}')).toEqual([
    'the key "k" of x.y is there twice (line 1): remove one',
  ]);
});

it('takes what looks like a key and is none', () => {
  for (const text of [
    '["a", "a", ["a"], {"a": "a"}]',
    '{"a": "\\"a\\": 1, \\\\", "b": {"a": 1}, "c": {"a": 2}}',
    '{"a": ["b", "b"], "b": "a"}',
    '"a"',
    '{}',
  ]) {
    expect(parseStrictJson(text)).toEqual(JSON.parse(text));
  }
  expect(() => parseStrictJson('{"a": 1,}')).toThrow(SyntaxError);
});

it('skips one byte order mark', () => {
  expect(parseStrictJson('\uFEFF{"a": 1}')).toEqual({ a: 1 });
  expect(problemsOf('\uFEFF{"a": 1,\n"a": 2}')).toHaveLength(1);
  expect(() => parseStrictJson('\uFEFF\uFEFF{}')).toThrow(SyntaxError);
});

it('agrees with JSON.parse about every value that JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parseStrictJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

it('takes a time that is linear in the text, however it is nested', () => {
  const depth = 5000;
  expect(problemsOf(`${'{"a":['.repeat(depth)}${']}'.repeat(depth)}`)).toEqual([]);
  const many = Array.from({ length: 100_000 }, () => '"a": 1').join(',');
  expect(problemsOf(`{${many}}`)).toHaveLength(20);
});
