/** JSON in the form of Jackson's, lazily. */
import { expect, it } from 'vitest';
import { Decimal, type Json, jsonPieces, jsonText, Lines, PAUSE } from './json-text.js';

it('is written as ZooKeeper writes it', () => {
  const value = {
    a: [],
    b: ['x', 1],
    c: { d: new Decimal(0), e: new Decimal(1.25), f: null },
    g: {},
    h: [{ i: true }, { i: false }],
  };
  const text = [
    '{\n  "a" : [ ],\n  "b" : [ "x", 1 ],\n  "c" : {\n    "d" : 0.0,\n    "e" : 1.25,\n',
    '    "f" : null\n  },\n  "g" : { },\n  "h" : [ {\n    "i" : true\n  }, {\n    "i" : false\n',
    '  } ]\n}',
  ];
  expect(jsonText(value)).toBe(text.join(''));
  expect(JSON.parse(jsonText(value))).toEqual({
    a: [],
    b: ['x', 1],
    c: { d: 0, e: 1.25, f: null },
    g: {},
    h: [{ i: true }, { i: false }],
  });
});

it('keeps all digits of a session id, and quotes what paths may hold', () => {
  expect(jsonText(0x100001f910e0003n)).toBe('72057729615527939');
  expect(jsonText('/a"\n\u2028')).toBe(JSON.stringify('/a"\n\u2028'));
});

it('takes no more of a list than was asked for', () => {
  let made = 0;
  function* numbers() {
    for (;;) yield made++;
  }
  const pieces = jsonPieces(new Lines([['n', numbers()]]));
  for (let i = 0; i < 10; i++) pieces.next();
  expect(made).toBeLessThan(10);
});

it('makes a piece of nothing for work without a result, so that a turn can end there', () => {
  const list: Json = [PAUSE, 1, PAUSE, 2];
  const value: Json = { list, map: new Lines([PAUSE, ['a', 1], PAUSE]), none: [PAUSE] };
  const pieces = [...jsonPieces(value)];
  expect(JSON.parse(pieces.join(''))).toEqual({ list: [1, 2], map: { a: 1 }, none: [] });
  expect(pieces.filter((piece) => piece === '').length).toBe(5);
});
