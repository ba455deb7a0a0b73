import fc from 'fast-check';
import { expect, it } from 'vitest';
import { laidOut } from './json-layout.js';

it('lays out every value of JSON as JSON.stringify does', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(laidOut(text)?.text).toBe(JSON.stringify(value, null, 2));
      expect(laidOut(JSON.stringify(value, null, 1))?.text).toBe(JSON.stringify(value, null, 2));
    }),
  );
});

it('takes for JSON exactly what JSON.parse takes', () => {
  const piece = fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '1', '-', 'true', ' ', '01');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join('');
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      expect(laidOut(text) !== null).toBe(isJson);
    }),
    { numRuns: 2_000 },
  );
});

it('keeps digits that a number of JavaScript would lose, and keys that are there twice', () => {
  const text = '{"id":12345678901234567890.10,"id":1}';
  expect(laidOut(text)?.text).toBe('{\n  "id": 12345678901234567890.10,\n  "id": 1\n}');
});

it('survives a million levels', () => {
  const text = `${'['.repeat(500_000)}${']'.repeat(500_000)}`;
  const layout = laidOut(text);
  expect([layout?.text === text, layout?.depth]).toEqual([true, 500_000]);
});
